//! Replaces expressions in texts by their values. A text with an invalid expression is recorded as refused,
//! and one that waits for a resource as late. Later steps report no other errors in such texts.

mod errors;
mod refusals;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use ccm_data::interpolation::{SplitText, TextPart, lone, may_hold_any, split, split_of_item};
use ccm_data::nodes;
use ccm_expr::Value as Computed;
use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Properties, Span};
use ccm_properties::{SourcesView, TextSyntax, TypeSpec, is_web_address};

use errors::{explain_syntax, lone_expression, part_of_item, written_at};

use crate::read::foreach::ItemScope;
use crate::resolve::call_argument::Argument;
use crate::resolve::eval_context::{ITEM_NAMES, LimitCheck, MAX_TEXT_BYTES};
use crate::resolve::expansion::{Expansion, SpanSet};
use crate::resolve::hint_literals::HintLiterals;
use crate::resolve::messages::shown;
use crate::resolve::scope::{EvalError, ManifestEvaluator, Phase};
use crate::resolve::shell_quoting::Quotes;
use crate::resolve::text_language::{ProviderChoice, TextLanguage, language_of};
use crate::unchecked::LeftOut;

pub(crate) use errors::diagnostic;

enum ExpandedText {
    Unchanged,
    /// Expanded text.
    Text(String),
    /// Value of a text that is a single expression.
    Value(Computed),
    /// The text is refused or late.
    Unknown,
}

pub(crate) struct Expander<'a, 's> {
    pub(crate) evaluator: ManifestEvaluator<'a, 's>,
    /// The resource is not managed, so that nothing is evaluated.
    pub(crate) idle: bool,
    /// Texts to expand. All others are expanded already, and their values may look like expressions.
    only: Option<&'a SpanSet>,
    verbatim: bool,
    /// A missing fact counts as null.
    tolerates_missing_facts: bool,
    pub(crate) found: Expansion,
}

impl<'a, 's> Expander<'a, 's> {
    pub(crate) fn new(evaluator: ManifestEvaluator<'a, 's>) -> Self {
        Self {
            evaluator,
            idle: false,
            only: None,
            verbatim: false,
            tolerates_missing_facts: false,
            found: Expansion::default(),
        }
    }

    pub(crate) fn verbatim(mut self, verbatim: bool) -> Self {
        self.verbatim = verbatim;
        self
    }

    pub(crate) fn only(mut self, places: &'a SpanSet) -> Self {
        self.only = Some(places);
        self
    }

    /// Returns `true` if the text at a span was expanded before.
    pub(crate) fn is_known(&self, span: Span) -> bool {
        self.only.is_some_and(|only| !only.covers(span))
    }

    /// Expands the properties of the type. An expanded default is stored in this resource alone.
    pub(crate) fn properties(
        &mut self,
        properties: &mut Properties,
        spec: &dyn TypeSpec,
        provider: &ProviderChoice,
    ) {
        let holds_any = |entry: &&NodeEntry| may_hold_any(&entry.key.text) || node_may_hold_any(&entry.value);
        let is_read = !self.verbatim && !self.idle;
        for entry in properties.given().filter(|_| is_read) {
            let Some(text) = entry.value.as_text().filter(|text| is_short_line(text)) else { continue };
            let is_shell =
                || language_of(spec, &entry.key.text, provider, properties).syntax == TextSyntax::Shell;
            if memchr::memchr(b'$', text.as_bytes()).is_some() && !is_shell() {
                self.warn_of_dollar(text, entry.value.span);
            }
        }
        let mut entries: Vec<NodeEntry> = properties.given().filter(holds_any).cloned().collect();
        while let Some(mut entry) = entries.pop() {
            let language = language_of(spec, &entry.key.text, provider, properties);
            // Property names have no braces, so the expansion can only report errors.
            self.key(&mut entry.key.clone(), TextLanguage::PLAIN);
            let written = entry.value.clone();
            self.node(&mut entry.value, language);
            if entry.value.is_null() {
                self.refuse_null(&entry.key.text, &written);
                // Null makes the default visible, which may need expansion too.
                properties.remove(&entry.key.text);
                entries.extend(properties.entry(&entry.key.text).filter(holds_any).cloned());
            } else {
                properties.replace(entry);
            }
        }
        if let Some((source, content)) = spec.sources().and_then(SourcesView::template) {
            self.template(properties, source, content);
        }
    }

