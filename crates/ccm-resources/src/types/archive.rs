//! The archive resource: a file from a web server, and what is extracted from it.

mod decide;
mod desired;
mod extracted;
mod extraction;
mod posix;
mod properties;
mod rules;
mod state;

use ccm_engine::DynProvider;
use ccm_model::{Claim, Node, PathKind, Resource};
use ccm_properties::{
    FilledExtent, FilledPath, PropertyError, Providers, SourcesView, TypeSpec, TypedResource,
};

use crate::support::values::canonical_path::is_canonical;
use decide::ArchiveResource;
use desired::DesiredArchive;
use posix::Downloader;
use properties::ArchiveProperties;

#[derive(Debug)]
pub(crate) struct ArchiveType;

impl TypedResource for ArchiveType {
    type Written = ArchiveProperties;
    type Desired = DesiredArchive;
    type Provider = dyn DynProvider<ArchiveResource>;

    const NAME: &'static str = "archive";
    const SUMMARY: &'static str = "Downloads a file, and extracts it if it is an archive.";
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &Downloader)];

    fn build(resource: &Resource, written: ArchiveProperties) -> Result<DesiredArchive, Vec<PropertyError>> {
        DesiredArchive::build(resource, written)
    }
}

impl TypeSpec for ArchiveType {
    fn may_write_files(&self) -> bool {
        true
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let path = &*resource.id.name;
        let kind = if resource.is_absent() { PathKind::Nothing } else { PathKind::Other };
        if is_canonical(path) { vec![Claim::path(path, kind)] } else { Vec::new() }
    }

    fn fills<'r>(&self, resource: &'r Resource) -> Vec<FilledPath<'r>> {
        if resource.is_absent() {
            return Vec::new();
        }
        let filled =
            |property, extent| Self::text(resource, property).map(|path| FilledPath { path, extent });
        let into = filled("extract_parent", FilledExtent::Tree);
        let creates = filled("creates", FilledExtent::Entry);
        into.into_iter().chain(creates).collect()
    }

    fn sources(&self) -> Option<&dyn SourcesView> {
        Some(self)
    }
}

impl SourcesView for ArchiveType {
    fn extracted_file<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        let extracts = resource.properties.get("extract_parent").is_some();
        (extracts && resource.properties.get("url").is_none()).then_some(&*resource.id.name)
    }
}

impl ArchiveType {
    fn text<'r>(resource: &'r Resource, property: &str) -> Option<&'r str> {
        resource.properties.get(property).and_then(Node::as_text)
    }
}
