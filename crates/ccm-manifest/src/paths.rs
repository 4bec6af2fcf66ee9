//! What is below a managed directory comes after it, without being told to.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use ccm_graph::Graph;
use ccm_model::{Catalog, Claim, ClaimKind, Dependency, Diagnostic, Diagnostics, PathKind, ResourceIndex};

use crate::claims::Claimed;

/// Lets each resource that manages a path require the nearest directory above it that another one manages.
///
/// An edge that would close a cycle is left out, with a warning: what the user wrote decides.
pub(crate) fn require_directories(
    catalog: &mut Catalog,
    graph: &Graph,
    wanted: Vec<(ResourceIndex, ResourceIndex)>,
    diagnostics: &mut Diagnostics,
) {
    if wanted.is_empty() {
        return;
    }
    // In an order that the written edges allow, no number of edges forward can close a cycle. Only those that
    // change this order have to be looked at one by one.
    let mut position = vec![0; catalog.resources.len()];
    for (next, index) in graph.order().into_iter().enumerate() {
        position[index.get()] = next;
    }
    let (forward, backward): (Vec<_>, Vec<_>) =
        wanted.into_iter().partition(|(from, to)| position[to.get()] < position[from.get()]);
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

/// Says that a directory comes after something that is in it.
fn contradiction(catalog: &Catalog, directory: ResourceIndex, inside: ResourceIndex) -> Diagnostic {
    let (directory, inner) = (catalog.resource(directory), catalog.resource(inside));
    let edges = || directory.require.iter().chain(&directory.subscribe);
    let (verb, span) = match edges().find(|edge| edge.on == inside) {
        Some(edge) => ("requires", edge.span),
        None => ("depends on", directory.span),
    };
    let message = format!("`{}` {verb} `{}`, which is in it", directory.id, inner.id);
    Diagnostic::warning(span, message)
        .with_label(inner.span, "it would come after the directory otherwise")
        .with_hint("what is below a managed directory comes after it without being told to")
}

/// Names what is wanted below a path at which nothing is to be.
pub(crate) fn find_below_nothing(catalog: &Catalog, claims: &[Claimed<'_>], diagnostics: &mut Diagnostics) {
    let absent = claimed_as(claims, PathKind::Nothing);
    if absent.is_empty() {
        return;
    }
    for (index, claim) in claims.iter().filter(|(_, claim)| claim.desired != PathKind::Nothing) {
        let Some(above) = nearest(&absent, claim) else { continue };
        let (resource, above) = (catalog.resource(*index), catalog.resource(above));
        let message = format!("`{}` is below `{}`, which is to be absent", resource.id, above.id);
        let warning =
            Diagnostic::warning(resource.span, message).with_label(above.span, "nothing can be below it");
        diagnostics.push(warning.with_hint("the two undo each other in every run"));
    }
}

/// Each resource with the nearest directory above its path, unless it names that already.
pub(crate) fn directories_above(
    catalog: &Catalog,
    claims: &[Claimed<'_>],
) -> Vec<(ResourceIndex, ResourceIndex)> {
    let directories = claimed_as(claims, PathKind::Directory);
    let above = |(from, claim): &Claimed<'_>| {
        let resource = catalog.resource(*from);
        let mut edges = resource.require.iter().chain(&resource.subscribe);
        let to = nearest(&directories, claim)?;
        (to != *from && !edges.any(|edge| edge.on == to)).then_some((*from, to))
    };
    let mut wanted: Vec<_> = claims.iter().filter_map(above).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// The paths that resources claim for themselves, and at which that is to be.
fn claimed_as<'c>(claims: &'c [Claimed<'_>], desired: PathKind) -> HashMap<&'c str, ResourceIndex> {
    let claims = claims.iter().filter(|(_, claim)| claim.is_path_of(desired));
    claims.map(|(index, claim)| (&*claim.key, *index)).collect()
}

/// The nearest of them above a claimed path.
fn nearest(paths: &HashMap<&str, ResourceIndex>, claim: &Claim<'_>) -> Option<ResourceIndex> {
    if paths.is_empty() || claim.kind != ClaimKind::Path {
        return None;
    }
    let ends = claim.key.rmatch_indices('/').map(|(at, _)| at);
    ends.filter(|at| *at > 0).find_map(|at| paths.get(&claim.key[..at]).copied())
}

fn require(catalog: &mut Catalog, from: ResourceIndex, to: ResourceIndex) {
    let resource = &mut catalog.resources[from.get()];
    resource.require.push(Dependency { on: to, span: resource.span });
}

/// Returns `true` if one resource depends on another, directly or not. Edges that were added to the catalog since count
/// beside those of the graph.
fn depends(catalog: &Catalog, graph: &Graph, from: ResourceIndex, on: ResourceIndex) -> bool {
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

/// A path without `.` and `..`, as far as that can be told from its text.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
