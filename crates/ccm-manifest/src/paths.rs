//! What is below a managed directory comes after it, without being told to.

use std::collections::HashMap;

use ccm_graph::Graph;
use ccm_model::{Catalog, Dependency, ManagedPath, Resource, ResourceIndex};

use crate::types::Types;

/// Lets each resource that manages a path require the nearest directory above it that another one manages.
///
/// An edge that would close a cycle is left out: what the user wrote decides.
pub(crate) fn require_directories(catalog: &mut Catalog, types: &Types<'_>) {
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
        if !depends(catalog, to, from) {
            require(catalog, from, to);
        }
    }
}

/// Each resource with the nearest directory above its path, unless it names that already.
fn wanted(catalog: &Catalog, types: &Types<'_>) -> Vec<(ResourceIndex, ResourceIndex)> {
    let managed = |index: &ResourceIndex| managed_path(catalog.resource(*index), types);
    let directories: HashMap<&str, ResourceIndex> = catalog
        .indices()
        .filter_map(|index| managed(&index).filter(|managed| managed.is_directory).map(|m| (m.path, index)))
        .collect();
    let nearest = |path: &str| {
        let ends = path.rmatch_indices('/').map(|(at, _)| at);
        ends.filter(|at| *at > 0).find_map(|at| directories.get(&path[..at]).copied())
    };
    let edge = |from: ResourceIndex| {
        let to = nearest(managed(&from)?.path)?;
        let resource = catalog.resource(from);
        let is_written = resource.require.iter().chain(&resource.subscribe).any(|edge| edge.on == to);
        (!is_written).then_some((from, to))
    };
    if directories.is_empty() { Vec::new() } else { catalog.indices().filter_map(edge).collect() }
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
