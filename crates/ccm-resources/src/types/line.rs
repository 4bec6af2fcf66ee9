//! The line resource: one line of a text file, present or absent.

mod desired;
mod plan;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Resource};
use ccm_properties::{CommandsView, PropertyError, Providers, TypeSpec, TypedResource, is_sensitive};

use crate::parts::text::{PartEditor, PartKind, path_claim, path_of};
use crate::parts::validator::VALIDATE;
use desired::DesiredLine;
use properties::LineProperties;

#[derive(Debug)]
pub(crate) struct LineType;

impl TypedResource for LineType {
    type Written = LineProperties;
    type Desired = DesiredLine;
    type Provider = dyn DynProvider<PartKind<DesiredLine>>;

    const NAME: &'static str = "line";
    const SUMMARY: &'static str = "Manages one line of a text file.";
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PartEditor::<DesiredLine>::NEW)];

    fn build(resource: &Resource, written: LineProperties) -> Result<DesiredLine, Vec<PropertyError>> {
        DesiredLine::build(resource, written)
    }
}

impl TypeSpec for LineType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let line = resource.properties.get("line").filter(|_| !is_sensitive(&resource.properties));
        let line = line.and_then(|line| line.as_text()).zip(path_of(resource));
        let line = line.map(|(line, path)| Claim::exclusive(ClaimKind::Line, format!("{path}: {line}")));
        path_claim(resource).into_iter().chain(line).collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(&VALIDATE)
    }
}
