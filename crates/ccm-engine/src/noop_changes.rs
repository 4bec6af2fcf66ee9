//! Changes that noop did not make, one of which may provide a missing prerequisite.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ccm_graph::Graph;
use ccm_model::{Claim, ClaimKind, MissingPrerequisite, PathKind, ResourceIndex};
use ccm_properties::MayProvide;

/// Claims that may provide a user or a group, by name or in digits.
const PRINCIPALS: [ClaimKind; 4] = [ClaimKind::User, ClaimKind::Group, ClaimKind::UserId, ClaimKind::GroupId];

/// The changes so far, in the order of the walk.
#[derive(Default)]
pub(crate) struct NoopChanges {
    changed: Vec<ResourceIndex>,
    /// Changes that a real run makes, and changes that no run makes, because their manifest is in noop.
    indexes: [ChangeIndex; 2],
    /// Directories that would have been made, or exist already.
    pub directories: HashSet<PathBuf>,
    /// What would have been removed, and not made again.
    removed: HashMap<(ClaimKind, String), ResourceIndex>,
}

/// A change that would have been made.
pub(crate) struct NoopChange<'a> {
    /// The manifest of the resource is always in noop.
    pub is_never_made: bool,
    /// What the change may bring beside the claims of the resource.
    pub may_provide: MayProvide,
    /// The change ends what the resource claims.
    pub is_removal: bool,
    pub claims: Vec<Claim<'a>>,
}

/// The change that is most likely to provide what is missing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NearestChange {
    pub resource: ResourceIndex,
    /// The resource claims the missing prerequisite, or the resource that lacks it depends on this one.
    pub is_related: bool,
}

/// Positions of changes in the order of the walk. A later change replaces an earlier one.
#[derive(Default)]
struct ChangeIndex {
    /// Changes by the claims that they provide. Files are entered under their bare names as well.
    claimed: HashMap<(ClaimKind, String), usize>,
    /// The nearest change by each resource that is or requires one, directly or not.
    required: HashMap<ResourceIndex, usize>,
    /// The latest change that may bring anything.
    arbitrary: Option<usize>,
    /// The latest change that may bring files, such as that of a file system.
    files: Option<usize>,
}

impl NoopChanges {
    /// Adds the next resource in the order of the walk, whether it would have changed or not.
    pub(crate) fn push(&mut self, resource: ResourceIndex, change: Option<NoopChange<'_>>, graph: &Graph) {
        for index in &mut self.indexes {
            if let Some(nearest) = index.nearest_required(resource, graph) {
                index.required.insert(resource, nearest);
            }
        }
        let Some(change) = change else { return };
        let position = self.changed.len();
        self.changed.push(resource);
        let index = &mut self.indexes[usize::from(change.is_never_made)];
        index.required.insert(resource, position);
        match change.may_provide {
            MayProvide::Nothing => {}
            MayProvide::Files => index.files = Some(position),
            MayProvide::Anything => index.arbitrary = Some(position),
        }
        for claim in &change.claims {
            let key = (claim.kind, claim.key.clone().into_owned());
            let is_part = claim.kind == ClaimKind::Path && claim.desired != PathKind::Nothing;
            if !change.is_removal {
                self.removed.remove(&key);
            } else if !change.is_never_made && !is_part {
                self.removed.insert(key, resource);
            }
            index.claimed.extend(provided(claim).map(|key| ((claim.kind, key), position)));
            let path = Path::new(&*claim.key);
            if claim.is_path_of(PathKind::Directory) {
                // It is made with the missing directories above it.
                self.directories.extend(path.ancestors().map(Path::to_owned));
            } else if claim.is_path_of(PathKind::Link) {
                self.directories.insert(path.to_owned());
            }
        }
    }

    /// Returns `true` if nothing would have been removed.
    pub(crate) fn has_no_removals(&self) -> bool {
        self.removed.is_empty()
    }

    /// Finds the removal of a user or group that a resource needs, of a directory that one of its paths is in, or of the
    /// file system that a path is on.
    pub(crate) fn removal_of<'n>(
        &self,
        needs: impl IntoIterator<Item = (ClaimKind, &'n str)>,
        claims: &[Claim<'_>],
    ) -> Option<ResourceIndex> {
        let removed = |kind: ClaimKind, key: &str| self.removed.get(&(kind, key.to_owned())).copied();
        let principals = needs.into_iter().filter(|(kind, _)| PRINCIPALS.contains(kind));
        let around = |claim: &Claim<'_>| match claim.kind {
            ClaimKind::Path => {
                let on = self.removed.get(&(ClaimKind::MountPoint, claim.key.clone().into_owned())).copied();
                on.or_else(|| self.removal_above(&claim.key))
            }
            ClaimKind::MountPoint => self.removal_above(&claim.key),
            _ => None,
        };
        principals.filter_map(|(kind, key)| removed(kind, key)).chain(claims.iter().filter_map(around)).next()
    }

