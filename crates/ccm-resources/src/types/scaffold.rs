//! The scaffold resource: a directory whose files are all rendered from templates.

mod decide;
mod desired;
mod properties;
mod provider;
mod rules;

use ccm_engine::DynProvider;
use ccm_model::{Claim, PathKind, Resource};
use ccm_properties::{
    CommandsView, PropertyError, Providers, SourcesView, TreeSource, TreeTemplates, TypeSpec, TypedResource,
};

use crate::parts::tree;
use crate::parts::validator::POST;
use crate::support::export::without_state;
use decide::ScaffoldResource;
use desired::DesiredScaffold;
use properties::ScaffoldProperties;
use provider::PosixScaffold;

/// Directory of templates that others include, and that are not rendered by themselves.
const PARTIALS: &str = "_partials";

#[derive(Debug)]
pub(crate) struct ScaffoldType;

without_state!(
    ScaffoldType,
    "the files of a `scaffold` can't be told from other files",
    "export the files: `ccm resource file PATH`"
);

impl TypedResource for ScaffoldType {
    type Written = ScaffoldProperties;
    type Desired = DesiredScaffold;
    type Provider = dyn DynProvider<ScaffoldResource>;

    const NAME: &'static str = "scaffold";
    const SUMMARY: &'static str =
        "Manages a directory whose files are rendered from a directory of templates.";
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PosixScaffold)];

    fn build(
        resource: &Resource,
        written: ScaffoldProperties,
    ) -> Result<DesiredScaffold, Vec<PropertyError>> {
        let is_absent = resource.is_absent();
        DesiredScaffold::build(&resource.id.name, is_absent, written, tree::rendered(resource))
    }
}

impl TypeSpec for ScaffoldType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let kind = if resource.is_absent() { PathKind::Nothing } else { PathKind::Directory };
        vec![Claim::path(&*resource.id.name, kind)]
    }

    fn reaches<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        (!resource.is_absent()).then_some(&*resource.id.name).into_iter().collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(&POST)
    }

    fn sources(&self) -> Option<&dyn SourcesView> {
        Some(self)
    }
}

impl SourcesView for ScaffoldType {
    fn tree(&self, _: Option<&str>) -> Option<TreeSource> {
        let templates = TreeTemplates::AllBut(PARTIALS);
        Some(TreeSource { property: "source", templates, data: Some("data") })
    }

    fn purges<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        tree::purged(resource).filter(|_| !resource.is_absent())
    }
}
