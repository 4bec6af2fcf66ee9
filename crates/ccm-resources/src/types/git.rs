//! The git resource: a checkout of a git repository.

mod checkout;
mod clone;
mod decide;
mod desired;
mod export;
mod git_errors;
mod git_tool;
mod properties;
mod remote;
mod repository;
mod revision;
mod stale_references;
mod state;
mod stored_references;
mod update;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, Node, PathKind, Resource, escape_control};
use ccm_properties::{
    CheckInput, FilledExtent, FilledPath, Need, PropertyError, Providers, TypeSpec, TypedResource,
};

use crate::support::object_plan::Object;
use crate::support::plain_transport::unprotected_host;
use crate::support::values::canonical_path::is_canonical;
use crate::support::web_pages::{RepositoryPage, repository_page};
use checkout::GitCheckouts;
use desired::DesiredCheckout;
use properties::GitProperties;
use revision::GitRevision;

#[derive(Debug)]
pub(crate) struct GitType;

impl TypedResource for GitType {
    type Written = GitProperties;
    type Desired = DesiredCheckout;
    type Provider = dyn DynProvider<Object<DesiredCheckout>>;

    const NAME: &'static str = "git";
    const SUMMARY: &'static str = "Checks out a git repository, and updates the checkout.";
    const PROVIDERS: Providers<Self::Provider> = &[("git", &GitCheckouts)];

    fn build(resource: &Resource, written: GitProperties) -> Result<DesiredCheckout, Vec<PropertyError>> {
        DesiredCheckout::build(resource, written)
    }

    fn warnings(checkout: &DesiredCheckout, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let Some(url) = checkout.url.as_ref().filter(|_| !checkout.is_absent) else { return Vec::new() };
        // The hash of a commit verifies all that is in it.
        let is_pinned = matches!(checkout.revision, Some(GitRevision::Commit(_)));
        let unverified = unprotected_host(&url.0).filter(|_| !is_pinned).map(|host| {
            let host = escape_control(host);
            let message =
                format!("nothing verifies this checkout: everybody on the way to `{host}` can change it");
            let hint = "write an address with `https` or `ssh`, or the full hash of a commit as `revision`";
            (DiagnosticKind::Unprotected, message, hint.to_owned())
        });
        let page = repository_page(&url.0).map(|RepositoryPage { repository, revision }| {
            let message = "this is a web page of the repository, and not its address".to_owned();
            let (repository, revision) = (escape_control(&repository), escape_control(revision));
            let hint = format!("write `url: {repository}` and `revision: {revision}`");
            (DiagnosticKind::InvalidValue, message, hint)
        });
        let span = resource.properties.get("url").map_or(resource.span, |node| node.span);
        let warning = |(kind, message, hint)| Diagnostic::warning(kind, span, message).with_hint(hint);
        unverified.into_iter().chain(page).map(warning).collect()
    }
}

impl TypeSpec for GitType {
    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "latest" => Some("write `revision` with the name of a branch: the checkout follows it"),
            "bare" | "mirror" => Some("only checkouts can be managed"),
            _ => None,
        }
    }

    fn fetched_directory<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        Some(Self::path(resource)).filter(|path| is_canonical(path) && !resource.is_absent())
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let kind = if resource.is_absent() { PathKind::Nothing } else { PathKind::Directory };
        let path = Some(Self::path(resource)).filter(|path| is_canonical(path));
        path.map(|path| Claim::path(path, kind)).into_iter().collect()
    }

    fn fills<'r>(&self, resource: &'r Resource) -> Vec<FilledPath<'r>> {
        let path = Some(Self::path(resource)).filter(|path| is_canonical(path) && !resource.is_absent());
        path.map(|path| FilledPath { path, extent: FilledExtent::Tree }).into_iter().collect()
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let text = |property| resource.properties.get(property).and_then(Node::as_text);
        let user = text("user").map(|user| (ClaimKind::User, user.into()));
        let local = text("url").map(|url| url.strip_prefix("file://").unwrap_or(url));
        let local = local.filter(|url| is_canonical(url)).map(|url| (ClaimKind::Path, url.into()));
        let program = [(ClaimKind::Package, "git".into())];
        user.into_iter().chain(local).chain(program).collect()
    }

    fn may_write_files(&self) -> bool {
        true
    }
}

impl GitType {
    fn path(resource: &Resource) -> &str {
        resource.properties.get("path").and_then(Node::as_text).unwrap_or(&resource.id.name)
    }
}
