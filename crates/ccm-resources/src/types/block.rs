//! The block resource: lines of a text file between two marker lines.

mod desired;
mod plan;
mod properties;

use ccm_engine::{DynProvider, TypedResource};
use ccm_model::{Claim, Resource};
use ccm_properties::{PropertyError, TypeSpec, TypedProperties, WrittenCommand};

use crate::parts::text::{PartEditor, PartKind, path_claim};
use crate::parts::validator::{VALIDATE, written_commands};
use desired::DesiredBlock;
use properties::BlockProperties;

#[derive(Debug)]
pub(crate) struct BlockType;

impl TypeSpec for BlockType {
    fn name(&self) -> &'static str {
        "block"
    }

    fn summary(&self) -> &'static str {
        "Manages lines of a text file between two marker lines."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix"]
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        path_claim(resource).into_iter().collect()
    }

    fn commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        written_commands(VALIDATE, resource)
    }
}

impl TypedProperties for BlockType {
    type Written = BlockProperties;
    type Desired = DesiredBlock;

    fn build(resource: &Resource, written: BlockProperties) -> Result<DesiredBlock, Vec<PropertyError>> {
        DesiredBlock::build(resource, written)
    }
}

impl TypedResource for BlockType {
    type Kind = PartKind<DesiredBlock>;

    const PROVIDERS: &'static [&'static dyn DynProvider<Self::Kind>] = &[&PartEditor::<DesiredBlock>::NEW];
}
