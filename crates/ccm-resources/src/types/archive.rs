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
use ccm_model::{Claim, Diagnostic, DiagnosticKind, Node, PathKind, Resource, escape_control};
use ccm_properties::{
    CheckInput, FilledExtent, FilledPath, PropertyError, Providers, SourcesView, TypeSpec, TypedResource,
};

use crate::parts::unread_names;
use crate::support::export::without_state;
use crate::support::plain_transport::unprotected_host;
use crate::support::values::canonical_path::is_canonical;
use crate::support::web_pages::shown_file;
use decide::ArchiveResource;
use desired::DesiredArchive;
use posix::Downloader;
use properties::ArchiveProperties;

#[derive(Debug)]
pub(crate) struct ArchiveType;

without_state!(
    ArchiveType,
    "nobody knows from which archive files were extracted",
    "export the files: `ccm resource file PATH`"
);

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

    fn warnings(archive: &DesiredArchive, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let Some(origin) = &archive.origin else { return Vec::new() };
        let resource = checked.resource;
        let name = unread_names::warning(&resource.id.name, resource.span);
        let unverified = origin.checksum.is_none().then(|| unverified(resource)).flatten();
        name.into_iter().chain(unverified).chain(page(resource)).collect()
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

/// Returns the warning about the page of a file in place of the file.
fn page(resource: &Resource) -> Option<Diagnostic> {
    let node = resource.properties.get("url")?;
    let file = shown_file(node.as_text()?)?;
    let message = "this is a web page that shows the file, and not the file";
    Some(
        Diagnostic::warning(DiagnosticKind::InvalidValue, node.span, message)
            .with_hint(format!("write `{}`", escape_control(&file))),
    )
}

/// Returns the warning about a download that nothing verifies. A list of checksums from a plain server proves nothing.
fn unverified(resource: &Resource) -> Option<Diagnostic> {
    let address = |property| resource.properties.get(property).and_then(Node::as_text);
    let list = address("checksum_url");
    let (property, host) = match list {
        Some(list) => ("checksum_url", unprotected_host(list)?),
        None => ("url", unprotected_host(address("url")?)?),
    };
    let span = resource.properties.get(property).map_or(resource.span, |node| node.span);
    let message = format!(
        "nothing verifies this download: everybody on the way to `{}` can change it",
        escape_control(host)
    );
    Some(Diagnostic::warning(DiagnosticKind::Unprotected, span, message).with_hint(match list {
        Some(_) => "write an address with `https`, or `checksum` in place of `checksum_url`",
        None => "write `checksum`, or an address with `https`",
    }))
}

impl ArchiveType {
    fn text<'r>(resource: &'r Resource, property: &str) -> Option<&'r str> {
        resource.properties.get(property).and_then(Node::as_text)
    }
}
