//! Puts the values of expressions into the texts of a manifest, between collecting and checking them.
//!
//! A text that can't be expanded is remembered as refused, and one that has to wait for a resource as late:
//! what else is wrong with either is not reported.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use ccm_data::interpolation::{Part, Place, Split, What, lone, may_hold_any, split};
use ccm_data::nodes;
use ccm_expr::Value as Computed;
use ccm_model::{Diagnostic, Entry, Key, Map, Node, Properties, Span, Value};
use ccm_properties::{TextSyntax, TypeSpec};

use crate::calls::Argument;
use crate::scope::{Evaluator, LateOn, Mistake, Moment, Trouble};
use crate::wording::shown;
use crate::words::Quotes;
use crate::world::{Kept, LONGEST_TEXT};

/// Language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading<'a> {
    syntax: TextSyntax,
    /// With the provider named here, if there is one, it would be a shell.
    shell_provider: Option<&'a str>,
}

impl Reading<'_> {
    /// None, whatever the provider.
    pub(crate) const PLAIN: Self = Self { syntax: TextSyntax::Plain, shell_provider: None };

    /// It is split into words.
    pub(crate) fn is_words(self) -> bool {
        self.syntax == TextSyntax::Argv
    }

    /// The same for an entry of a map.
    fn of_entry(self, key: &str) -> Self {
        Self { syntax: self.syntax.of_entry(key), ..self }
    }

    /// The same for who does not split it.
    pub(crate) fn unquoted(self) -> Self {
        let syntax = if self.is_words() { TextSyntax::Plain } else { self.syntax };
        Self { syntax, ..self }
    }
}

/// The providers that a resource may turn out to have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Provider<'a> {
    /// The one asked for, or none in particular.
    Known(Option<&'a str>),
    /// What was asked for is a mistake, which has been reported; any may have been meant.
    Mistaken,
}

/// Keys and texts, none within another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeSet<Span>);

impl Places {
    /// Tells whether a place lies in one of them.
    pub(crate) fn covers(&self, span: Span) -> bool {
        let before = self.0.range(..=Span { end: u32::MAX, ..span }).next_back();
        before.is_some_and(|place| place.contains(span))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether a mistake lies in one of them.
    pub(crate) fn explains(&self, mistake: &Diagnostic) -> bool {
        mistake.span().is_some_and(|span| self.covers(span))
    }
}

/// What was found while texts were expanded.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    /// What could not be expanded, which was reported.
    pub(crate) refused: Places,
    /// What has to wait, and what it waits for.
    pub(crate) late: Places,
    pub(crate) late_on: Vec<(LateOn, Span)>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Expanded {
    /// Refuses what has to wait, where a value has to be known before the run.
    pub(crate) fn refuse_late(&mut self) {
        for (on, span) in std::mem::take(&mut self.late_on) {
            self.diagnostics.push(refused_as_late(&on, span));
        }
    }

    /// Takes what stands at a place for unknown, because what is wrong with it was reported.
    pub(crate) fn refuse(&mut self, span: Span) {
        self.refused.0.insert(span);
    }

    /// Adds what was found before.
    pub(crate) fn add(&mut self, before: Self) {
        self.refused.0.extend(before.refused.0);
        self.late.0.extend(before.late.0);
        self.late_on.extend(before.late_on);
        self.diagnostics.extend(before.diagnostics);
    }

    /// Tells whether a mistake lies in what is not known.
    pub(crate) fn explains(&self, mistake: &Diagnostic) -> bool {
        self.refused.explains(mistake) || self.late.explains(mistake)
    }

    /// Tells whether the value at a place is not known, so that nothing can be said of it.
    pub(crate) fn hides(&self, span: Span) -> bool {
        self.refused.covers(span) || self.late.covers(span)
    }
}

/// Refuses what has to wait, where a value has to be known before the run.
pub(crate) fn refused_as_late(on: &LateOn, span: Span) -> Diagnostic {
    let what = match on {
        LateOn::File(_) => "the content of a file that this manifest manages is known",
        _ => "what a command captures is known",
    };
    let mistake = Diagnostic::error(span, "this has to be known before the run");
    mistake.with_hint(format!("{what} only when the resource has had its turn"))
}

/// What a text came to.
enum Outcome {
    /// What it was.
    Same,
    /// Another text.
    Text(Box<str>),
    /// The value of the one expression that it is.
    Value(Computed),
    /// Nothing that is known.
    Unknown,
}

/// Goes through texts.
pub(crate) struct Expander<'a, 's> {
    evaluator: Evaluator<'a, 's>,
    /// Nothing is evaluated: what is expanded belongs to a resource that is not managed.
    pub(crate) idle: bool,
    /// Only these texts are expanded; the others have been, and may look like expressions by now.
    only: Option<&'a Places>,
    /// Nothing is expanded at all.
    verbatim: bool,
    /// A fact that is not there counts as nothing.
    forgives_facts: bool,
    pub(crate) found: Expanded,
}

impl<'a, 's> Expander<'a, 's> {
    pub(crate) fn new(evaluator: Evaluator<'a, 's>) -> Self {
        Self {
            evaluator,
            idle: false,
            only: None,
            verbatim: false,
            forgives_facts: false,
            found: Expanded::default(),
        }
    }

