//! What every type does alike with mistakes in its properties.

use ccm_model::{Diagnostic, Failure, Resource, ScalarStyle};

/// Names of properties that every type has, for "did you mean".
pub(crate) const COMMON: &[&str] = &["alias", "ensure", "provider", "require", "subscribe", "control"];

/// A mistake that shows only when the resource is reached, because a late value made it.
pub(crate) fn as_failure(diagnostics: Vec<Diagnostic>) -> Failure {
    let mut failure = Failure::new("the properties are not valid");
    for diagnostic in diagnostics {
        failure.chain.push(diagnostic.message);
        failure.hints.extend(diagnostic.hints);
    }
    failure
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
