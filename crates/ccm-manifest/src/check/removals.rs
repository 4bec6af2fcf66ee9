//! Orders removals: the reverse of the order in which things are made.

use std::collections::HashMap;

use ccm_model::{Catalog, Claim, ClaimKind, PathKind, PathSpellings, ResourceIndex, Sharing};
use ccm_properties::Release;

use crate::check::autorequire::{above, at_or_below};
use crate::read::types::Types;

/// Objects that resources end, by what they claim.
#[derive(Default)]
struct Removals {
    objects: HashMap<(ClaimKind, String), ResourceIndex>,
    by_kind: HashMap<ClaimKind, Vec<ResourceIndex>>,
    paths: RemovedPaths,
    mount_points: RemovedPaths,
}

/// Resources by the path that they end.
#[derive(Default)]
struct RemovedPaths {
    by_path: HashMap<String, ResourceIndex>,
    sorted: Vec<(String, ResourceIndex)>,
}

/// Returns pairs of resources, the second of which comes first, because the first removes what the second uses, or needs to be
/// absent what the second removes.
pub(crate) fn ordered_removals(
    catalog: &Catalog,
    types: &Types<'_>,
    spellings: &PathSpellings<'_>,
) -> Vec<(ResourceIndex, ResourceIndex)> {
    let removals = Removals::of(catalog, types, spellings);
    if removals.is_empty() {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for index in catalog.indices() {
        let resource = catalog.resource(index);
        let Some(spec) = types.find(&resource.id.type_name).map(|found| types.spec(found)) else { continue };
        let is_ended = spec.ends(resource);
        let before = |removals: Vec<ResourceIndex>| removals.into_iter().map(move |removal| (removal, index));
        let after = |removals: Vec<ResourceIndex>| removals.into_iter().map(move |removal| (index, removal));
        for release in spec.releases(resource) {
            pairs.extend(before(match release {
                Release::Object((kind, key)) => removals.of_object(kind, &key, spellings),
                Release::All(kind) => removals.by_kind.get(&kind).cloned().unwrap_or_default(),
            }));
        }
        for (kind, key) in spec.needs_absent(resource) {
            pairs.extend(after(removals.below(kind, &key, spellings)));
        }
        for claim in types.claims(resource, spellings) {
            pairs.extend(before(removals.around(&claim, is_ended)));
            pairs.extend(after(removals.in_the_way_of(&claim, is_ended)));
        }
    }
    pairs.retain(|(from, on)| from != on && catalog.resource(*from).autorequire != Some(false));
    pairs
}

impl Removals {
    fn of(catalog: &Catalog, types: &Types<'_>, spellings: &PathSpellings<'_>) -> Self {
        let mut removals = Self::default();
        for index in catalog.indices() {
            let resource = catalog.resource(index);
            if !types.ends(resource) {
                continue;
            }
            for claim in types.claims(resource, spellings) {
                let key = claim.key.clone().into_owned();
                match claim.kind {
                    ClaimKind::Path if claim.is_path_of(PathKind::Nothing) => {
                        removals.paths.insert(key, index);
                    }
                    ClaimKind::Path => {}
                    ClaimKind::MountPoint => removals.mount_points.insert(key, index),
                    kind => {
                        removals.by_kind.entry(kind).or_default().push(index);
                        removals.objects.insert((kind, key), index);
                    }
                }
            }
        }
        removals.paths.sorted.sort_unstable();
        removals.mount_points.sorted.sort_unstable();
        removals
    }

    fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.paths.by_path.is_empty() && self.mount_points.by_path.is_empty()
    }

    /// Returns the resources that end an object: itself, a path below it, or a directory above it.
    fn of_object(&self, kind: ClaimKind, key: &str, spellings: &PathSpellings<'_>) -> Vec<ResourceIndex> {
        let mut found = self.below(kind, key, spellings);
        if kind == ClaimKind::Path {
            found.extend(self.paths.above(&spellings.canonical(key)));
        }
        found
    }

    /// Returns the resources that end an object, or a path below it.
    fn below(&self, kind: ClaimKind, key: &str, spellings: &PathSpellings<'_>) -> Vec<ResourceIndex> {
        match kind {
            ClaimKind::Path => self.paths.at_or_below(&spellings.canonical(key)),
            _ => self.objects.get(&(kind, key.to_owned())).copied().into_iter().collect(),
        }
    }

    /// Returns the resources that end what a claim that ends is in: the directory above a path, and the file system that a
    /// path or another file system is on.
    fn around(&self, claim: &Claim<'_>, is_ended: bool) -> Vec<ResourceIndex> {
        match claim.kind {
            ClaimKind::Path | ClaimKind::MountPoint if is_ended => {
                let directory = match claim.kind {
                    ClaimKind::MountPoint => {
                        self.paths.by_path.get(&*claim.key).copied().or(self.paths.above(&claim.key))
                    }
                    _ => self.paths.above(&claim.key),
                };
                directory.into_iter().chain(self.mount_points.above(&claim.key)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the resources that end what is in the way of a claim: file systems on a directory that is removed, a file
    /// system that hides what is made below it, and paths in a directory that a file replaces.
    fn in_the_way_of(&self, claim: &Claim<'_>, is_ended: bool) -> Vec<ResourceIndex> {
        let hidden_by = || {
            let here = self.mount_points.by_path.get(&*claim.key).copied();
            here.or(self.mount_points.above(&claim.key)).into_iter().collect::<Vec<_>>()
        };
        match claim.kind {
            ClaimKind::Path if claim.is_path_of(PathKind::Nothing) => {
                self.mount_points.at_or_below(&claim.key)
            }
            ClaimKind::Path if is_ended => Vec::new(),
            ClaimKind::Path => {
                let is_file = claim.desired == PathKind::Other && claim.sharing == Sharing::Exclusive;
                let replaced = if is_file { self.paths.at_or_below(&claim.key) } else { Vec::new() };
                [replaced, hidden_by()].concat()
            }
            ClaimKind::MountPoint if !is_ended => hidden_by(),
            _ => Vec::new(),
        }
    }
}

impl RemovedPaths {
    fn insert(&mut self, path: String, index: ResourceIndex) {
        self.sorted.push((path.clone(), index));
        self.by_path.insert(path, index);
    }

    fn above(&self, path: &str) -> Option<ResourceIndex> {
        above(&self.by_path, path)
    }

    fn at_or_below(&self, path: &str) -> Vec<ResourceIndex> {
        at_or_below(&self.sorted, path)
    }
}