    /// Takes every text as it is.
    pub(crate) fn verbatim(mut self, verbatim: bool) -> Self {
        self.verbatim = verbatim;
        self
    }

    /// Expands these texts alone.
    pub(crate) fn only(mut self, places: &'a Places) -> Self {
        self.only = Some(places);
        self
    }

    /// Expands the properties that belong to the type; a default is replaced for this resource alone.
    pub(crate) fn properties(
        &mut self,
        properties: &mut Properties,
        spec: &dyn TypeSpec,
        provider: Provider<'_>,
    ) {
        let holds_any = |entry: &&Entry| may_hold_any(&entry.key.text) || node_may_hold_any(&entry.value);
        let mut entries: Vec<Entry> = properties.given().filter(holds_any).cloned().collect();
        while let Some(mut entry) = entries.pop() {
            let reading = reading(spec, &entry.key.text, provider, properties);
            // The name of a property is never rewritten: there is none with a brace in it.
            self.key(&mut entry.key.clone(), Reading::PLAIN);
            self.node(&mut entry.value, reading);
            if entry.value.is_null() {
                // It is not given after all. The default shows, and may have to be expanded itself.
                properties.forget(&entry.key.text);
                entries.extend(properties.entry(&entry.key.text).filter(holds_any).cloned());
            } else {
                properties.replace(entry);
            }
        }
        if let Some((source, content)) = spec.template_source() {
            self.template(properties, source, content);
        }
    }

    /// Renders the template that a property names, and gives the text to another property in its place.
    fn template(&mut self, properties: &mut Properties, source: &str, content: &str) {
        let Some(entry) = properties.entry(source) else { return };
        let span = entry.value.span;
        let Some(path) = entry.value.as_text().filter(|path| is_template(path)) else { return };
        if self.idle || self.found.hides(span) || properties.get(content).is_some() {
            return;
        }
        if self.only.is_some_and(|only| !only.covers(span)) {
            return;
        }
        let rendered = self.evaluator.template(path);
        self.evaluator.world.used_at(span);
        match rendered {
            Ok(text) if !self.keep(text.len(), span) => {}
            Ok(text) => {
                let key = Key { text: content.into(), span: entry.key.span };
                while properties.entry(source).is_some() {
                    properties.forget(source);
                }
                properties.replace(Entry { key, value: Node::text(text, span) });
            }
            Err(trouble) => {
                self.trouble(trouble, span, |_| span);
            }
        }
    }

    /// Expands a value, with everything in it.
    pub(crate) fn node(&mut self, node: &mut Node, reading: Reading<'_>) {
        match &mut node.value {
            Value::Scalar(scalar) => match self.text(&scalar.text, node.span, reading) {
                Outcome::Same | Outcome::Unknown => {}
                Outcome::Text(text) => *node = Node::text(text, node.span),
                Outcome::Value(value) => *node = nodes::from_value(&value, node.span),
            },
            Value::List(elements) => {
                for element in elements {
                    self.node(element, reading);
                }
            }
            Value::Map(map) => {
                let mut is_renamed = false;
                for entry in map.entries_mut() {
                    if may_hold_any(&entry.key.text) {
                        self.key(&mut entry.key, reading);
                        is_renamed = true;
                    }
                    self.node(&mut entry.value, reading.of_entry(&entry.key.text));
                }
                if is_renamed {
                    self.duplicates(map);
                }
            }
        }
    }

