//! The git resource: a checkout of a git repository.

mod checkout;
mod clone;
mod decide;
mod desired;
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
use ccm_model::{Claim, ClaimKind, Node, PathKind, Resource};
use ccm_properties::{FilledExtent, FilledPath, Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::support::object_plan::Object;
use crate::support::values::canonical_path::is_canonical;
use checkout::GitCheckouts;
use desired::DesiredCheckout;
use properties::GitProperties;

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
