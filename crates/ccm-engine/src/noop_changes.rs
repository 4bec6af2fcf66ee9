//! Changes that a run in noop would have made, found by what they may provide.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ccm_graph::Graph;
use ccm_model::{Missing, MissingKind, ResourceIndex};

/// The changes so far, in the order of the walk.
///
/// Each is entered under all that it may provide, and the latest replaces an earlier one there: a search looks at the
/// entries for what is missing, not at the changes.
#[derive(Default)]
pub(crate) struct NoopChanges {
    changes: Vec<NoopChange>,
    positions: HashMap<ResourceIndex, usize>,
    /// Latest positions of changes that are made once the run is not in noop.
    latest: HashMap<Provided, usize>,
    /// Latest positions of changes that are never made, because their manifest is in noop.
    latest_never_made: HashMap<Provided, usize>,
}

/// A change that would have been made.
pub(crate) struct NoopChange {
    pub resource: ResourceIndex,
    /// The manifest of the resource is always in noop.
    pub is_never_made: bool,
    /// The kinds of missing things that it may provide.
    pub kinds: Vec<MissingKind>,
    /// The paths that the resource claims. If there are any, it provides nothing elsewhere.
    pub paths: Vec<PathBuf>,
}

/// What a change may provide.
#[derive(PartialEq, Eq, Hash)]
enum Provided {
    /// Anything of a kind.
    Any(MissingKind),
    /// A file of this name, in whatever directory.
    Named(MissingKind, OsString),
    /// Everything at and below a path.
    At(PathBuf),
    /// Something at or below a path.
    Within(PathBuf),
}

/// The change that is most likely to provide what is missing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NearestChange {
    pub resource: ResourceIndex,
    /// The resource that misses something depends on this one, directly or not.
    pub is_required: bool,
}

impl NoopChanges {
    /// Adds the next change in the order of the walk.
    pub(crate) fn push(&mut self, change: NoopChange) {
        let position = self.changes.len();
        let latest = if change.is_never_made { &mut self.latest_never_made } else { &mut self.latest };
        latest.extend(change.provided().map(|provided| (provided, position)));
        self.positions.insert(change.resource, position);
        self.changes.push(change);
    }

    /// Finds the nearest change that a resource depends on and that may provide what it misses, else the latest one.
    /// `is_never_made` counts those in that are never made either.
    pub(crate) fn nearest(
        &self,
        of: ResourceIndex,
        missing: &Missing,
        is_never_made: bool,
        graph: &Graph,
    ) -> Option<NearestChange> {
        let wanted = wanted(missing);
        let latest_in = |latest: &HashMap<Provided, usize>| {
            wanted.iter().filter_map(|provided| latest.get(provided).copied()).max()
        };
        let never_made = latest_in(&self.latest_never_made).filter(|_| is_never_made);
        let latest = latest_in(&self.latest).max(never_made)?;
        let may_provide = |on: ResourceIndex| {
            let position = *self.positions.get(&on)?;
            let change = &self.changes[position];
            ((is_never_made || !change.is_never_made) && change.may_provide(missing)).then_some(position)
        };
        let required = nearest_required(of, latest, graph, &may_provide);
        let resource = self.changes[required.unwrap_or(latest)].resource;
        Some(NearestChange { resource, is_required: required.is_some() })
    }
}

/// The latest position among those of what a resource depends on, directly or not.
fn nearest_required(
    of: ResourceIndex,
    latest: usize,
    graph: &Graph,
    position: &dyn Fn(ResourceIndex) -> Option<usize>,
) -> Option<usize> {
    let mut nearest = None;
    let mut seen = HashSet::from([of]);
    let mut ahead = vec![of];
    while let Some(next) = ahead.pop() {
        for on in graph.dependencies(next) {
            if nearest == Some(latest) {
                return nearest;
            }
            if seen.insert(on) {
                match position(on) {
                    // What this one depends on came before it.
                    Some(position) => nearest = nearest.max(Some(position)),
                    None => ahead.push(on),
                }
            }
        }
    }
    nearest
}

/// What has to be provided for something not to be missing: any of these.
fn wanted(missing: &Missing) -> Vec<Provided> {
    let kind = missing.kind();
    let mut wanted = vec![Provided::Any(kind)];
    wanted.extend(missing.file_names().map(|name| Provided::Named(kind, name.into())));
    if let Missing::Path(path) = missing {
        wanted.extend(path.ancestors().map(|path| Provided::At(path.to_owned())));
        wanted.push(Provided::Within(path.clone()));
    }
    wanted
}

impl NoopChange {
    fn provided(&self) -> impl Iterator<Item = Provided> {
        self.kinds.iter().flat_map(|kind| {
            let anything = self.paths.is_empty().then_some(Provided::Any(*kind));
            anything.into_iter().chain(self.paths.iter().flat_map(|path| provided_at(*kind, path)))
        })
    }

    fn may_provide(&self, missing: &Missing) -> bool {
        self.kinds.contains(&missing.kind())
            && (self.paths.is_empty() || self.paths.iter().any(|path| missing.is_at(path)))
    }
}

/// What a change at a path may provide of a kind.
fn provided_at(kind: MissingKind, path: &Path) -> Vec<Provided> {
    match kind {
        MissingKind::Principal => Vec::new(),
        MissingKind::Path => {
            let within = path.ancestors().map(|path| Provided::Within(path.to_owned()));
            within.chain([Provided::At(path.to_owned())]).collect()
        }
        MissingKind::Program | MissingKind::Unit | MissingKind::UsableUnit => {
            path.file_name().map(|name| Provided::Named(kind, name.to_owned())).into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests;
