//! Errors and warnings about a text, with their locations.

use std::borrow::Cow;

use crate::{DiagnosticKind, Span};

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// An error: nothing is run.
    Error,
    /// A warning: it is reported, and the run goes on.
    Warning,
    /// A note: validation reports it, a run does not.
    Note,
}

/// A span that a diagnostic points at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// Explanation of the span. May be empty.
    pub text: String,
}

/// An error, a warning or a note about a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// Severity of a diagnostic.
    pub severity: Severity,
    /// Kind.
    pub kind: DiagnosticKind,
    /// Message, in lower case and without a full stop.
    pub message: String,
    /// Spans. The first is the location of the error, the others explain it. Empty if the error has no
    /// location, such as a file that can't be read.
    pub labels: Vec<Label>,
    /// Advice on what to do about it.
    pub hints: Vec<String>,
    /// Name of the property with the error.
    pub property: Option<Cow<'static, str>>,
    /// Path of a fact or value that does not exist, if that is the error: `Facts`, `host`, `nam`.
    pub missing: Option<Box<[String]>>,
}

impl Diagnostic {
    /// Builds an error with a location.
    pub fn error(kind: DiagnosticKind, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, kind, span, message)
    }

    /// Builds a warning with a location.
    pub fn warning(kind: DiagnosticKind, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, kind, span, message)
    }

    /// Builds a note with a location.
    pub fn note(kind: DiagnosticKind, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, kind, span, message)
    }

    fn new(severity: Severity, kind: DiagnosticKind, span: Span, message: impl Into<String>) -> Self {
        let labels = vec![Label { span, text: String::new() }];
        Self { severity, labels, ..Self::without_location(kind, message) }
    }

    /// Builds an error with or without a location.
    pub fn error_at(kind: DiagnosticKind, place: Option<Span>, message: impl Into<String>) -> Self {
        match place {
            Some(span) => Self::error(kind, span, message),
            None => Self::without_location(kind, message),
        }
    }

    /// Builds an error without a location.
    pub fn without_location(kind: DiagnosticKind, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            kind,
            message: message.into(),
            labels: Vec::new(),
            hints: Vec::new(),
            property: None,
            missing: None,
        }
    }

    /// Adds an explanation to the first span.
    #[must_use]
    pub fn labelled(mut self, text: impl Into<String>) -> Self {
        if let Some(first) = self.labels.first_mut() {
            first.text = text.into();
        }
        self
    }

    /// Adds a span that explains the error.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds the hint "did you mean …?" for a suggestion.
    #[must_use]
    pub fn with_suggestion(self, suggestion: Option<&str>) -> Self {
        match suggestion {
            Some(suggestion) => self.with_hint(format!("did you mean `{suggestion}`?")),
            None => self,
        }
    }

    /// Returns the message, after the name of the property if there is one.
    pub fn one_line(&self) -> Cow<'_, str> {
        match &self.property {
            Some(property) => format!("`{property}`: {}", self.message).into(),
            None => Cow::from(&self.message),
        }
    }

    /// Returns the location.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}
