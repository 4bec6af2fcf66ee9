//! Index of the claims of a run: paths that resources manage or fill, and keys by kind.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use ccm_model::{
    Claim, ClaimKind, Control, PathKind, PathSpellings, Resource, ResourceId, ResourceIndex, Sharing,
};
use ccm_properties::FilledExtent;

use crate::contract::{ManagedExtent, ManagedPath};
use crate::run::Run;

/// Claims of all resources of a run. A lookup of what lies below a directory reads only that part of the index, so
/// that many directories with `purge` in one catalog do not ask every resource again.
pub(crate) struct ClaimIndex<'a> {
    /// Paths in the order of their components, so that everything below a directory follows the directory. Equal
    /// paths are in the order of the resources.
    paths: Vec<IndexedPath<'a>>,
    keys: HashMap<ClaimKind, Vec<(ResourceIndex, Cow<'a, str>)>>,
    /// What resources of the catalog remove.
    removed: Vec<RemovedThing<'a>>,
}

struct RemovedThing<'a> {
    kind: ClaimKind,
    key: Cow<'a, str>,
    index: ResourceIndex,
    resource: &'a Resource,
}

struct IndexedPath<'a> {
    path: Cow<'a, str>,
    extent: ManagedExtent,
    resource: &'a Resource,
    /// Position in the catalog of the run. `None` for a resource of another catalog.
    index: Option<ResourceIndex>,
    /// The resource fills the path without claiming it.
    is_filled: bool,
}

impl IndexedPath<'_> {
    fn path(&self) -> &Path {
        Path::new(&*self.path)
    }

    fn is_of(&self, index: ResourceIndex) -> bool {
        self.index == Some(index)
    }
}

impl<'a> ClaimIndex<'a> {
    /// Builds the index from the catalog of a run, and from those that are applied together with it. Resources that
    /// are not managed on this machine are left out.
    pub(crate) fn new(run: &Run<'a>, spellings: &PathSpellings<'_>) -> Self {
        let mut index = Self { paths: Vec::new(), keys: HashMap::new(), removed: Vec::new() };
        for position in run.catalog.indices() {
            index.add(run, run.catalog.resource(position), Some(position), spellings);
        }
        for resource in run.others.iter().flat_map(|other| &other.resources) {
            index.add(run, resource, None, spellings);
        }
        index.paths.sort_by(|one, other| one.path().cmp(other.path()));
        index
    }

    fn add(
        &mut self,
        run: &Run<'a>,
        resource: &'a Resource,
        index: Option<ResourceIndex>,
        spellings: &PathSpellings<'_>,
    ) {
        if matches!(resource.control, Control::NotManaged { .. }) {
            return;
        }
        let Some(found) = run.resource_type(resource) else { return };
        let is_absent = resource.is_absent();
        for claim in found.claims(resource) {
            if let Some(index) = index.filter(|_| is_absent) {
                let (kind, key) = (claim.kind, claim.key.clone());
                self.removed.push(RemovedThing { kind, key, index, resource });
            }
            if claim.kind == ClaimKind::Path {
                let found = IndexedPath {
                    extent: extent(&claim),
                    path: claim.key,
                    resource,
                    index,
                    is_filled: false,
                };
                self.add_path(found, spellings);
            } else if let Some(index) = index.filter(|_| !is_absent) {
                self.keys.entry(claim.kind).or_default().push((index, claim.key));
            }
        }
        for filled in found.fills(resource) {
            let extent = match filled.extent {
                FilledExtent::Entry => ManagedExtent::Whole,
                FilledExtent::Tree => ManagedExtent::Tree,
                FilledExtent::Place => ManagedExtent::Existence,
            };
            let path = Cow::Borrowed(filled.path);
            self.add_path(IndexedPath { path, extent, resource, index, is_filled: true }, spellings);
        }
    }

    /// Adds a path in all of its spellings: it lies below the directories of each of them.
    fn add_path(&mut self, found: IndexedPath<'a>, spellings: &PathSpellings<'_>) {
        for spelling in spellings.all(&found.path).into_iter().skip(1) {
            let path = Cow::Owned(spelling.into_owned());
            self.paths.push(IndexedPath { path, ..found });
        }
        self.paths.push(found);
    }

    /// Returns the paths below a directory that resources other than this one manage. The directory has its canonical
    /// spelling, here and below.
    pub(crate) fn managed_below(&self, directory: &Path, own: ResourceIndex) -> Vec<ManagedPath> {
        let below = self.at_or_below(directory).filter(|found| !found.is_of(own));
        let relative = below.filter_map(|found| {
            let path = found.path().strip_prefix(directory).ok()?;
            let is_below = path != Path::new("");
            is_below.then(|| ManagedPath { path: path.to_owned(), extent: found.extent })
        });
        relative.collect()
    }

    /// Returns `true` if a resource claims this path.
    pub(crate) fn is_claimed(&self, path: &Path) -> bool {
        let mut same = self.at_or_below(path).take_while(|found| found.path() == path);
        same.any(|found| !found.is_filled)
    }

    /// Returns the first resource other than this one that fills this directory itself.
    pub(crate) fn filler_of(&self, directory: &Path, own: ResourceIndex) -> Option<&'a ResourceId> {
        let mut same = self.at_or_below(directory).take_while(|found| found.path() == directory);
        let is_filler = |found: &&IndexedPath<'_>| {
            found.is_filled && found.extent == ManagedExtent::Tree && !found.is_of(own)
        };
        same.find(is_filler).map(|found| &found.resource.id)
    }

    /// Returns the keys of a kind that resources of the catalog other than this one claim. Resources that are to be
    /// absent are left out.
    pub(crate) fn keys(&self, kind: ClaimKind, own: ResourceIndex) -> impl Iterator<Item = &str> {
        let of_kind = self.keys.get(&kind).into_iter().flatten();
        of_kind.filter(move |(index, _)| *index != own).map(|(_, key)| &**key)
    }

    /// Returns `true` if a resource other than this one removes a thing.
    pub(crate) fn is_removed(&self, kind: ClaimKind, key: &str, own: ResourceIndex) -> bool {
        self.removed.iter().any(|thing| thing.index != own && thing.kind == kind && thing.key == key)
    }

    /// Returns `true` if a resource that has an edge to this one, or from it, removes a thing of a kind.
    pub(crate) fn is_removed_beside(&self, kind: ClaimKind, own: ResourceIndex, resource: &Resource) -> bool {
        let has_edge = |of: &Resource, to: ResourceIndex| {
            of.require.iter().chain(&of.subscribe).any(|dependency| dependency.on == to)
        };
        self.removed.iter().filter(|thing| thing.kind == kind).any(|thing| {
            thing.index != own && (has_edge(thing.resource, own) || has_edge(resource, thing.index))
        })
    }

    fn at_or_below<'i>(&'i self, directory: &'i Path) -> impl Iterator<Item = &'i IndexedPath<'a>> {
        let start = self.paths.partition_point(|found| found.path() < directory);
        self.paths[start..].iter().take_while(move |found| found.path().starts_with(directory))
    }
}

/// Returns the part of the path that a claim covers.
fn extent(claim: &Claim<'_>) -> ManagedExtent {
    match (claim.sharing, claim.desired) {
        (Sharing::Exclusive, PathKind::Directory | PathKind::Link) => ManagedExtent::Tree,
        (Sharing::Shared, PathKind::Other) => ManagedExtent::Attributes,
        _ => ManagedExtent::Whole,
    }
}
