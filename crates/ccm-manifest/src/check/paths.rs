//! Orders resources by the directories that they manage.

use std::collections::HashMap;

use ccm_graph::Graph;
use ccm_model::{
    Catalog, Claim, ClaimKind, Dependency, Diagnostic, DiagnosticKind, Diagnostics, PathKind, ResourceIndex,
    Sharing,
};

use crate::check::claims::Claimed;
use crate::resolve::messages::shown;

/// Adds a dependency from each path to the nearest managed directory above it. An edge that would close a
/// cycle is skipped with a warning: written dependencies take precedence.
pub(crate) fn require_directories(
    catalog: &mut Catalog,
    graph: &Graph,
    missing: Vec<(ResourceIndex, ResourceIndex)>,
    diagnostics: &mut Diagnostics,
) {
    if missing.is_empty() {
        return;
    }
    // An edge that agrees with the topological order closes no cycle. Only other edges need a search.
    let mut position = vec![0; catalog.resources.len()];
    for (next, index) in graph.order().into_iter().enumerate() {
        position[index.get()] = next;
    }
    let (forward, backward): (Vec<_>, Vec<_>) =
        missing.into_iter().partition(|(from, to)| position[to.get()] < position[from.get()]);
    for (from, to) in forward {
        require(catalog, from, to);
    }
    for (from, to) in backward {
        if depends(catalog, graph, to, from) {
            diagnostics.push(contradiction(catalog, to, from));
        } else {
            require(catalog, from, to);
        }
    }
}

fn contradiction(catalog: &Catalog, directory: ResourceIndex, inside: ResourceIndex) -> Diagnostic {
    let (directory, inner) = (catalog.resource(directory), catalog.resource(inside));
    let edges = || directory.require.iter().chain(&directory.subscribe);
    let (verb, span) = match edges().find(|edge| edge.on == inside) {
        Some(edge) => ("requires", edge.span),
        None => ("depends on", directory.span),
    };
    let message = format!("`{}` {verb} `{}`, which is inside that directory", directory.id, inner.id);
    Diagnostic::warning(DiagnosticKind::Conflict, span, message)
        .with_label(inner.span, "this would come after the directory")
        .with_hint("remove this dependency: ccm manages a directory before the paths in it")
}

