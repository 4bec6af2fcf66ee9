//! The catalog: claims of its resources, and the order that they imply.

use std::collections::HashMap;

use ccm_graph::Graph;
use ccm_model::{Catalog, Diagnostics, Resource, ResourceIndex, Severity};
use ccm_properties::CheckInput;
use tracing::debug;

use super::{autorequire, claims, cycles, missing_sources, paths, text_parts};
use crate::late::LateResource;
use crate::read::document::{CheckNodes, Settings};
use crate::resolve::resolver::ResolvedResources;
use crate::resolve::{health_checks, shell_check};
use crate::scopes::Scopes;

/// Builds the catalog, and checks the resources against one another. Returns it with the resources that wait for values
/// of the run.
pub(crate) fn build(
    resolved: ResolvedResources,
    settings: Settings,
    secrets: &[String],
    scopes: &mut Scopes<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> (Catalog, HashMap<ResourceIndex, LateResource>) {
    let ResolvedResources { drafts, mut waiting, file_users, missing_sources, .. } = resolved;
    let Settings { name, pre_message, post_message, fail_on_error, checks } = settings;
    let has_name: Vec<bool> = drafts.iter().map(|draft| draft.has_name).collect();
    let resources: Vec<Resource> = drafts.into_iter().map(|draft| draft.resource).collect();
    let mut catalog = Catalog {
        name: name.map(|name| name.0),
        pre_message: pre_message.map(|message| message.0),
        post_message: post_message.map(|message| message.0),
        fail_on_error: fail_on_error.unwrap_or(false),
        checks: None,
        resources,
        groups: std::mem::take(&mut scopes.children.groups),
    };
    catalog.checks = checks.map(|CheckNodes(node)| {
        let resource = health_checks::of_manifest(catalog.name.as_deref(), node);
        let source_text = &scopes.manifests[0].text;
        let checked = CheckInput { resource: &resource, source_text, secrets, subscribes: false };
        let found = health_checks::check(&checked, false);
        let is_readable = found.iter().all(|found| found.severity != Severity::Error);
        diagnostics.extend(found);
        if is_readable {
            diagnostics.extend(shell_check::check_manifest(&checked, scopes.context.sources));
        }
        Box::new(resource)
    });
    let graph = Graph::of(&catalog);
    let spellings = &scopes.context.spellings;
    let mut claims = claims::collect(&catalog, scopes.types, spellings);
    claims.retain(|(index, _)| has_name[index.get()]);
    claims::find_conflicts(&catalog, &claims, diagnostics);
    if !diagnostics.has_errors() {
        let is_known = |index| !waiting.contains_key(&index);
        text_parts::find_conflicts(&catalog, &claims, scopes.types, is_known, diagnostics);
    }
    claims::find_filled_purges(&catalog, scopes.types, spellings, diagnostics);
    paths::find_below_files(&catalog, &claims, diagnostics);
    cycles::find(&catalog, &graph, diagnostics);
    let known = missing_sources::KnownFiles { catalog: &catalog, graph: &graph, claims: &claims };
    missing_sources::report(&missing_sources, &known, scopes.types, &scopes.context, diagnostics);
    if !diagnostics.has_errors() {
        paths::warn_below_absent(&catalog, &claims, diagnostics);
        let missing = paths::directories_above(&catalog, &claims);
        let unordered = paths::files_of_parts(&catalog, &claims);
        paths::require_directories(&mut catalog, &graph, missing, diagnostics);
        paths::require_files(&mut catalog, &graph, unordered);
        autorequire::require_needed(&mut catalog, scopes.types, spellings, diagnostics);
    }
    file_users.resolve(&mut catalog, scopes.types, &mut waiting, diagnostics);
    diagnostics.extend(scopes.context.take_unchecked());
    debug!(resources = catalog.resources.len(), edges = edges(&catalog), "checked the graph");
    (catalog, waiting)
}

fn edges(catalog: &Catalog) -> usize {
    catalog.resources.iter().map(|resource| resource.require.len() + resource.subscribe.len()).sum()
}