    /// Reports keys that came to be the same.
    fn duplicates(&mut self, map: &Map) {
        let mut first: HashMap<&str, Span> = HashMap::new();
        for Entry { key, .. } in map.entries() {
            if self.found.hides(key.span) {
                continue;
            }
            match first.entry(&key.text) {
                std::collections::hash_map::Entry::Occupied(earlier) => {
                    let mistake =
                        Diagnostic::error(key.span, format!("the key `{}` is given twice", shown(&key.text)));
                    self.found.diagnostics.push(mistake.with_label(*earlier.get(), "first given here"));
                }
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(key.span);
                }
            }
        }
    }

    /// Expands a key, or a name that stands as one. What it comes to is text.
    pub(crate) fn key(&mut self, key: &mut Key, reading: Reading<'_>) {
        match self.text(&key.text, key.span, reading) {
            Outcome::Same | Outcome::Unknown => {}
            Outcome::Text(text) => key.text = text,
            Outcome::Value(value @ (Computed::List(_) | Computed::Map(_) | Computed::Groups(_))) => {
                self.found.refused.0.insert(key.span);
                let message = format!("expected text, found {}", value.kind());
                self.found.diagnostics.push(Diagnostic::error(key.span, message));
            }
            Outcome::Value(value) => key.text = value.to_string().into(),
        }
    }

    /// Gives the value of a node of data, whose expressions are evaluated.
    pub(crate) fn value(&mut self, node: &Node) -> Computed {
        match &node.value {
            Value::Scalar(scalar) => match self.text(&scalar.text, node.span, Reading::PLAIN) {
                Outcome::Same => nodes::of_scalar(scalar),
                Outcome::Text(text) => Computed::text(&*text),
                Outcome::Value(value) => value,
                Outcome::Unknown => Computed::Null,
            },
            Value::List(elements) => Computed::list(elements.iter().map(|element| self.value(element))),
            Value::Map(map) => {
                Computed::map(map.entries().iter().map(|entry| (&*entry.key.text, self.value(&entry.value))))
            }
        }
    }

    /// Expands a text outside of any node, and gives what each of its expressions yielded. A fact that is
    /// not there counts as nothing, unless it is one that every machine has a place for.
    pub(crate) fn parts(&mut self, text: &str, span: Span) -> Option<(String, Vec<Computed>)> {
        self.forgives_facts = true;
        let parts = self.parts_of(text, span);
        self.forgives_facts = false;
        parts
    }

    fn parts_of(&mut self, text: &str, span: Span) -> Option<(String, Vec<Computed>)> {
        let parts = match split(text, false) {
            Split::Literal => return Some((text.to_owned(), Vec::new())),
            Split::Mistakes(places) => {
                self.refuse(text, span, Reading::PLAIN, places);
                return None;
            }
            Split::Parts(parts) => parts,
        };
        let mut yielded = Vec::new();
        let expanded =
            self.put_together(text, span, &parts, TextSyntax::Plain, &mut |value| yielded.push(value))?;
        Some((expanded, yielded))
    }

    fn text(&mut self, text: &str, span: Span, reading: Reading<'_>) -> Outcome {
        if self.verbatim || !may_hold_any(text) || self.only.is_some_and(|only| !only.covers(span)) {
            return Outcome::Same;
        }
        let parts = match split(text, reading.syntax == TextSyntax::Shell) {
            Split::Literal => return Outcome::Same,
            Split::Mistakes(places) => {
                self.refuse(text, span, reading, places);
                return Outcome::Unknown;
            }
            Split::Parts(parts) => parts,
        };
        if let Some(inner) = lone(&parts) {
            return match self.evaluate(text, inner, span) {
                Some(value) if self.keep(value.footprint(), span) => Outcome::Value(value),
                _ => Outcome::Unknown,
            };
        }
        match self.put_together(text, span, &parts, reading.syntax, &mut |_| {}) {
            Some(text) => Outcome::Text(text.into()),
            None => Outcome::Unknown,
        }
    }

