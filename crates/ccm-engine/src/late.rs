//! Late values, which are known only when their resource is reached.

use ccm_model::{Failure, Location, Resource, ResourceIndex, Span};

/// Completes resources whose properties or `control` name results of other resources.
///
/// The engine calls this when a resource is reached and all its dependencies are done. The expression
/// language is unknown to the engine.
pub trait LateValues {
    /// Returns `true` if a resource has late values, so that it can't be decided before its step.
    fn is_late(&self, index: ResourceIndex) -> bool;

    /// Resolves the late values of a resource.
    fn resolve(
        &self,
        index: ResourceIndex,
        resource: &Resource,
        progress: &dyn RunProgress,
    ) -> Result<Resolved, Failure>;

    /// Returns the location of a span, if it is known.
    fn location(&self, span: Span) -> Option<Location> {
        let _ = span;
        None
    }

    /// Takes the values that a resource yields for others.
    fn remember(&self, index: ResourceIndex, values: serde_json::Value) {
        let _ = (index, values);
    }
}

/// Outcomes of the resources so far.
pub trait RunProgress {
    /// Returns `true` if a resource was not changed only because it is in noop.
    fn would_change(&self, index: ResourceIndex) -> bool;
}

/// Resolution of the late values of a resource.
#[derive(Debug)]
pub enum Resolved {
    /// The resource has no late values.
    AsWritten,
    /// All late values are known. This is the resource with them.
    Completed(Box<Resource>),
    /// The `control` of the resource turned out to be off.
    NotManaged {
        /// Reason, for people.
        reason: String,
    },
    /// A late value needs the execution of this resource, which noop does not do.
    NotBefore(ResourceIndex),
    /// A late value has no value and no default, because its source had nothing to do.
    NoValue {
        /// Reason, for people.
        reason: String,
    },
}

/// Late values of a catalog that has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLateValues;

impl LateValues for NoLateValues {
    fn is_late(&self, _: ResourceIndex) -> bool {
        false
    }

    fn resolve(&self, _: ResourceIndex, _: &Resource, _: &dyn RunProgress) -> Result<Resolved, Failure> {
        Ok(Resolved::AsWritten)
    }
}
