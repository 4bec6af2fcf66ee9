//! Sensitive resources.

use ccm_model::{Properties, Scalar, ScalarKind};

use crate::{PropertySpec, find_property};

/// Property that makes a resource sensitive: a boolean that a type declares like its others.
///
/// Properties that are [`PropertySpec::sensitive`] are then shown as `[redacted]`. The type keeps their values
/// out of diffs, states and messages; a provider adds those that can turn up elsewhere to the run's secrets.
pub const SENSITIVE: &str = "sensitive";

/// Returns `true` if a resource hides the properties that are [`PropertySpec::sensitive`].
pub fn is_sensitive(properties: &Properties) -> bool {
    // A value that is not known to be `false` may turn out to be true when the resource is reached.
    let is_false = |scalar: &Scalar| scalar.kind() == ScalarKind::Bool(false);
    properties.get(SENSITIVE).is_some_and(|node| !node.as_scalar().is_some_and(is_false))
}

/// Returns `true` if a resource hides this property.
pub fn is_hidden(table: &'static [PropertySpec], properties: &Properties, name: &str) -> bool {
    find_property(table, name)
        .is_some_and(|property| property.secret || (property.sensitive && is_sensitive(properties)))
}
