//! Orders resources by what they need.

use std::collections::{HashMap, HashSet};

use ccm_graph::Graph;
use ccm_model::{
    Catalog, ClaimKind, Diagnostic, DiagnosticKind, Diagnostics, PathKind, PathSpellings, ResourceIndex,
};

use crate::check::paths::{depends, require};
use crate::check::removals;
use crate::read::types::Types;
use crate::resolve::messages::shown;

/// Resources that provide objects, by what they claim.
#[derive(Default)]
struct NeededProviders {
    claimed: HashMap<(ClaimKind, String), Vec<ResourceIndex>>,
    /// Paths, sorted.
    paths: Vec<(String, ResourceIndex)>,
}

/// Adds a dependency from each resource to those that provide what it needs. One that would close a cycle is left out:
/// written dependencies take precedence, with a warning if a new machine can't be set up in their order.
pub(crate) fn require_needed(
    catalog: &mut Catalog,
    types: &Types<'_>,
    spellings: &PathSpellings<'_>,
    diagnostics: &mut Diagnostics,
) {
    let needs = |index: ResourceIndex, catalog: &Catalog| {
        let resource = catalog.resource(index);
        let spec = types.find(&resource.id.type_name).filter(|_| resource.autorequire != Some(false));
        let needs = spec.map(|spec| types.spec(spec).needs(resource)).unwrap_or_default();
        let key = |kind, key: &str| match kind {
            ClaimKind::Path => spellings.canonical(key).into_owned(),
            _ => key.to_owned(),
        };
        needs.into_iter().map(|(kind, needed)| (kind, key(kind, &needed))).collect::<Vec<_>>()
    };
    let needing: Vec<(ResourceIndex, Vec<(ClaimKind, String)>)> = catalog
        .indices()
        .map(|index| (index, needs(index, catalog)))
        .filter(|(_, needs)| !needs.is_empty())
        .collect();
    let mounts = MountOrder::of(catalog, types, spellings);
    let mut missing = removals::ordered_removals(catalog, types, spellings);
    if needing.is_empty() && mounts.is_empty() && missing.is_empty() {
        return;
    }
    let providers = NeededProviders::of(catalog, types, spellings);
    let mut of_principals = HashSet::new();
    for (index, needs) in needing {
        for (kind, key) in needs {
            let found = providers.find(kind, &key).into_iter().map(|on| (index, on));
            if matches!(kind, ClaimKind::User | ClaimKind::Group) {
                of_principals.extend(found.clone());
            }
            missing.extend(found);
        }
    }
    for (index, found) in mounts.needs(catalog, types, spellings) {
        missing.extend(found.into_iter().map(|on| (index, on)));
    }
    missing.sort_unstable();
    missing.dedup();
    missing.retain(|(from, on)| {
        let resource = catalog.resource(*from);
        from != on && !resource.require.iter().chain(&resource.subscribe).any(|edge| edge.on == *on)
    });
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
        } else if of_principals.contains(&(from, to)) && leads_to(&graph, to, from) {
            diagnostics.push(before_its_principal(catalog, from, to));
        }
    }
}

/// Returns `true` if the written dependencies put a resource behind another one.
fn leads_to(graph: &Graph, from: ResourceIndex, on: ResourceIndex) -> bool {
    let mut seen = HashSet::from([from]);
    let mut ahead = vec![from];
    while let Some(index) = ahead.pop() {
        if index == on {
            return true;
        }
        ahead.extend(graph.dependencies(index).filter(|next| seen.insert(*next)));
    }
    false
}

/// Returns the warning about a resource that the manifest puts before the user or group that it needs.
fn before_its_principal(catalog: &Catalog, from: ResourceIndex, to: ResourceIndex) -> Diagnostic {
    let (resource, needed) = (catalog.resource(from), shown(&catalog.resource(to).id.to_string()));
    let message = format!("this resource needs `{needed}`, which depends on it and comes later");
    Diagnostic::warning(DiagnosticKind::Cycle, resource.span, message).with_hint(format!(
        "let nothing that `{needed}` requires need it; write `autorequire: false` here if it exists before every run"
    ))
}

/// File systems that are mounted on directories, and the directories that resources manage.
#[derive(Default)]
struct MountOrder {
    mount_points: HashMap<String, ResourceIndex>,
    directories: HashMap<String, ResourceIndex>,
}

impl MountOrder {
    fn of(catalog: &Catalog, types: &Types<'_>, spellings: &PathSpellings<'_>) -> Self {
        let mut order = Self::default();
        for index in catalog.indices() {
            let resource = catalog.resource(index);
            if types.ends(resource) {
                continue;
            }
            for claim in types.claims(resource, spellings) {
                if claim.kind == ClaimKind::MountPoint {
                    order.mount_points.insert(claim.key.into_owned(), index);
                } else if claim.holds_paths() {
                    order.directories.insert(claim.key.into_owned(), index);
                }
            }
        }
        order
    }

    fn is_empty(&self) -> bool {
        self.mount_points.is_empty()
    }

    /// Returns what each resource comes after: a path after the file system that it is on, a file system after its
    /// directory and after the file system that the directory is on.
    fn needs(
        &self,
        catalog: &Catalog,
        types: &Types<'_>,
        spellings: &PathSpellings<'_>,
    ) -> Vec<(ResourceIndex, Vec<ResourceIndex>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let needs = |index: ResourceIndex| {
            let resource = catalog.resource(index);
            let is_ordered = resource.autorequire != Some(false);
            let claims = if is_ordered { types.claims(resource, spellings) } else { Vec::new() };
            let needs = claims.iter().flat_map(|claim| match claim.kind {
                ClaimKind::Path => [above(&self.mount_points, &claim.key), None],
                ClaimKind::MountPoint => {
                    let directory = self.directories.get(&*claim.key).copied();
                    let directory = directory.or_else(|| above(&self.directories, &claim.key));
                    [above(&self.mount_points, &claim.key), directory]
                }
                _ => [None, None],
            });
            (index, needs.flatten().collect::<Vec<_>>())
        };
        catalog.indices().map(needs).filter(|(_, needs)| !needs.is_empty()).collect()
    }
}

/// Returns the resource with the nearest path above a path.
pub(crate) fn above(paths: &HashMap<String, ResourceIndex>, path: &str) -> Option<ResourceIndex> {
    let ends = path.rmatch_indices('/').map(|(at, _)| at);
    ends.filter(|at| *at > 0).find_map(|at| paths.get(&path[..at]).copied())
}

impl NeededProviders {
    /// Returns what the resources provide, except those that end something.
    fn of(catalog: &Catalog, types: &Types<'_>, spellings: &PathSpellings<'_>) -> Self {
        let mut providers = Self::default();
        for index in catalog.indices() {
            let resource = catalog.resource(index);
            if types.ends(resource) {
                continue;
            }
            for claim in types.claims(resource, spellings) {
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

    fn find(&self, kind: ClaimKind, key: &str) -> Vec<ResourceIndex> {
        if kind != ClaimKind::Path {
            return self.claimed.get(&(kind, key.to_owned())).cloned().unwrap_or_default();
        }
        at_or_below(&self.paths, key)
    }
}

/// Returns the resources with this path or one below it, among sorted paths.
pub(crate) fn at_or_below(paths: &[(String, ResourceIndex)], path: &str) -> Vec<ResourceIndex> {
    let from = paths.partition_point(|(other, _)| **other < *path);
    let is_in =
        |other: &str| other.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let near = paths[from..].iter().take_while(|(other, _)| other.starts_with(path));
    near.filter(|(other, _)| is_in(other)).map(|(_, index)| *index).collect()
}
