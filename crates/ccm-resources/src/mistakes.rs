//! What every type does alike with mistakes in its properties.

use ccm_model::{Diagnostic, Failure};

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