    /// Renders the template, or opens the encrypted file, that one property names, and stores the text as another property
    /// instead.
    fn template(&mut self, properties: &mut Properties, source: &str, content: &str) {
        let Some(entry) = properties.entry(source) else { return };
        let span = entry.value.span;
        let is_read_here = |path: &&str| is_template(path) || is_encrypted_file(path);
        let Some(path) = entry.value.as_text().filter(is_read_here) else { return };
        if self.idle || self.found.is_unknown(span) || properties.get(content).is_some() {
            return;
        }
        if self.only.is_some_and(|only| !only.covers(span)) {
            return;
        }
        self.invalidate_missing_file();
        let rendered = if is_encrypted_file(path) {
            self.evaluator.content(path)
        } else {
            self.evaluator.template(path)
        };
        self.evaluator.context.record_early_uses(span);
        if self.evaluator.context.is_missing_file(&self.evaluator.manifest.resolve(path)) {
            // The template itself has to exist at load, but not the files that it uses.
            self.invalidate_missing_file();
        }
        match rendered {
            Ok(text) if !self.count_bytes(text.len(), span) => {}
            Ok(text) => {
                let key = NodeKey { text: content.into(), span: entry.key.span };
                while properties.entry(source).is_some() {
                    properties.remove(source);
                }
                properties.replace(NodeEntry { key, value: Node::text(text, span) });
            }
            Err(error) => {
                self.record_error(error, span, |_| span);
            }
        }
    }

    pub(crate) fn node(&mut self, node: &mut Node, language: TextLanguage<'_>) {
        match &mut node.value {
            NodeValue::Scalar(scalar) => match self.text(&scalar.text, node.span, language) {
                ExpandedText::Unchanged | ExpandedText::Unknown => {}
                ExpandedText::Text(text) => *node = Node::text(text, node.span),
                ExpandedText::Value(value) => *node = nodes::from_value(&value, node.span),
            },
            NodeValue::List(elements) => {
                for element in elements {
                    self.node(element, language);
                }
            }
            NodeValue::Map(map) => {
                let mut is_renamed = false;
                let for_shell = TextSyntax::is_for_shell(map);
                for entry in map.entries_mut() {
                    if may_hold_any(&entry.key.text) {
                        self.key(&mut entry.key, language);
                        is_renamed = true;
                    }
                    self.node(&mut entry.value, language.of_entry(&entry.key.text, for_shell));
                }
                if is_renamed {
                    self.report_duplicates(map);
                }
            }
        }
    }

