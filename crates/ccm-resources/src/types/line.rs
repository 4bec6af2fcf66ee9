//! The line resource: one line of a text file, present or absent.

mod desired;
mod plan;
mod properties;

use ccm_engine::{DynProvider, TypedResource};
use ccm_model::{Claim, ClaimKind, Resource};
use ccm_properties::{PropertyError, TypeSpec, TypedProperties, WrittenCommand, is_sensitive};

use crate::parts::text::{PartEditor, PartKind, path_claim, path_of};
use crate::parts::validator::{VALIDATE, written_commands};
use desired::DesiredLine;
use properties::LineProperties;

#[derive(Debug)]
pub(crate) struct LineType;

impl TypeSpec for LineType {
    fn name(&self) -> &'static str {
        "line"
    }

    fn summary(&self) -> &'static str {
        "Manages one line of a text file."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix"]
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let line = resource.properties.get("line").filter(|_| !is_sensitive(&resource.properties));
        let line = line.and_then(|line| line.as_text()).zip(path_of(resource));
        let line = line.map(|(line, path)| Claim::exclusive(ClaimKind::Line, format!("{path}: {line}")));
        path_claim(resource).into_iter().chain(line).collect()
    }

    fn commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        written_commands(VALIDATE, resource)
    }
}

impl TypedProperties for LineType {
    type Written = LineProperties;
    type Desired = DesiredLine;

    fn build(resource: &Resource, written: LineProperties) -> Result<DesiredLine, Vec<PropertyError>> {
        DesiredLine::build(resource, written)
    }
}

impl TypedResource for LineType {
    type Kind = PartKind<DesiredLine>;

    const PROVIDERS: &'static [&'static dyn DynProvider<Self::Kind>] = &[&PartEditor::<DesiredLine>::NEW];
}
