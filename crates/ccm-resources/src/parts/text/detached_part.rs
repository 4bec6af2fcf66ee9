//! Parts without a file, to try them out on any content.

use ccm_model::Resource;
use ccm_properties::{TextPart, TypedResource, decode};

use super::{FilePart, PartPlan};

/// Builds the part that a resource manages. The error is the reason why the resource is wrong.
pub(crate) fn built<T>(resource: &Resource) -> Result<T::Desired, String>
where
    T: TypedResource<Desired: FilePart>,
{
    let (written, errors) = decode::<T::Written>(&resource.properties);
    if let Some(error) = errors.first() {
        return Err(error.message.clone());
    }
    T::build(resource, written).map_err(|errors| errors.first().map(ToString::to_string).unwrap_or_default())
}

/// Returns the part that a resource manages; `None` for a resource that is wrong in itself.
pub(crate) fn detached<T>(resource: &Resource) -> Option<Box<dyn TextPart>>
where
    T: TypedResource<Desired: FilePart>,
{
    let part = built::<T>(resource).ok()?;
    Some(Box::new(DetachedPart(part)))
}

struct DetachedPart<P>(P);

impl<P: FilePart> TextPart for DetachedPart<P> {
    fn applied(&self, content: &[u8]) -> Option<Vec<u8>> {
        match self.0.plan(content).ok()? {
            PartPlan::Keep => Some(content.to_vec()),
            PartPlan::Change(change) => Some(change.content),
        }
    }
}