    /// Finds the removal of an object that the change of a resource uses, for a path also that of what it is in.
    pub(crate) fn removal_of_used(&self, kind: ClaimKind, key: &str) -> Option<ResourceIndex> {
        let kinds = if kind == ClaimKind::Path { &[kind, ClaimKind::MountPoint][..] } else { &[kind] };
        let itself = kinds.iter().find_map(|kind| self.removed.get(&(*kind, key.to_owned())).copied());
        itself.or_else(|| self.removal_above(key).filter(|_| kind == ClaimKind::Path))
    }

    /// Finds the removal of a directory or file system above a path.
    fn removal_above(&self, path: &str) -> Option<ResourceIndex> {
        let above = Path::new(path).ancestors().skip(1).map(|above| above.to_string_lossy());
        let kinds = [ClaimKind::Path, ClaimKind::MountPoint];
        above
            .flat_map(|above| {
                kinds.map(|kind| self.removed.get(&(kind, above.clone().into_owned())).copied())
            })
            .flatten()
            .next()
    }

    /// Finds the change that may provide a missing prerequisite: the latest that claims it, else the nearest
    /// that the resource requires, else the latest that may bring something like it. `is_never_made` includes changes
    /// that no run makes.
    pub(crate) fn nearest(
        &self,
        of: ResourceIndex,
        missing: &MissingPrerequisite,
        is_never_made: bool,
        graph: &Graph,
    ) -> Option<NearestChange> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (kinds, keys): (&[ClaimKind], Vec<String>) = match missing {
            MissingPrerequisite::Principal(name) => (&PRINCIPALS, vec![name.clone()]),
            MissingPrerequisite::Program(name) | MissingPrerequisite::Unit(name) => {
                (&[ClaimKind::Path], vec![name.clone()])
            }
            MissingPrerequisite::Path(path) => (&[ClaimKind::Path], vec![text(path)]),
            MissingPrerequisite::Package(name) => (&[ClaimKind::Package], vec![name.clone()]),
            MissingPrerequisite::NoHold(name) => (&[ClaimKind::PackageHold], vec![name.clone()]),
            MissingPrerequisite::NoMount(path) => (&[ClaimKind::MountPoint], vec![text(path)]),
            MissingPrerequisite::Writable(path) => {
                (&[ClaimKind::MountPoint], path.ancestors().map(text).collect())
            }
        };
        let indexes = &self.indexes[..=usize::from(is_never_made)];
        // A file system brings what is below its mount point.
        let around: Vec<String> = match missing {
            MissingPrerequisite::Path(path) => path.ancestors().map(text).collect(),
            MissingPrerequisite::Program(name) if name.starts_with('/') => {
                Path::new(name).ancestors().map(text).collect()
            }
            _ => Vec::new(),
        };
        let keys = kinds.iter().flat_map(|kind| keys.iter().map(|key| (*kind, key.clone())));
        let keys = keys.chain(around.into_iter().map(|key| (ClaimKind::MountPoint, key)));
        let claimed = keys
            .flat_map(|key| indexes.iter().filter_map(move |index| index.claimed.get(&key).copied()))
            .max();
        let required = || indexes.iter().filter_map(|index| index.nearest_required(of, graph)).max();
        let related = claimed.or_else(required);
        let is_file = matches!(
            missing,
            MissingPrerequisite::Path(_) | MissingPrerequisite::Program(_) | MissingPrerequisite::Unit(_)
        );
        let files = |index: &ChangeIndex| index.files.filter(|_| is_file);
        let arbitrary = || indexes.iter().filter_map(|index| index.arbitrary.max(files(index))).max();
        let position = related.or_else(arbitrary)?;
        Some(NearestChange { resource: self.changed[position], is_related: related.is_some() })
    }
}

impl ChangeIndex {
    fn nearest_required(&self, of: ResourceIndex, graph: &Graph) -> Option<usize> {
        graph.dependencies(of).filter_map(|on| self.required.get(&on).copied()).max()
    }
}

/// Returns the keys that a change of a claim provides.
fn provided(claim: &Claim<'_>) -> impl Iterator<Item = String> {
    let path = Path::new(&*claim.key);
    let (around, name) = match (claim.kind, claim.desired) {
        // A directory that is emptied can be removed or replaced.
        (ClaimKind::Path, PathKind::Nothing) => (path.parent(), None),
        (ClaimKind::Path, _) => (None, path.file_name()),
        _ => (None, None),
    };
    let around = around.into_iter().flat_map(Path::ancestors).map(Path::as_os_str);
    let others = around.chain(name).map(|key| key.to_string_lossy().into_owned());
    std::iter::once(claim.key.clone().into_owned()).chain(others)
}

#[cfg(test)]
mod tests;
