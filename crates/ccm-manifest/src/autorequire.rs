//! Orders resources by what they need.

use std::collections::HashMap;

use ccm_graph::Graph;
use ccm_model::{Catalog, ClaimKind, PathKind, ResourceIndex};

use crate::paths::{depends, require};
use crate::types::Types;

/// Resources that provide objects, by what they claim.
#[derive(Default)]
struct NeededProviders {
    claimed: HashMap<(ClaimKind, String), Vec<ResourceIndex>>,
    /// Paths, sorted.
    paths: Vec<(String, ResourceIndex)>,
}

/// Adds a dependency from each resource to those that provide what it needs. One that would close a cycle is left out:
/// written dependencies take precedence.
pub(crate) fn require_needed(catalog: &mut Catalog, types: &Types<'_>) {
    let needs = |index: ResourceIndex, catalog: &Catalog| {
        let resource = catalog.resource(index);
        let spec = types.find(&resource.id.type_name).filter(|_| resource.autorequire != Some(false));
        let needs = spec.map(|spec| types.spec(spec).needs(resource)).unwrap_or_default();
        needs.into_iter().map(|(kind, key)| (kind, key.into_owned())).collect::<Vec<_>>()
    };
    let needing: Vec<(ResourceIndex, Vec<(ClaimKind, String)>)> = catalog
        .indices()
        .map(|index| (index, needs(index, catalog)))
        .filter(|(_, needs)| !needs.is_empty())
        .collect();
    if needing.is_empty() {
        return;
    }
    let providers = NeededProviders::of(catalog, types);
    let mut missing = Vec::new();
    for (index, needs) in needing {
        let mut found: Vec<ResourceIndex> =
            needs.into_iter().flat_map(|(kind, key)| providers.find(kind, key)).collect();
        found.sort_unstable();
        found.dedup();
        let resource = catalog.resource(index);
        let is_new = |on: &ResourceIndex| {
            *on != index && !resource.require.iter().chain(&resource.subscribe).any(|edge| edge.on == *on)
        };
        missing.extend(found.into_iter().filter(is_new).map(|on| (index, on)));
    }
    if missing.is_empty() {
        return;
    }
    // An edge that agrees with the order closes no cycle. Only other edges need a search.
    let graph = Graph::of(catalog);
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
        if !depends(catalog, &graph, to, from) {
            require(catalog, from, to);
        }
    }
}

impl NeededProviders {
    /// Returns what the resources provide, except those that make something absent.
    fn of(catalog: &Catalog, types: &Types<'_>) -> Self {
        let mut providers = Self::default();
        for index in catalog.indices() {
            let resource = catalog.resource(index);
            let is_absent = resource.ensure.as_ref().is_some_and(|ensure| ensure.value == "absent");
            let Some(spec) = types.find(&resource.id.type_name).filter(|_| !is_absent) else { continue };
            for claim in types.spec(spec).claims(resource) {
                match claim.kind {
                    ClaimKind::Path if claim.desired == PathKind::Nothing => {}
                    ClaimKind::Path => providers.paths.push((claim.key.into_owned(), index)),
                    kind => providers.claimed.entry((kind, claim.key.into_owned())).or_default().push(index),
                }
            }
        }
        providers.paths.sort_unstable();
        providers
    }

    fn find(&self, kind: ClaimKind, key: String) -> Vec<ResourceIndex> {
        if kind != ClaimKind::Path {
            return self.claimed.get(&(kind, key)).cloned().unwrap_or_default();
        }
        let below = format!("{key}/");
        let from = self.paths.partition_point(|(path, _)| *path < key);
        let to_or_below = |path: &str| path == key || path.starts_with(&below);
        let near = self.paths[from..].iter().take_while(|(path, _)| path.starts_with(&key));
        near.filter(|(path, _)| to_or_below(path)).map(|(_, index)| *index).collect()
    }
}
