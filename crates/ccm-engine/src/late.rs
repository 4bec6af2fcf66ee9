//! Values that are known only when their resource is reached.

use ccm_model::{Failure, Location, Resource, ResourceIndex, Span};

/// Completes a resource whose properties, or whose `control`, name the results of others.
///
/// The engine asks when the resource is reached, all that it depends on being done. It knows nothing of the
/// language in which such values are written.
pub trait LateValues {
    /// Tells whether a resource waits for such values, so that nothing can be said of it before its turn.
    fn is_late(&self, index: ResourceIndex) -> bool;

    /// Puts the values in.
    fn resolve(
        &self,
        index: ResourceIndex,
        resource: &Resource,
        progress: &dyn Progress,
    ) -> Result<Resolved, Failure>;

    /// Returns where something was written, if that is known.
    fn location(&self, span: Span) -> Option<Location> {
        let _ = span;
        None
    }

    /// Takes what a resource yielded for others to use.
    fn remember(&self, index: ResourceIndex, values: serde_json::Value) {
        let _ = (index, values);
    }
}

/// What has become of the resources that came before.
pub trait Progress {
    /// Tells whether a resource would have been changed and was not, because it is in noop.
    fn would_change(&self, index: ResourceIndex) -> bool;
}

/// A resource whose late values were asked for.
#[derive(Debug)]
pub enum Resolved {
    /// It has none.
    AsWritten,
    /// All of them are known; this is the resource with them.
    Completed(Box<Resource>),
    /// Its `control` turned out to be off.
    NotManaged {
        /// Why, in words.
        reason: String,
    },
    /// One of them will be known only after this resource was executed, which noop does not do.
    NotBefore(ResourceIndex),
    /// One of them has no value and no default, because what would give it had nothing to do.
    NoValue {
        /// Why, in words.
        reason: String,
    },
}

/// A catalog without late values.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLateValues;

impl LateValues for NoLateValues {
    fn is_late(&self, _: ResourceIndex) -> bool {
        false
    }

    fn resolve(&self, _: ResourceIndex, _: &Resource, _: &dyn Progress) -> Result<Resolved, Failure> {
        Ok(Resolved::AsWritten)
    }
}
