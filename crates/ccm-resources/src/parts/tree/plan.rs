//! The pure comparison of a tree with what it is to hold.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ccm_engine::ManagedExtent;
use ccm_host::{FileAttributes, TreeEntryKind, walk_order};
use ccm_model::{Failure, MissingPrerequisite};

use super::{DesiredEntry, DesiredKind, FoundEntry, TreeRules, TreeState};
use crate::support::file_failure::mount_point;
use crate::support::values::file_mode::FileMode;

const FILE_MODE: u32 = 0o644;
const PROGRAM_MODE: u32 = 0o755;
const DIRECTORY_MODE: u32 = 0o755;

/// Change of an entry. Entries are named by their positions in the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeChange {
    /// Path relative to the tree.
    pub path: PathBuf,
    pub kind: TreeChangeKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TreeChangeKind {
    MakeDirectory(FileAttributes),
    /// A new file, in place of an old file or link if there is one.
    Write {
        desired: usize,
        old: Option<usize>,
        attributes: FileAttributes,
    },
    MakeLink {
        to: PathBuf,
        old: Option<usize>,
    },
    SetAttributes {
        found: usize,
        attributes: FileAttributes,
    },
    Remove {
        found: usize,
        size: RemovedSize,
    },
}

/// Number and bytes of the files that a removal takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RemovedSize {
    pub files: u64,
    pub bytes: u64,
    /// A directory that holds something is removed with it.
    pub is_tree: bool,
}

/// Returns the changes that the tree at a path needs: what is made or changed, in the order of a walk, then what is
/// removed.
pub(crate) fn changes(root: &Path, rules: &TreeRules, state: &TreeState) -> Result<Vec<TreeChange>, Failure> {
    let planner = Planner { root, rules, state, kept: kept(rules, state) };
    let mut changes = Vec::new();
    let (mut wanted, mut there) = (state.desired.iter().enumerate(), state.found.iter().enumerate());
    let (mut desired, mut found) = (wanted.next(), there.next());
    loop {
        let order = match (desired, found) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((_, desired)), Some((_, found))) => walk_order(&desired.path, &found.entry.path),
        };
        let pair = (desired.filter(|_| order.is_le()), found.filter(|_| order.is_ge()));
        if order.is_le() {
            desired = wanted.next();
        }
        if order.is_ge() {
            found = there.next();
        }
        let change = match pair {
            (Some((at, desired)), found) => planner.desired(at, desired, found)?,
            (None, Some((at, found))) if rules.recurse => planner.other(at, found)?,
            (None, _) => None,
        };
        changes.extend(change);
    }
    if rules.purge {
        if let Some(filler) = &state.managed.filler {
            let message =
                format!("{filler} fills \"{}\", and `purge` would remove what it brings", root.display());
            let hint = "let it fill a directory below this one, or remove `purge`";
            return Err(Failure::conflict(message).of_property("purge").with_hint(hint));
        }
        planner.purge(&mut changes)?;
    }
    Ok(changes)
}

/// Returns the removals of the entries that a tree was to hold, each file before the directories that become empty
/// without it. Other entries and what is in their place are left alone.
pub(crate) fn removals(state: &TreeState) -> Vec<TreeChange> {
    let is_desired: HashSet<(&Path, bool)> = state
        .desired
        .iter()
        .map(|desired| (&*desired.path, desired.kind == DesiredKind::Directory))
        .collect();
    let mut changes = Vec::new();
    let mut kept: HashSet<&Path> = HashSet::new();
    // What is in a directory comes after it.
    for (at, FoundEntry { entry, .. }) in state.found.iter().enumerate().rev() {
        let is_mount = entry.kind == TreeEntryKind::Directory { is_mount: true };
        let is_directory = matches!(entry.kind, TreeEntryKind::Directory { .. });
        let is_special = matches!(entry.kind, TreeEntryKind::Special(_));
        let is_removed = is_desired.contains(&(&*entry.path, is_directory))
            && state.managed.extent(&entry.path).is_none()
            && !(is_mount || is_special || kept.contains(&*entry.path));
        if is_removed {
            let files = u64::from(!is_directory);
            let bytes = if entry.kind == TreeEntryKind::File { entry.size } else { 0 };
            let size = RemovedSize { files, bytes, is_tree: false };
            let kind = TreeChangeKind::Remove { found: at, size };
            changes.push(TreeChange { path: entry.path.clone(), kind });
        } else {
            kept.extend(entry.path.ancestors());
        }
    }
    changes
}