    /// Reports keys that are equal after expansion.
    fn report_duplicates(&mut self, map: &NodeMap) {
        let mut first: HashMap<&str, Span> = HashMap::new();
        for NodeEntry { key, .. } in map.entries() {
            if self.found.is_unknown(key.span) {
                continue;
            }
            match first.entry(&key.text) {
                std::collections::hash_map::Entry::Occupied(earlier) => {
                    let error = Diagnostic::error(
                        DiagnosticKind::DuplicateKey,
                        key.span,
                        format!("the key `{}` is given twice", shown(&key.text)),
                    );
                    self.found.diagnostics.push(error.with_label(*earlier.get(), "first given here"));
                }
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(key.span);
                }
            }
        }
    }

    /// Expands a key or a name to text.
    pub(crate) fn key(&mut self, key: &mut NodeKey, language: TextLanguage<'_>) {
        match self.text(&key.text, key.span, language) {
            ExpandedText::Unchanged | ExpandedText::Unknown => {}
            ExpandedText::Text(text) => key.text = text.into(),
            ExpandedText::Value(value @ (Computed::List(_) | Computed::Map(_) | Computed::Groups(_))) => {
                self.found.refused.insert(key.span);
                let message = format!("expected text, found {}", value.kind());
                let error = Diagnostic::error(DiagnosticKind::WrongType, key.span, message);
                let is_item = lone_expression(&key.text) == Some(ITEM_NAMES[0]);
                let hints = if is_item { part_of_item(&value).to_vec() } else { Vec::new() };
                self.found.diagnostics.push(hints.into_iter().fold(error, Diagnostic::with_hint));
            }
            ExpandedText::Value(value) => key.text = value.to_string().into(),
        }
    }

    /// Returns the value of a node in `data`, with its expressions evaluated.
    pub(crate) fn value(&mut self, node: &Node) -> Computed {
        match &node.value {
            NodeValue::Scalar(scalar) if self.evaluator.context.secrets.is_encrypted(node.span) => {
                self.opened(&scalar.text, node.span)
            }
            NodeValue::Scalar(scalar) => match self.text(&scalar.text, node.span, TextLanguage::PLAIN) {
                ExpandedText::Unchanged if is_armoured(&scalar.text) => {
                    self.warn_of_unmarked(node.span);
                    nodes::of_scalar(scalar)
                }
                ExpandedText::Unchanged => nodes::of_scalar(scalar),
                ExpandedText::Text(text) => Computed::text(text),
                ExpandedText::Value(value) => value,
                ExpandedText::Unknown => Computed::Null,
            },
            NodeValue::List(elements) => Computed::list(elements.iter().map(|element| self.value(element))),
            NodeValue::Map(map) => {
                Computed::map(map.entries().iter().map(|entry| (&*entry.key.text, self.value(&entry.value))))
            }
        }
    }

    fn warn_of_unmarked(&mut self, span: Span) {
        let message = "this value is encrypted, and is used as it is";
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
        self.found
            .diagnostics
            .push(warning.with_hint("write `# @encrypted` on a line of its own above its key"));
    }

    /// Opens an encrypted text of `data`.
    fn opened(&mut self, text: &str, span: Span) -> Computed {
        let context = self.evaluator.context;
        if self.idle {
            return Computed::Null;
        }
        match context.secrets.open(text, context.sources) {
            // A line end at the end is that of the file that was encrypted, as of a credential.
            Ok(opened) => return Computed::text(without_line_end(&opened)),
            Err(fault) if context.may_stay_closed(&fault) => {
                context.leave_out(LeftOut::Encrypted);
                context.record_unchecked(span);
                self.found.unchecked.insert(span);
            }
            Err(fault) => {
                let message = format!("the encrypted value can't be opened: {}", fault.message);
                let error = Diagnostic::error(DiagnosticKind::Unreadable, span, message);
                self.found.diagnostics.push(fault.hint.into_iter().fold(error, Diagnostic::with_hint));
                self.found.refuse(span);
            }
        }
        Computed::Null
    }

    /// Returns the value of a node in `data`. Parts that a layer above replaces are not evaluated, and null if they
    /// hold expressions.
    pub(crate) fn value_below(&mut self, node: &Node, above: &[&Computed]) -> Computed {
        let NodeValue::Map(map) = &node.value else {
            let idle = self.idle;
            self.idle |= above.iter().any(|over| replaces(over, node));
            let value = self.value(node);
            self.idle = idle;
            return value;
        };
        let idle = self.idle;
        self.idle |= above.iter().any(|over| !matches!(over, Computed::Map(_)));
        let value = Computed::map(map.entries().iter().map(|entry| {
            let above: Vec<&Computed> = above.iter().filter_map(|over| over.get(&entry.key.text)).collect();
            (&*entry.key.text, self.value_below(&entry.value, &above))
        }));
        self.idle = idle;
        value
    }

    /// Expands an entry of the hierarchy, and returns the text with the value of each expression. A missing
    /// fact counts as null, unless every machine has the fact.
    pub(crate) fn hierarchy_entry(&mut self, text: &str, span: Span) -> Option<(String, Vec<Computed>)> {
        self.tolerates_missing_facts = true;
        let parts = self.expand_parts(text, span);
        self.tolerates_missing_facts = false;
        parts
    }

    fn expand_parts(&mut self, text: &str, span: Span) -> Option<(String, Vec<Computed>)> {
        let parts = match split(text, false) {
            SplitText::Literal => return Some((text.to_owned(), Vec::new())),
            SplitText::Errors(places) => {
                self.refuse(text, span, TextLanguage::PLAIN, places);
                return None;
            }
            SplitText::Parts(parts) => parts,
        };
        let mut yielded = Vec::new();
        let expanded =
            self.concatenate(text, span, &parts, TextSyntax::Plain, &mut |value| yielded.push(value))?;
        Some((expanded, yielded))
    }

    fn text(&mut self, text: &str, span: Span, language: TextLanguage<'_>) -> ExpandedText {
        if self.verbatim || !may_hold_any(text) || self.only.is_some_and(|only| !only.covers(span)) {
            return ExpandedText::Unchanged;
        }
        let is_shell = language.syntax == TextSyntax::Shell;
        let split_text = match self.evaluator.manifest.item {
            ItemScope::None => split(text, is_shell),
            ItemScope::Unknown | ItemScope::Item(_) => split_of_item(text, is_shell),
        };
        let parts = match split_text {
            SplitText::Literal => return ExpandedText::Unchanged,
            SplitText::Errors(places) => {
                self.refuse(text, span, language, places);
                return ExpandedText::Unknown;
            }
            SplitText::Parts(parts) => parts,
        };
        if let Some(inner) = lone(&parts) {
            return match self.evaluate(text, inner, span) {
                Some(value) if self.count_bytes(value.footprint(), span) => ExpandedText::Value(value),
                _ => ExpandedText::Unknown,
            };
        }
        match self.concatenate(text, span, &parts, language.syntax, &mut |_| {}) {
            Some(text) => ExpandedText::Text(text),
            None => ExpandedText::Unknown,
        }
    }

    fn concatenate(
        &mut self,
        text: &str,
        span: Span,
        parts: &[TextPart],
        syntax: TextSyntax,
        each: &mut dyn FnMut(Computed),
    ) -> Option<String> {
        let mut whole = String::with_capacity(text.len());
        let mut quotes = Quotes::default();
        let mut argument = Argument::default();
        let mut known = true;
        for part in parts {
            match part {
                TextPart::Literal(literal) => {
                    quotes = quotes.after(literal);
                    match syntax {
                        TextSyntax::Call(functions) => {
                            argument = argument.literal(literal, functions, &mut whole);
                        }
                        _ => append(&mut whole, literal),
                    }
                }
                TextPart::Expression { inner, .. } => match self.evaluate(text, inner.clone(), span) {
                    None => known = false,
                    Some(Computed::Null) if !self.tolerates_missing_facts => {
                        self.refuse_null_within(text, inner.clone(), span);
                        known = false;
                    }
                    Some(value) => {
                        self.warn_of_item(text, inner, &value, span);
                        let shown: Cow<'_, str> = match &value {
                            Computed::Text(text) => Cow::Borrowed(text),
                            other => Cow::Owned(other.to_string()),
                        };
                        if whole.len() + shown.len() > MAX_TEXT_BYTES {
                            self.found.refused.insert(span);
                            let message = "this text would exceed 16 MiB";
                            self.found.diagnostics.push(Diagnostic::error(
                                DiagnosticKind::LimitExceeded,
                                span,
                                message,
                            ));
                            return None;
                        }
                        match syntax {
                            TextSyntax::Argv => quotes = quotes.write(&shown, &mut whole),
                            TextSyntax::Call(_) => argument = argument.value(&shown, &mut whole),
                            _ => append(&mut whole, &shown),
                        }
                        each(value);
                    }
                },
            }
        }
        (known && self.count_bytes(whole.len(), span)).then_some(whole)
    }

    /// Counts memory that stays in use until the run. Only the first value above the limit is reported.
    pub(crate) fn count_bytes(&mut self, bytes: usize, span: Span) -> bool {
        if matches!(self.evaluator.phase, Phase::Runtime(_)) {
            return true;
        }
        let check = self.evaluator.context.count_bytes(bytes);
        if check == LimitCheck::JustExceeded {
            let message = "the values of the expressions in this manifest exceed 256 MiB";
            let error = Diagnostic::error(DiagnosticKind::LimitExceeded, span, message);
            self.found
                .diagnostics
                .push(error.with_hint("put large texts into files, and use `source: PATH`"));
        }
        if check != LimitCheck::Within {
            self.found.refused.insert(span);
        }
        check == LimitCheck::Within
    }

    /// Evaluates an expression within a text. Returns `None` for a refused or late value.
    fn evaluate(&mut self, text: &str, inner: std::ops::Range<usize>, span: Span) -> Option<Computed> {
        let expression = &text[inner.clone()];
        if self.idle {
            self.found.late.insert(span);
            return None;
        }
        self.invalidate_missing_file();
        let evaluator = self.evaluator.within(written_at(self.evaluator.manifest, span));
        let evaluated = evaluator.evaluate(expression);
        self.evaluator.context.record_early_uses(span);
        for doubt in self.evaluator.context.take_doubts() {
            let node = Node::text(text, span);
            let (start, end) = (inner.start + doubt.range.start, inner.start + doubt.range.end);
            let at = node.locate(&self.evaluator.manifest.text, start, end);
            self.found.diagnostics.push(doubt.warning(at));
        }
        match evaluated {
            Ok(value) => Some(value),
            Err(EvalError::Invalid(error))
                if self.tolerates_missing_facts
                    && error.is_missing_fact(&self.evaluator.context.known_facts()) =>
            {
                if let Some(suggestion) = error.fact_suggestion() {
                    let node = Node::text(text, span);
                    let (start, end) = (inner.start + error.range.start, inner.start + error.range.end);
                    let at = node.locate(&self.evaluator.manifest.text, start, end);
                    let message = format!("{}; it counts as null here", error.message);
                    self.found
                        .diagnostics
                        .push(Diagnostic::warning(error.kind, at, message).with_hint(suggestion));
                }
                Some(Computed::Null)
            }
            Err(mut error) => {
                if let EvalError::Invalid(error) = &mut error {
                    let written = self.written(span);
                    explain_syntax(error, text, &inner, written, evaluator.literals);
                }
                let source_text = std::sync::Arc::clone(&self.evaluator.manifest.text);
                let node = Node::text(text, span);
                self.record_error(error, span, |range| {
                    node.locate(&source_text, inner.start + range.start, inner.start + range.end)
                });
                None
            }
        }
    }

    /// Returns the literals of hints about a text.
    fn literals(&self, span: Span) -> HintLiterals {
        self.evaluator.literals.within(written_at(self.evaluator.manifest, span))
    }

    /// Returns a text as the manifest writes it.
    fn written(&self, span: Span) -> &str {
        self.evaluator.manifest.text.get(span.range()).unwrap_or_default()
    }

    /// Forgets the file that another evaluation did not find. During the run the first one is kept, for the
    /// failure of the resource.
    pub(crate) fn invalidate_missing_file(&self) {
        if matches!(self.evaluator.phase, Phase::BeforeRun(_)) {
            self.evaluator.context.take_missing_file();
        }
    }
}