    /// Makes a text of literals and of what expressions yield.
    fn put_together(
        &mut self,
        text: &str,
        span: Span,
        parts: &[Part],
        syntax: TextSyntax,
        each: &mut dyn FnMut(Computed),
    ) -> Option<String> {
        let mut whole = String::with_capacity(text.len());
        let mut quotes = Quotes::default();
        let mut argument = Argument::default();
        let mut known = true;
        for part in parts {
            match part {
                Part::Literal(literal) => {
                    quotes = quotes.after(literal);
                    match syntax {
                        TextSyntax::Call(functions) => {
                            argument = argument.literal(literal, functions, &mut whole);
                        }
                        _ => whole += literal,
                    }
                }
                Part::Expression { inner, .. } => match self.evaluate(text, inner.clone(), span) {
                    None => known = false,
                    Some(value) => {
                        let shown = value.to_string();
                        if whole.len() + shown.len() > LONGEST_TEXT {
                            self.found.refused.0.insert(span);
                            let message = "this text would have more than 16 MiB";
                            self.found.diagnostics.push(Diagnostic::error(span, message));
                            return None;
                        }
                        match syntax {
                            TextSyntax::Argv => quotes = quotes.write(&shown, &mut whole),
                            TextSyntax::Call(_) => argument = argument.value(&shown, &mut whole),
                            _ => whole += &shown,
                        }
                        each(value);
                    }
                },
            }
        }
        (known && self.keep(whole.len(), span)).then_some(whole)
    }

    /// Counts what is kept until the run. Too much of it is refused, once.
    fn keep(&mut self, bytes: usize, span: Span) -> bool {
        if matches!(self.evaluator.moment, Moment::Late(_)) {
            return true;
        }
        let kept = self.evaluator.world.keep(bytes);
        if kept == Kept::First {
            let message = "the expressions of this manifest make more than 256 MiB";
            let mistake = Diagnostic::error(span, message);
            self.found.diagnostics.push(mistake.with_hint("a large text is better a file: `source: PATH`"));
        }
        if kept != Kept::Within {
            self.found.refused.0.insert(span);
        }
        kept == Kept::Within
    }

    /// Evaluates an expression of a text. None if it has no value now.
    fn evaluate(&mut self, text: &str, inner: std::ops::Range<usize>, span: Span) -> Option<Computed> {
        let expression = &text[inner.clone()];
        if self.idle {
            self.found.late.0.insert(span);
            return None;
        }
        let evaluated = self.evaluator.evaluate(expression);
        self.evaluator.world.used_at(span);
        match evaluated {
            Ok(value) => Some(value),
            Err(Trouble::Mistake(mistake))
                if self.forgives_facts && mistake.is_of_absent_fact(&self.evaluator.world.known_facts()) =>
            {
                if let Some(near) = mistake.near_fact() {
                    let node = Node::text(text, span);
                    let (start, end) = (inner.start + mistake.range.start, inner.start + mistake.range.end);
                    let place = node.locate(&self.evaluator.manifest.text, start, end);
                    let message = format!("{}, which counts as nothing here", mistake.message);
                    self.found.diagnostics.push(Diagnostic::warning(place, message).with_hint(near));
                }
                Some(Computed::Null)
            }
            Err(trouble) => {
                let source_text = std::sync::Arc::clone(&self.evaluator.manifest.text);
                let node = Node::text(text, span);
                self.trouble(trouble, span, |range| {
                    node.locate(&source_text, inner.start + range.start, inner.start + range.end)
                });
                None
            }
        }
    }

    fn trouble(&mut self, trouble: Trouble, span: Span, at: impl Fn(std::ops::Range<usize>) -> Span) {
        match trouble {
            Trouble::Late(on) => {
                self.found.late.0.insert(span);
                let place = |on: &LateOn| match on {
                    LateOn::Capture { range: Some(range), .. } => at(range.clone()),
                    _ => span,
                };
                self.found.late_on.extend(on.into_iter().map(|on| {
                    let place = place(&on);
                    (on, place)
                }));
            }
            Trouble::Reported => {
                self.found.refused.0.insert(span);
            }
            Trouble::Mistake(mistake) => {
                self.found.refused.0.insert(span);
                let place = at(mistake.range.clone());
                self.found.diagnostics.push(diagnostic(mistake, place));
            }
        }
    }

