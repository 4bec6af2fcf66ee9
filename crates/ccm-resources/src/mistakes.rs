//! What every type does alike with mistakes in its properties.

use ccm_model::{Checked, Diagnostic, Failure, FailureKind, Resource, ScalarStyle, Span};

/// Names of properties that every type has, for "did you mean".
pub(crate) const COMMON: &[&str] = &["alias", "ensure", "provider", "require", "subscribe", "control"];

/// A mistake that shows only when the resource is reached, because a late value made it.
pub(crate) fn as_failure(diagnostics: Vec<Diagnostic>) -> Failure {
    let mut failure = Failure::new(FailureKind::Properties, "the properties are not valid");
    for diagnostic in diagnostics {
        failure.chain.push(diagnostic.message);
        failure.hints.extend(diagnostic.hints);
    }
    failure
}

/// A name, or a combination of properties, that can't be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The property to point at; none for the name.
    property: Option<&'static str>,
    message: String,
    hint: Option<String>,
}

impl Mistake {
    pub(crate) fn new(property: &'static str, message: impl Into<String>, hint: &str) -> Self {
        Self { property: Some(property), message: message.into(), hint: Some(hint.to_owned()) }
    }

    pub(crate) fn of_name(message: String, hint: Option<&str>) -> Self {
        Self { property: None, message, hint: hint.map(str::to_owned) }
    }

    /// Points at what was written.
    pub(crate) fn at(self, checked: &Checked<'_>) -> Diagnostic {
        let property = self.property.and_then(|property| checked.resource.properties.get(property));
        let span = property.map_or(checked.resource.span, |node| node.span);
        self.diagnostic(Some(span))
    }

    /// The same for a mistake that shows only when the resource is reached.
    pub(crate) fn without_place(self) -> Diagnostic {
        self.diagnostic(None)
    }

    fn diagnostic(self, place: Option<Span>) -> Diagnostic {
        let diagnostic = Diagnostic::error_at(place, self.message);
        match self.hint {
            Some(hint) => diagnostic.with_hint(hint),
            None => diagnostic,
        }
    }
}

/// Refuses octal digits that an expression yielded as a number: nobody can tell in which base they were meant.
pub(crate) fn computed_octal(resource: &Resource, property: &str, example: &str) -> Option<Diagnostic> {
    let node = resource.properties.get(property)?;
    let is_number = node.as_scalar().is_some_and(|scalar| scalar.style == ScalarStyle::Computed);
    is_number.then(|| {
        let message = format!("expected a {property} as text, found {}", node.describe());
        Diagnostic::error(node.span, message)
            .with_hint(format!("write it as text where it comes from, like `\"{example}\"`"))
    })
}
