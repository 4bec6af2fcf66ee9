//! Reading the state of a tree.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ccm_engine::{Context, ManagedExtent, ManagedPath};
use ccm_host::{Files, NewContent, TreeEntry, TreeEntryKind, WalkStep, walk_order};
use ccm_model::Failure;

use super::{DesiredEntry, DesiredKind, EntryContent, FoundEntry, PathsOfOthers, TreeRules};
use crate::parts::path_walk::real_path;
use crate::parts::ssh_keys::key_file::key_files_of_others;
use crate::support::file_failure::file_failure;

/// Returns the paths in a tree that other resources manage, and those that ccm needs itself.
pub(crate) fn managed(root: &Path, rules: &TreeRules, context: &Context<'_>) -> PathsOfOthers {
    let files = context.host.files;
    let real_root = real_path(root, files);
    let inside = |path: &Path, extent| {
        let path = real_path(path, files).strip_prefix(&real_root).ok()?.to_owned();
        (path != Path::new("")).then_some(ManagedPath { path, extent })
    };
    let own = context.state_directory.and_then(|state| inside(state, ManagedExtent::Tree));
    // Homes are only known on the machine.
    let key_files = if rules.purge { key_files_of_others(context) } else { Vec::new() };
    let keys = key_files.iter().filter_map(|path| inside(path, ManagedExtent::Whole));
    let managed = PathsOfOthers::new(context.managed_below(root).into_iter().chain(own).chain(keys));
    PathsOfOthers { filler: context.filler_of(root), ..managed }
}

/// Reads what a tree holds, as far as it matters. Content is only compared.
pub(crate) fn read(
    root: &Path,
    rules: &TreeRules,
    desired: &[DesiredEntry],
    managed: &PathsOfOthers,
    files: &dyn Files,
) -> Result<Vec<FoundEntry>, Failure> {
    let reads_all = rules.recurse || rules.purge;
    let paths: HashSet<&Path> =
        if reads_all { HashSet::new() } else { desired.iter().map(|desired| &*desired.path).collect() };
    let step = |path: &Path, is_directory: bool| match () {
        () if !reads_all && !paths.contains(path) => WalkStep::Skip,
        () if is_directory && managed.extent(path) == Some(ManagedExtent::Tree) => WalkStep::List,
        () if is_directory && !rules.recurse && managed.is_kept(path) => WalkStep::List,
        () if rules.ignore.matches(path) => WalkStep::List,
        () => WalkStep::Enter,
    };
    let entries = files.walk(root, &step).map_err(|error| file_failure(&error))?.unwrap_or_default();
    let mut found = Vec::with_capacity(entries.len());
    let mut ahead = desired.iter().peekable();
    for entry in entries {
        while ahead.next_if(|desired| walk_order(&desired.path, &entry.path) == Ordering::Less).is_some() {}
        let content = ahead.peek().filter(|desired| desired.path == entry.path).and_then(|desired| {
            match &desired.kind {
                DesiredKind::File { content, .. } => Some(content),
                DesiredKind::Directory | DesiredKind::Link(_) => None,
            }
        });
        let is_same = match content.filter(|_| entry.kind == TreeEntryKind::File) {
            Some(content) => is_same(root, &entry, content, files)?,
            None => false,
        };
        found.push(FoundEntry { entry, is_same });
    }
    Ok(found)
}

fn is_same(
    root: &Path,
    entry: &TreeEntry,
    content: &EntryContent,
    files: &dyn Files,
) -> Result<bool, Failure> {
    if entry.size != content.size() {
        return Ok(false);
    }
    let path: PathBuf = root.join(&entry.path);
    let content = match content {
        EntryContent::Copy { source, .. } => NewContent::CopyOf(source),
        EntryContent::Text(text) => NewContent::Bytes(text),
    };
    files.has_content(&path, entry.size, content).map_err(|error| file_failure(&error))
}