    /// Says what keeps a text from being read.
    fn refuse(&mut self, text: &str, span: Span, reading: Reading<'_>, places: Vec<Place>) {
        self.found.refused.0.insert(span);
        let node = Node::text(text, span);
        for place in places {
            let span = node.locate(&self.evaluator.manifest.text, place.range.start, place.range.end);
            let written = text.get(place.range.clone()).unwrap_or_default();
            self.found.diagnostics.push(refusal(span, place.what, written, reading));
        }
    }
}

/// Tells whether a path names a template.
pub(crate) fn is_template(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "j2")
}

/// Puts a mistake in an expression at its place.
pub(crate) fn diagnostic(mistake: Mistake, place: Span) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(place, mistake.message);
    diagnostic.missing = mistake.missing;
    for (span, text) in mistake.places {
        diagnostic = diagnostic.with_label(span, text);
    }
    mistake.hints.into_iter().fold(diagnostic, Diagnostic::with_hint)
}

/// Tells whether a value holds a text that has to be looked into.
fn node_may_hold_any(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => may_hold_any(&scalar.text),
        Value::List(elements) => elements.iter().any(node_may_hold_any),
        Value::Map(map) => {
            map.entries().iter().any(|entry| may_hold_any(&entry.key.text) || node_may_hold_any(&entry.value))
        }
    }
}

/// Returns the language of a property.
pub(crate) fn reading<'a>(
    spec: &'a dyn TypeSpec,
    property: &str,
    provider: Provider<'_>,
    properties: &Properties,
) -> Reading<'a> {
    let syntax = |provider: Option<&str>| spec.syntax(property, provider, properties);
    let mut providers = spec.providers().iter().copied();
    let shell_provider = providers.find(|name| syntax(Some(name)) == TextSyntax::Shell);
    let syntax = match provider {
        Provider::Known(provider) => syntax(provider),
        Provider::Mistaken if shell_provider.is_some() => TextSyntax::Shell,
        Provider::Mistaken => syntax(None),
    };
    Reading { syntax, shell_provider }
}

fn refusal(span: Span, what: What, written: &str, reading: Reading<'_>) -> Diagnostic {
    const LITERAL: &str = "write `\\${` for a literal `${`";
    let is_shell = reading.syntax == TextSyntax::Shell;
    let unknown;
    let name: String =
        written.chars().skip(2).take_while(|part| part.is_alphanumeric() || *part == '_').collect();
    let message = match what {
        What::OpenBraces => "`{{` is not closed",
        What::OpenDollar => "`${` is not closed",
        What::OpenQuote => "a quote or a bracket in this expression is not closed",
        What::ShellParameter if name.is_empty() => "no shell reads this text, so this means nothing",
        What::ShellParameter => {
            unknown = format!("unknown name `{name}`");
            &unknown
        }
        What::NotPosix => "this is neither an expression nor an expansion that every shell knows",
        What::Expression => "this expression can't be read",
    };
    let mut refusal = Diagnostic::error(span, message);
    if what == What::ShellParameter && !name.is_empty() {
        refusal = refusal.with_hint(format!("a variable of the environment is `${{ Environ.{name} }}`"));
    }
    match (what, reading.shell_provider) {
        (What::OpenBraces, _) => refusal.with_hint("an expression ends with `}}`"),
        (What::OpenDollar, _) if is_shell => refusal.with_hint("close it with `}`"),
        (What::ShellParameter, Some(provider)) if !is_shell => refusal
            .with_hint(LITERAL)
            .with_hint(format!("set `provider: {provider}` if a shell is to read it")),
        (What::OpenDollar | What::ShellParameter, _) => refusal.with_hint(LITERAL),
        (What::NotPosix, _) => {
            refusal.with_hint("the shell gets POSIX parameter expansions only, such as `${NAME:-default}`")
        }
        (What::Expression | What::OpenQuote, _) => refusal,
    }
}
