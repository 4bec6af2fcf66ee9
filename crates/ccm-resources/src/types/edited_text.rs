//! The change of a text alone, for tests that compare it with what other programs read.

use ccm_model::Resource;
use ccm_properties::TypedResource;

use super::{block, line, setting};
use crate::parts::text::{FilePart, PartPlan, built};

/// Returns the content that a `line`, a `block` or a `setting` gives a file; `None` if the file is as desired. An error
/// is the reason why the resource is wrong, or can't be applied to this content.
pub fn edited_text(resource: &Resource, content: &[u8]) -> Result<Option<Vec<u8>>, String> {
    match &*resource.id.type_name {
        "line" => edited::<line::LineType>(resource, content),
        "block" => edited::<block::BlockType>(resource, content),
        "setting" => edited::<setting::SettingType>(resource, content),
        other => Err(format!("`{other}` changes no text")),
    }
}

fn edited<T>(resource: &Resource, content: &[u8]) -> Result<Option<Vec<u8>>, String>
where
    T: TypedResource<Desired: FilePart>,
{
    let part = built::<T>(resource)?;
    match part.plan(content).map_err(|conflict| conflict.message().to_owned())? {
        PartPlan::Keep => Ok(None),
        PartPlan::Change(change) => Ok(Some(change.content)),
    }
}
