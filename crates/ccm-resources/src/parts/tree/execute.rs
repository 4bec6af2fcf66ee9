//! Making the changes of a tree.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ccm_engine::Context;
use ccm_host::{
    AfterFailure, ChangedPart, FileAttributes, FileError, Files, InspectOptions, NewContent, NewFile,
    OtherWriters, TreeEntryKind, started_by, uid_of,
};
use ccm_model::Failure;

use super::plan::{TreeChange, TreeChangeKind};
use super::{DesiredKind, EntryContent, TreeState};
use crate::parts::backup::back_up;
use crate::support::file_failure::file_failure;

/// Makes the changes one after the other, each whole or not at all; neighbours that write files are made together. A run
/// that ends between two of them is completed by the next one.
///
/// A directory gets its attributes after what is in it: once it belongs to another user, that user could have moved the
/// files there, and they are not changed any more.
pub(crate) fn apply(
    root: &Path,
    changes: &[TreeChange],
    state: &TreeState,
    backup: bool,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    warn_of_writers(changes, state, context);
    let mut made = 0;
    let mut done = |result: Result<(), Failure>| {
        result.map_err(|failure| Failure { changed: failure.changed || made > 0, ..failure })?;
        made += 1;
        Ok(())
    };
    // New directories that get their owner after what is in them.
    let mut given_last = HashSet::new();
    let mut writes = Vec::new();
    for change in changes.iter().filter(|change| !is_of_directory(change, state)) {
        if let Some(new) = new_file(change, state).filter(|_| !backup) {
            writes.push((root.join(&change.path), new));
            continue;
        }
        write_together(&mut writes, context.host.files).try_for_each(&mut done)?;
        let path = root.join(&change.path);
        if let TreeChangeKind::MakeDirectory(attributes) = &change.kind
            && has_owner(*attributes)
            && can_be_given_later(&path, context)
        {
            let made = context.host.files.make_directory(&path, without_owner(*attributes));
            done(made.map_err(|error| file_failure(&error)))?;
            given_last.insert(&change.path);
            continue;
        }
        done(apply_one(root, change, state, backup, context))?;
    }
    write_together(&mut writes, context.host.files).try_for_each(&mut done)?;
    for change in changes.iter().rev() {
        match &change.kind {
            TreeChangeKind::MakeDirectory(attributes) if given_last.contains(&change.path) => {
                let given =
                    context.host.files.set_attributes(&root.join(&change.path), owner_of(*attributes));
                done(given.map_err(|error| file_failure(&error)))?;
            }
            TreeChangeKind::SetAttributes { .. } if is_of_directory(change, state) => {
                done(apply_one(root, change, state, backup, context))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Warns of a source that somebody else than the new owner can change while it is copied: what was shown might not be what is
/// copied.
fn warn_of_writers(changes: &[TreeChange], state: &TreeState, context: &mut Context<'_>) {
    let source = changes.iter().find_map(|change| {
        let TreeChangeKind::Write { desired, .. } = &change.kind else { return None };
        match &state.desired.get(*desired)?.kind {
            DesiredKind::File { content: EntryContent::Copy { source, .. }, .. } => Some(source),
            _ => None,
        }
    });
    let by = started_by();
    let mut trusted = vec![0, by.uid];
    trusted.extend(state.uid);
    trusted.extend(by.sudo_user.as_deref().and_then(uid_of));
    if let Some((path, writer)) = source.and_then(|source| OtherWriters::than(&trusted).of(source)) {
        context.warn(format!("{writer} can change what is copied from {}", path.display()));
    }
}

/// Returns `true` for new attributes of a directory that is there.
fn is_of_directory(change: &TreeChange, state: &TreeState) -> bool {
    let TreeChangeKind::SetAttributes { found, .. } = &change.kind else { return false };
    let found = state.found.get(*found);
    found.is_some_and(|found| matches!(found.entry.kind, TreeEntryKind::Directory { .. }))
}

fn has_owner(attributes: FileAttributes) -> bool {
    attributes.uid.is_some() || attributes.gid.is_some()
}

/// Returns `true` if a new directory can get its owner once it is filled. In a directory of another user, who could put
/// something else in its place, it gets the owner when it is made.
pub(crate) fn can_be_given_later(path: &Path, context: &Context<'_>) -> bool {
    let own = context.host.system.own_identity().map_or(0, |own| own.uid);
    let parent = path.parent().unwrap_or(Path::new("/"));
    let found = context.host.files.inspect(parent, InspectOptions::default()).ok();
    found.and_then(|found| found.target).is_some_and(|parent| parent.uid == 0 || parent.uid == own)
}

/// Returns the attributes of a new directory that is given away later.
pub(crate) fn without_owner(attributes: FileAttributes) -> FileAttributes {
    FileAttributes { uid: None, gid: None, ..attributes }
}

/// Returns the attributes that a new directory gets once it is filled.
fn owner_of(attributes: FileAttributes) -> FileAttributes {
    FileAttributes { mode: None, ..attributes }
}

fn apply_one(
    root: &Path,
    change: &TreeChange,
    state: &TreeState,
    backup: bool,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let path = root.join(&change.path);
    let files = context.host.files;
    let is_file =
        |at: &usize| state.found.get(*at).is_some_and(|found| found.entry.kind == TreeEntryKind::File);
    let old = match &change.kind {
        TreeChangeKind::Write { old: Some(old), .. }
        | TreeChangeKind::MakeLink { old: Some(old), .. }
        | TreeChangeKind::Remove { found: old, .. } => Some(old),
        _ => None,
    };
    if backup && old.is_some_and(is_file) {
        back_up(&path, context)?;
    }
    let result = match &change.kind {
        TreeChangeKind::MakeDirectory(attributes) => files.make_directory(&path, *attributes),
        TreeChangeKind::Write { .. } => match new_file(change, state) {
            Some(new) => files.write(&path, &new).map(drop),
            None => Ok(()),
        },
        TreeChangeKind::MakeLink { to, old } => files.make_link(&path, to, old.as_ref().is_some_and(is_file)),
        TreeChangeKind::SetAttributes { attributes, .. } => files.set_attributes(&path, *attributes),
        TreeChangeKind::Remove { size, .. } => files.remove(&path, size.is_tree),
    };
    result.map_err(|error| file_failure(&error))
}

/// Returns the file that a change writes.
fn new_file<'s>(change: &TreeChange, state: &'s TreeState) -> Option<NewFile<'s>> {
    let TreeChangeKind::Write { desired, attributes, .. } = &change.kind else { return None };
    let DesiredKind::File { content, .. } = &state.desired.get(*desired)?.kind else { return None };
    let content = match content {
        EntryContent::Copy { source, .. } => NewContent::CopyOf(source),
        EntryContent::Text(text) => NewContent::Bytes(text),
    };
    Some(NewFile { content, attributes: *attributes })
}

/// Writes files together, none after one that fails, and empties the list. Returns the results in their order.
fn write_together(
    writes: &mut Vec<(PathBuf, NewFile<'_>)>,
    files: &dyn Files,
) -> impl Iterator<Item = Result<(), Failure>> + use<> {
    let new: Vec<(&Path, NewFile<'_>)> = writes.iter().map(|(path, new)| (&**path, *new)).collect();
    let written = files.write_many(&new, AfterFailure::Stop);
    writes.clear();
    written.into_iter().map(|written| written.map(drop).map_err(|error| file_failure(&error)))
}

/// Checks before a change that no other user could have prepared an entry whose attributes are to be changed, that no
/// file is a mount point, and that every entry can be changed.
pub(crate) fn check(root: &Path, changes: &[TreeChange], files: &dyn Files) -> Result<(), Failure> {
    for change in changes {
        let path = root.join(&change.path);
        let result = match &change.kind {
            TreeChangeKind::SetAttributes { attributes, .. } => files.check_attributes(&path, *attributes),
            TreeChangeKind::Write { old: Some(_), .. } | TreeChangeKind::Remove { .. } => {
                match files.blocking_mount(&path, true) {
                    Ok(Some(mount)) => Err(FileError::MountPoint(mount)),
                    Ok(None) => Ok(()),
                    Err(error) => Err(error),
                }
            }
            _ => Ok(()),
        };
        let part = match &change.kind {
            TreeChangeKind::SetAttributes { .. } => ChangedPart::Attributes,
            TreeChangeKind::MakeDirectory(_) => ChangedPart::NewDirectory,
            _ => ChangedPart::Entry,
        };
        result.and_then(|()| files.check_writable(&path, part)).map_err(|error| file_failure(&error))?;
    }
    Ok(())
}
