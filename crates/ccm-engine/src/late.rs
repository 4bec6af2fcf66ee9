//! Values that are known only when their resource is reached.

use std::borrow::Cow;

use ccm_model::{Failure, Resource, ResourceId};

/// Completes a resource whose properties name the results of others.
///
/// The engine asks when the resource is reached, all that it depends on being done. It knows nothing of the
/// language in which such values are written.
pub trait LateValues {
    /// Puts the values in.
    fn resolve<'a>(&self, resource: &'a Resource) -> Result<Resolved<'a>, Failure>;
}

/// A resource whose late values were asked for.
#[derive(Debug)]
pub enum Resolved<'a> {
    /// All of them are known, or there are none.
    Known(Cow<'a, Resource>),
    /// One of them will be known only after this resource was executed, which noop does not do.
    NotBefore(ResourceId),
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
    fn resolve<'a>(&self, resource: &'a Resource) -> Result<Resolved<'a>, Failure> {
        Ok(Resolved::Known(Cow::Borrowed(resource)))
    }
}
