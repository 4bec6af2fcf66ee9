//! Looks into every text of a resource for expressions, between collecting it and checking it.
//!
//! This version knows no expression and refuses each where it stands. What is left to do then is the
//! backslash that makes a `${` literal.

use std::collections::BTreeSet;

use ccm_data::interpolation::{Scanned, What, may_hold_any, scan};
use ccm_model::{Diagnostic, Entry, Key, Node, Properties, Span, TypeSpec, Value};

/// Who reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader<'a> {
    /// A shell, after ccm.
    Shell,
    /// Ccm alone; with the provider named here, if there is one, a shell would.
    Ccm { shell_provider: Option<&'a str> },
}

impl Reader<'_> {
    /// No shell reads it, whatever the provider.
    pub(crate) const CCM: Self = Self::Ccm { shell_provider: None };
}

/// The providers that a resource may turn out to have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Provider<'a> {
    /// The one asked for, or none in particular.
    Known(Option<&'a str>),
    /// What was asked for is a mistake, which has been reported; any may have been meant.
    Mistaken,
}

/// Keys and texts that were refused, none within another: what else is wrong with them is not reported.
#[derive(Debug, Default)]
pub(crate) struct Refused(BTreeSet<Span>);

impl Refused {
    /// Tells whether a place lies in one of them.
    pub(crate) fn covers(&self, span: Span) -> bool {
        let before = self.0.range(..=Span { end: u32::MAX, ..span }).next_back();
        before.is_some_and(|refused| refused.contains(span))
    }

    /// Tells whether a mistake lies in one of them.
    pub(crate) fn explains(&self, mistake: &Diagnostic) -> bool {
        mistake.span().is_some_and(|span| self.covers(span))
    }
}

/// Goes through texts and remembers those that it refused.
pub(crate) struct Expander<'a> {
    source_text: &'a str,
    refused: Refused,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Expander<'a> {
    pub(crate) fn new(source_text: &'a str) -> Self {
        Self { source_text, refused: Refused::default(), diagnostics: Vec::new() }
    }

    /// What was refused so far.
    pub(crate) fn refused(&self) -> &Refused {
        &self.refused
    }

    /// Reports what was found.
    pub(crate) fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Refused {
        diagnostics.extend(self.diagnostics);
        self.refused
    }

    /// Expands the properties that belong to the type; a default is replaced for this resource alone.
    pub(crate) fn properties(
        &mut self,
        properties: &mut Properties,
        spec: &dyn TypeSpec,
        provider: Provider<'_>,
    ) {
        let holds_any = |entry: &&Entry| may_hold_any(&entry.key.text) || node_may_hold_any(&entry.value);
        let entries: Vec<Entry> = properties.given().filter(holds_any).cloned().collect();
        for mut entry in entries {
            let reader = reader(spec, &entry.key.text, provider, properties);
            // The name of a property is never rewritten: there is none with a brace in it.
            self.key(&mut entry.key.clone(), Reader::CCM);
            self.node(&mut entry.value, reader);
            properties.replace(entry);
        }
    }

    /// Expands a value, with everything in it.
    pub(crate) fn node(&mut self, node: &mut Node, reader: Reader<'_>) {
        if let Value::Scalar(scalar) = &node.value
            && let Some(unescaped) = self.text(&scalar.text, node.span, reader)
            && let Value::Scalar(scalar) = &mut node.value
        {
            scalar.text = unescaped;
        }
        match &mut node.value {
            Value::Scalar(_) => {}
            Value::List(elements) => {
                for element in elements {
                    self.node(element, reader);
                }
            }
            Value::Map(map) => {
                for entry in map.entries_mut() {
                    self.key(&mut entry.key, reader);
                    self.node(&mut entry.value, reader);
                }
            }
        }
    }

    /// Expands a key, or a name that stands as one.
    pub(crate) fn key(&mut self, key: &mut Key, reader: Reader<'_>) {
        if let Some(unescaped) = self.text(&key.text, key.span, reader) {
            key.text = unescaped;
        }
    }

    /// Refuses the expressions of a text. Returns the text that it means, if that is another.
    fn text(&mut self, text: &str, span: Span, reader: Reader<'_>) -> Option<Box<str>> {
        let places = match scan(text, reader == Reader::Shell) {
            Scanned::Literal => return None,
            Scanned::Unescaped(unescaped) => return Some(unescaped.into()),
            Scanned::Expressions(places) => places,
        };
        self.refused.0.insert(span);
        let node = Node::text(text, span);
        for place in places {
            let span = node.locate(self.source_text, place.range.start, place.range.end);
            self.diagnostics.push(refusal(span, place.what, reader));
        }
        None
    }
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

/// Finds out who reads a property.
pub(crate) fn reader<'a>(
    spec: &'a dyn TypeSpec,
    property: &str,
    provider: Provider<'_>,
    properties: &Properties,
) -> Reader<'a> {
    let is_shell = |provider: Option<&str>| spec.is_shell_text(property, provider, properties);
    let mut providers = spec.providers().iter().copied().filter(|name| !spec.not_yet().contains(name));
    let shell_provider = providers.find(|name| is_shell(Some(name)));
    match provider {
        Provider::Known(provider) if is_shell(provider) => Reader::Shell,
        Provider::Mistaken if shell_provider.is_some() => Reader::Shell,
        _ => Reader::Ccm { shell_provider },
    }
}

fn refusal(span: Span, what: What, reader: Reader<'_>) -> Diagnostic {
    const LITERAL: &str = "write `\\${` for a literal `${`";
    let message = match what {
        What::OpenBraces => "`{{` is not closed",
        What::OpenDollar => "`${` is not closed",
        What::Expression | What::OpenQuote | What::ShellParameter | What::NotPosix => {
            "expressions are not supported in this version"
        }
    };
    let refusal = Diagnostic::error(span, message);
    match (what, reader) {
        (What::OpenBraces, _) => refusal.with_hint("an expression ends with `}}`"),
        (What::OpenDollar, Reader::Shell) => refusal.with_hint("close it with `}`"),
        (What::OpenDollar, Reader::Ccm { .. })
        | (What::ShellParameter, Reader::Shell | Reader::Ccm { shell_provider: None }) => {
            refusal.with_hint(LITERAL)
        }
        (What::ShellParameter, Reader::Ccm { shell_provider: Some(provider) }) => refusal
            .with_hint(LITERAL)
            .with_hint(format!("set `provider: {provider}` if a shell is to read it")),
        (What::NotPosix, _) => {
            refusal.with_hint("the shell gets POSIX parameter expansions only, such as `${NAME:-default}`")
        }
        (What::Expression | What::OpenQuote, _) => refusal,
    }
}
