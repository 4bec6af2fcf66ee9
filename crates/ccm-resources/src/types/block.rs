//! The block resource: lines of a text file between two marker lines.

mod desired;
mod plan;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, Diagnostic, Resource};
use ccm_properties::{
    CheckInput, CommandsView, PropertyError, Providers, TextPart, TextView, TypeSpec, TypedResource,
};

use crate::parts::text::{PartEditor, PartKind, detached, path_claim, unread_path};
use crate::parts::validator::VALIDATE;
use desired::DesiredBlock;
use properties::BlockProperties;

#[derive(Debug)]
pub(crate) struct BlockType;

impl TypedResource for BlockType {
    type Written = BlockProperties;
    type Desired = DesiredBlock;
    type Provider = dyn DynProvider<PartKind<DesiredBlock>>;

    const NAME: &'static str = "block";
    const SUMMARY: &'static str = "Manages lines of a text file between two marker lines.";
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PartEditor::<DesiredBlock>::NEW)];

    fn build(resource: &Resource, written: BlockProperties) -> Result<DesiredBlock, Vec<PropertyError>> {
        DesiredBlock::build(resource, written)
    }

    fn warnings(_: &DesiredBlock, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        unread_path(checked.resource).into_iter().collect()
    }
}

impl TypeSpec for BlockType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        path_claim(resource).into_iter().collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(&VALIDATE)
    }

    fn text(&self) -> Option<&dyn TextView> {
        Some(self)
    }
}

impl TextView for BlockType {
    fn changes_other_lines(&self, _: &Resource) -> bool {
        false
    }

    fn part(&self, resource: &Resource) -> Option<Box<dyn TextPart>> {
        detached::<Self>(resource)
    }
}
