//! What is wrong with a manifest, and where.

use std::borrow::Cow;

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is run.
    Error,
    /// Said, and otherwise ignored.
    Warning,
}

/// A place that belongs to a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there; may be empty.
    pub text: String,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// Where; the first label is the place itself, the others explain it. Empty for a mistake that has no
    /// place, such as a file that can't be read.
    pub labels: Vec<Label>,
    /// What to do about it, apart from what is wrong.
    pub hints: Vec<String>,
    /// Name of the property that it is about.
    pub property: Option<Cow<'static, str>>,
    /// Path of a fact or value that is not there, if that is what is wrong: `Facts`, `host`, `nam`.
    pub missing: Option<Box<[String]>>,
}

impl Diagnostic {
    /// Builds an error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, span, message)
    }

    /// Builds a warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, span, message)
    }

    fn new(severity: Severity, span: Span, message: impl Into<String>) -> Self {
        let labels = vec![Label { span, text: String::new() }];
        Self { severity, labels, ..Self::without_place(message) }
    }

    /// Builds an error at a place, or one that has none.
    pub fn error_at(place: Option<Span>, message: impl Into<String>) -> Self {
        match place {
            Some(span) => Self::error(span, message),
            None => Self::without_place(message),
        }
    }

    /// Builds an error that has no place.
    pub fn without_place(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            labels: Vec::new(),
            hints: Vec::new(),
            property: None,
            missing: None,
        }
    }

    /// Says what stands at the place itself.
    #[must_use]
    pub fn labelled(mut self, text: impl Into<String>) -> Self {
        if let Some(first) = self.labels.first_mut() {
            first.text = text.into();
        }
        self
    }

    /// Adds a place that explains it.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds "did you mean", if there is something to mean.
    #[must_use]
    pub fn with_suggestion(self, suggestion: Option<&str>) -> Self {
        match suggestion {
            Some(suggestion) => self.with_hint(format!("did you mean `{suggestion}`?")),
            None => self,
        }
    }

    /// Returns the message behind the name of the property, if there is one.
    pub fn one_line(&self) -> Cow<'_, str> {
        match &self.property {
            Some(property) => format!("`{property}`: {}", self.message).into(),
            None => Cow::from(&self.message),
        }
    }

    /// Where it is, if it has a place.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}