/// Returns `true` if a value that is merged deep over a list or a scalar replaces all of it.
fn replaces(over: &Computed, node: &Node) -> bool {
    match (&node.value, over) {
        (NodeValue::List(_), Computed::List(_)) => false,
        // The value of an expression may be a list or a map.
        (NodeValue::Scalar(scalar), Computed::List(_) | Computed::Map(_)) => match split(&scalar.text, false)
        {
            SplitText::Parts(parts) => lone(&parts).is_none(),
            SplitText::Literal | SplitText::Errors(_) => true,
        },
        _ => true,
    }
}

/// Appends to a text, which may be large: doubling its memory would leave gaps as large as the text.
fn append(whole: &mut String, more: &str) {
    if whole.capacity() - whole.len() < more.len() {
        whole.reserve_exact(more.len().max(whole.len() / 8));
    }
    whole.push_str(more);
}

/// Returns `true` for a text in the armour of age.
fn is_armoured(text: &str) -> bool {
    text.starts_with("-----BEGIN AGE ENCRYPTED FILE-----")
}

fn without_line_end(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line))
}

/// Returns `true` if the path is that of an encrypted file. A file of a web server is none.
pub(crate) fn is_encrypted_file(path: &str) -> bool {
    !is_web_address(path) && Path::new(path).extension().is_some_and(|ending| ending == "age")
}

/// Returns `true` if the path is that of a template. A file of a web server is none.
pub(crate) fn is_template(path: &str) -> bool {
    !is_web_address(path) && Path::new(path).extension().is_some_and(|ending| ending == "j2")
}

/// Returns `true` for a text that is no file of another language.
fn is_short_line(text: &str) -> bool {
    text.len() <= 200 && memchr::memchr(b'\n', text.as_bytes()).is_none()
}

fn node_may_hold_any(node: &Node) -> bool {
    match &node.value {
        NodeValue::Scalar(scalar) => may_hold_any(&scalar.text),
        NodeValue::List(elements) => elements.iter().any(node_may_hold_any),
        NodeValue::Map(map) => {
            map.entries().iter().any(|entry| may_hold_any(&entry.key.text) || node_may_hold_any(&entry.value))
        }
    }
}