struct Planner<'a> {
    root: &'a Path,
    rules: &'a TreeRules,
    state: &'a TreeState,
    /// Paths that a purge leaves, with all directories above them.
    kept: HashSet<&'a Path>,
}

fn kept<'a>(rules: &TreeRules, state: &'a TreeState) -> HashSet<&'a Path> {
    if !rules.purge {
        return HashSet::new();
    }
    let declared = state.desired.iter().map(|desired| &*desired.path);
    let found = state.found.iter().map(|found| &*found.entry.path);
    above_all(declared.chain(state.managed.paths()).chain(found.filter(|path| rules.ignore.matches(path))))
}

/// Returns paths with all directories above them.
fn above_all<'a>(paths: impl Iterator<Item = &'a Path>) -> HashSet<&'a Path> {
    let mut all = HashSet::new();
    for path in paths {
        // The directories above a known path are known too.
        let _ = path.ancestors().take_while(|above| all.insert(*above)).count();
    }
    all
}

impl Planner<'_> {
    /// Compares an entry of the source with what is at its path.
    fn desired(
        &self,
        at: usize,
        desired: &DesiredEntry,
        found: Option<(usize, &FoundEntry)>,
    ) -> Result<Option<TreeChange>, Failure> {
        let path = &desired.path;
        // What another resource declares is left to it.
        let is_shared = match self.state.managed.extent(path) {
            Some(ManagedExtent::Whole | ManagedExtent::Tree) => return Ok(None),
            Some(ManagedExtent::Attributes) => true,
            Some(ManagedExtent::Existence) | None => false,
        };
        let change = |kind| Ok(Some(TreeChange { path: path.clone(), kind }));
        let attributes = |mode| if is_shared { FileAttributes::default() } else { self.attributes(mode) };
        let Some((position, found)) = found else {
            return match &desired.kind {
                DesiredKind::Directory => change(TreeChangeKind::MakeDirectory(attributes(
                    self.mode(true).or(Some(DIRECTORY_MODE)),
                ))),
                DesiredKind::Link(to) => change(TreeChangeKind::MakeLink { to: to.clone(), old: None }),
                DesiredKind::File { is_executable, .. } => {
                    let new = if *is_executable { PROGRAM_MODE } else { FILE_MODE };
                    let attributes = attributes(self.mode(false).or(Some(new)));
                    change(TreeChangeKind::Write { desired: at, old: None, attributes })
                }
            };
        };
        let old = Some(position);
        match (&desired.kind, &found.entry.kind) {
            (DesiredKind::Directory, TreeEntryKind::Directory { is_mount: true }) => Err(self.mount(path)),
            (DesiredKind::Directory, TreeEntryKind::Directory { .. }) if is_shared => Ok(None),
            (DesiredKind::Directory, TreeEntryKind::Directory { .. }) => {
                Ok(self.set_attributes(position, found))
            }
            (DesiredKind::Directory, _) => Err(self.obstacle(found, "not a directory")),
            (DesiredKind::File { .. }, TreeEntryKind::File) if found.is_same && is_shared => Ok(None),
            (DesiredKind::File { .. }, TreeEntryKind::File) if found.is_same => {
                Ok(self.set_attributes(position, found))
            }
            (DesiredKind::File { is_executable, .. }, TreeEntryKind::File | TreeEntryKind::Link(_)) => {
                let is_link = found.entry.kind != TreeEntryKind::File;
                let new = if *is_executable { PROGRAM_MODE } else { FILE_MODE };
                let mode = self.mode(false).or(is_link.then_some(new));
                let attributes = attributes(mode);
                change(TreeChangeKind::Write { desired: at, old, attributes })
            }
            (DesiredKind::File { .. }, _) => Err(self.obstacle(found, "not a file")),
            (DesiredKind::Link(to), TreeEntryKind::Link(text)) if to == text => Ok(None),
            (DesiredKind::Link(to), TreeEntryKind::Link(_)) => {
                change(TreeChangeKind::MakeLink { to: to.clone(), old })
            }
            (DesiredKind::Link(to), TreeEntryKind::File) if self.rules.force => {
                change(TreeChangeKind::MakeLink { to: to.clone(), old })
            }
            (DesiredKind::Link(_), _) => Err(self.obstacle(found, "not a link")),
        }
    }

    /// Compares the attributes of an entry that the source does not have.
    fn other(&self, at: usize, found: &FoundEntry) -> Result<Option<TreeChange>, Failure> {
        let path = &found.entry.path;
        if self.is_left_alone(path) || self.is_undeclared_and_purged(path) {
            return Ok(None);
        }
        match found.entry.kind {
            TreeEntryKind::Directory { is_mount: true } => Err(self.mount(path)),
            TreeEntryKind::Directory { .. } | TreeEntryKind::File => Ok(self.set_attributes(at, found)),
            TreeEntryKind::Link(_) | TreeEntryKind::Special(_) => Ok(None),
        }
    }

    fn is_left_alone(&self, path: &Path) -> bool {
        self.rules.ignore.matches(path) || self.state.managed.extent(path).is_some()
    }

    /// Returns `true` for an entry that is removed, so that its attributes do not matter.
    fn is_undeclared_and_purged(&self, path: &Path) -> bool {
        self.rules.purge && !self.kept.contains(path) && !self.state.managed.is_kept(path)
    }

    fn mode(&self, is_directory: bool) -> Option<u32> {
        let mode = self.rules.mode?;
        Some(if is_directory { FileMode(mode).for_directory() } else { mode })
    }

    fn attributes(&self, mode: Option<u32>) -> FileAttributes {
        FileAttributes { uid: self.state.uid, gid: self.state.gid, mode }
    }

    fn set_attributes(&self, at: usize, found: &FoundEntry) -> Option<TreeChange> {
        let entry = &found.entry;
        let mode = self.mode(matches!(entry.kind, TreeEntryKind::Directory { .. }));
        let attributes = self.attributes(mode);
        let differs = attributes.uid.is_some_and(|uid| uid != entry.uid)
            || attributes.gid.is_some_and(|gid| gid != entry.gid)
            || mode.is_some_and(|mode| mode != entry.mode);
        differs.then(|| TreeChange {
            path: entry.path.clone(),
            kind: TreeChangeKind::SetAttributes { found: at, attributes },
        })
    }

    /// Adds the removal of every entry that nothing declares.
    fn purge(&self, changes: &mut Vec<TreeChange>) -> Result<(), Failure> {
        let found = &self.state.found;
        let mut at = 0;
        while let Some(FoundEntry { entry, .. }) = found.get(at) {
            let start = at;
            at += 1;
            let managed = &self.state.managed;
            let is_managed = managed.extent(&entry.path).is_some() || managed.is_kept(&entry.path);
            if is_managed || self.kept.contains(&*entry.path) {
                continue;
            }
            let mut size = RemovedSize::default();
            if matches!(entry.kind, TreeEntryKind::Directory { .. }) {
                let inside =
                    found[at..].iter().take_while(|inside| inside.entry.path.starts_with(&entry.path));
                at += inside.count();
                size.is_tree = at > start + 1;
            }
            for FoundEntry { entry: removed, .. } in &found[start..at] {
                match removed.kind {
                    TreeEntryKind::Directory { is_mount: true } => return Err(self.mount(&removed.path)),
                    TreeEntryKind::Directory { .. } => {}
                    TreeEntryKind::File => {
                        size.files += 1;
                        size.bytes += removed.size;
                    }
                    TreeEntryKind::Link(_) | TreeEntryKind::Special(_) => size.files += 1,
                }
            }
            if size.is_tree && !self.rules.force {
                let path = self.root.join(&entry.path);
                let message =
                    format!("the directory \"{}\", which nothing declares, is not empty", path.display());
                let failure = Failure::conflict(message).with_missing(MissingPrerequisite::Path(path));
                return Err(failure.of_property("purge").with_hint(
                    "set `force: true` to remove such directories with their content, or keep it with `ignore`",
                ));
            }
            let kind = TreeChangeKind::Remove { found: start, size };
            changes.push(TreeChange { path: entry.path.clone(), kind });
        }
        Ok(())
    }

    fn mount(&self, path: &Path) -> Failure {
        mount_point(&self.root.join(path))
            .because_of("a tree is managed within one file system")
            .with_hint("keep the mount point with `ignore`")
    }

    fn obstacle(&self, found: &FoundEntry, expected: &str) -> Failure {
        let path = self.root.join(&found.entry.path);
        let what = match &found.entry.kind {
            TreeEntryKind::File => "a file",
            TreeEntryKind::Directory { .. } => "a directory",
            TreeEntryKind::Link(_) => "a symbolic link",
            TreeEntryKind::Special(what) => what,
        };
        let failure = Failure::conflict(format!("\"{}\" is {what}, {expected}", path.display()));
        let hint = match (&found.entry.kind, expected) {
            (TreeEntryKind::File, "not a link") => "set `force: true` to replace files with links",
            _ => "move away what is at this path",
        };
        failure.with_missing(MissingPrerequisite::Path(path)).with_hint(hint)
    }
}

#[cfg(test)]
mod tests;