/// Warns of paths below a path that must be absent.
pub(crate) fn warn_below_absent(catalog: &Catalog, claims: &[Claimed<'_>], diagnostics: &mut Diagnostics) {
    let absent = claimed_as(claims, PathKind::Nothing);
    if absent.is_empty() {
        return;
    }
    for (index, claim) in claims.iter().filter(|(_, claim)| claim.desired != PathKind::Nothing) {
        let Some(above) = nearest(&absent, claim) else { continue };
        let (resource, above) = (catalog.resource(*index), catalog.resource(above));
        let message = format!("`{}` is below `{}`, which must be absent", resource.id, above.id);
        let warning = Diagnostic::warning(DiagnosticKind::Conflict, resource.span, message)
            .with_label(above.span, "the absent path");
        diagnostics.push(warning.with_hint("remove one of the two resources: each run would undo the other"));
    }
}

/// Reports paths below a path that is not a directory.
pub(crate) fn find_below_files(catalog: &Catalog, claims: &[Claimed<'_>], diagnostics: &mut Diagnostics) {
    let files = claimed_as(claims, PathKind::Other);
    for (index, claim) in claims.iter().filter(|(_, claim)| claim.desired != PathKind::Nothing) {
        let Some(above) = nearest(&files, claim) else { continue };
        let (resource, above) = (catalog.resource(*index), catalog.resource(above));
        let [inner, outer] = [resource, above].map(|resource| shown(&resource.id.to_string()));
        let message = format!("`{inner}` is below `{outer}`, which is not a directory");
        let error = Diagnostic::error(DiagnosticKind::Conflict, resource.span, message)
            .with_label(above.span, "not a directory");
        diagnostics.push(error.with_hint("choose another path for one of the two resources"));
    }
}

/// Returns each resource with the nearest managed directory above its path, without edges that exist already.
pub(crate) fn directories_above(
    catalog: &Catalog,
    claims: &[Claimed<'_>],
) -> Vec<(ResourceIndex, ResourceIndex)> {
    let directories = claims.iter().filter(|(_, claim)| claim.holds_paths());
    let directories: HashMap<&str, ResourceIndex> =
        directories.map(|(index, claim)| (&*claim.key, *index)).collect();
    let above = |(from, claim): &Claimed<'_>| {
        let resource = catalog.resource(*from);
        if resource.autorequire == Some(false) {
            return None;
        }
        let mut edges = resource.require.iter().chain(&resource.subscribe);
        let to = nearest(&directories, claim)?;
        (to != *from && !edges.any(|edge| edge.on == to)).then_some((*from, to))
    };
    let mut missing: Vec<_> = claims.iter().filter_map(above).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// Returns each part of a file with the resource that manages the attributes of the file, without edges that
/// exist already.
pub(crate) fn files_of_parts(
    catalog: &Catalog,
    claims: &[Claimed<'_>],
) -> Vec<(ResourceIndex, ResourceIndex)> {
    let of_paths = || claims.iter().filter(|(_, claim)| claim.kind == ClaimKind::Path);
    if !of_paths().any(|(_, claim)| claim.desired == PathKind::Part) {
        return Vec::new();
    }
    let is_whole = |claim: &Claim<'_>| claim.sharing == Sharing::Shared && claim.desired != PathKind::Part;
    let files: HashMap<&str, ResourceIndex> =
        of_paths().filter(|(_, claim)| is_whole(claim)).map(|(index, claim)| (&*claim.key, *index)).collect();
    let parts = of_paths().filter(|(_, claim)| claim.desired == PathKind::Part);
    let edge = |(from, claim): &Claimed<'_>| {
        let resource = catalog.resource(*from);
        if resource.autorequire == Some(false) {
            return None;
        }
        let mut edges = resource.require.iter().chain(&resource.subscribe);
        let to = *files.get(&*claim.key)?;
        (!edges.any(|edge| edge.on == to)).then_some((*from, to))
    };
    parts.filter_map(edge).collect()
}

/// Adds a dependency from each part of a file to the resource that manages the attributes of the file, unless
/// that closes a cycle: written dependencies take precedence.
pub(crate) fn require_files(
    catalog: &mut Catalog,
    graph: &Graph,
    missing: Vec<(ResourceIndex, ResourceIndex)>,
) {
    for (from, to) in missing {
        if !depends(catalog, graph, to, from) {
            require(catalog, from, to);
        }
    }
}

/// Returns the paths of this kind that resources claim exclusively.
fn claimed_as<'c>(claims: &'c [Claimed<'_>], desired: PathKind) -> HashMap<&'c str, ResourceIndex> {
    let claims = claims.iter().filter(|(_, claim)| claim.is_path_of(desired));
    claims.map(|(index, claim)| (&*claim.key, *index)).collect()
}

/// Returns the resource with the nearest path above a claimed path.
fn nearest(paths: &HashMap<&str, ResourceIndex>, claim: &Claim<'_>) -> Option<ResourceIndex> {
    if paths.is_empty() || claim.kind != ClaimKind::Path {
        return None;
    }
    let ends = claim.key.rmatch_indices('/').map(|(at, _)| at);
    ends.filter(|at| *at > 0).find_map(|at| paths.get(&claim.key[..at]).copied())
}

pub(crate) fn require(catalog: &mut Catalog, from: ResourceIndex, to: ResourceIndex) {
    let resource = &mut catalog.resources[from.get()];
    resource.require.push(Dependency { on: to, span: resource.span });
    resource.autorequired.push(to);
}

/// Returns `true` if one resource depends on another, directly or not, in graph or catalog.
pub(crate) fn depends(catalog: &Catalog, graph: &Graph, from: ResourceIndex, on: ResourceIndex) -> bool {
    let mut seen = vec![false; catalog.resources.len()];
    let mut ahead = vec![from];
    while let Some(index) = ahead.pop() {
        if index == on {
            return true;
        }
        if !std::mem::replace(&mut seen[index.get()], true) {
            ahead.extend(graph.dependencies(index));
            ahead.extend(catalog.resource(index).require.iter().map(|edge| edge.on));
        }
    }
    false
}
