//! What is below a managed directory comes after it, without being told to.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use ccm_graph::Graph;
use ccm_model::{
    Catalog, Dependency, Diagnostic, Diagnostics, ManagedPath, Resource, ResourceIndex, WantedAt,
};

use crate::types::Types;

/// Lets each resource that manages a path require the nearest directory above it that another one manages.
///
/// An edge that would close a cycle is left out, with a warning: what the user wrote decides.
pub(crate) fn require_directories(catalog: &mut Catalog, types: &Types<'_>, diagnostics: &mut Diagnostics) {
    let wanted = wanted(catalog, types);
    if wanted.is_empty() {
        return;
    }
    // In an order that the written edges allow, no number of edges forward can close a cycle. Only those that
    // change this order have to be looked at one by one.
    let mut position = vec![0; catalog.resources.len()];
    let graph = Graph::of(catalog);
    let mut ready = graph.ready_set();
    let mut next = 0;
    while let Some(index) = ready.next() {
        position[index.get()] = next;
        next += 1;
        ready.finish(index);
    }
    let (forward, backward): (Vec<_>, Vec<_>) =
        wanted.into_iter().partition(|(from, to)| position[to.get()] < position[from.get()]);
    for (from, to) in forward {
        require(catalog, from, to);
    }
    for (from, to) in backward {
        if depends(catalog, to, from) {
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
pub(crate) fn find_below_nothing(catalog: &Catalog, types: &Types<'_>, diagnostics: &mut Diagnostics) {
    let absent = wanted_as(catalog, types, WantedAt::Nothing);
    if absent.is_empty() {
        return;
    }
    for index in catalog.indices() {
        let resource = catalog.resource(index);
        let Some(managed) = managed_path(resource, types) else { continue };
        let Some(above) = nearest(&absent, managed.path).filter(|_| managed.wanted != WantedAt::Nothing)
        else {
            continue;
        };
        let above = catalog.resource(above);
        let message = format!("`{}` is below `{}`, which is to be absent", resource.id, above.id);
        let warning =
            Diagnostic::warning(resource.span, message).with_label(above.span, "nothing can be below it");
        diagnostics.push(warning.with_hint("the two undo each other in every run"));
    }
}

/// Each resource with the nearest directory above its path, unless it names that already.
fn wanted(catalog: &Catalog, types: &Types<'_>) -> Vec<(ResourceIndex, ResourceIndex)> {
    let directories = wanted_as(catalog, types, WantedAt::Directory);
    let edge = |from: ResourceIndex| {
        let resource = catalog.resource(from);
        let to = nearest(&directories, managed_path(resource, types)?.path)?;
        let is_written = resource.require.iter().chain(&resource.subscribe).any(|edge| edge.on == to);
        (!is_written).then_some((from, to))
    };
    if directories.is_empty() { Vec::new() } else { catalog.indices().filter_map(edge).collect() }
}

/// The paths at which that is to be.
fn wanted_as<'c>(
    catalog: &'c Catalog,
    types: &Types<'_>,
    wanted: WantedAt,
) -> HashMap<&'c str, ResourceIndex> {
    let managed = |index: ResourceIndex| {
        let managed = managed_path(catalog.resource(index), types)?;
        (managed.wanted == wanted).then_some((managed.path, index))
    };
    catalog.indices().filter_map(managed).collect()
}

/// The nearest of them above a path.
fn nearest(paths: &HashMap<&str, ResourceIndex>, path: &str) -> Option<ResourceIndex> {
    let ends = path.rmatch_indices('/').map(|(at, _)| at);
    ends.filter(|at| *at > 0).find_map(|at| paths.get(&path[..at]).copied())
}

fn managed_path<'r>(resource: &'r Resource, types: &Types<'_>) -> Option<ManagedPath<'r>> {
    types.spec(types.find(&resource.id.type_name)?).managed_path(resource)
}

fn require(catalog: &mut Catalog, from: ResourceIndex, to: ResourceIndex) {
    let resource = &mut catalog.resources[from.get()];
    resource.require.push(Dependency { on: to, span: resource.span });
}

/// Tells whether one resource depends on another, directly or not.
fn depends(catalog: &Catalog, from: ResourceIndex, on: ResourceIndex) -> bool {
    let mut seen = vec![false; catalog.resources.len()];
    let mut ahead = vec![from];
    while let Some(index) = ahead.pop() {
        if index == on {
            return true;
        }
        if !std::mem::replace(&mut seen[index.get()], true) {
            let resource = catalog.resource(index);
            ahead.extend(resource.require.iter().chain(&resource.subscribe).map(|edge| edge.on));
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
