//! Reading the state of a path.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

use super::content::{self, Readable};
use super::regular::{LOOK, open_found, open_linkless_file};
use super::resolve::{PathEntry, ResolvedPath};
use super::{FileError, FileInfo, FileKind, FileStep, HashPolicy, InspectOptions, PathInfo, ReadContent};
use crate::command::Cancellation;

impl HashPolicy {
    /// Returns the length of the longest file that is read; `None` if none is.
    fn max_length(self) -> Option<u64> {
        match self {
            Self::Never => None,
            Self::UpTo(max_length) | Self::Required(max_length) => Some(max_length),
        }
    }
}

pub(super) fn inspect(
    path: &Path,
    options: InspectOptions<'_>,
    cancellation: &Cancellation,
) -> Result<PathInfo, FileError> {
    if let Some(target) = inspect_directly(path, options, cancellation) {
        return Ok(PathInfo { target: Some(target), ..PathInfo::default() });
    }
    let mut resolved = match ResolvedPath::find(path) {
        Ok(resolved) => resolved,
        Err(FileError::ParentMissing(_)) => {
            return Ok(PathInfo { parent_missing: true, ..PathInfo::default() });
        }
        Err(error) => return Err(error),
    };
    let link = resolved.entry.as_ref().is_some_and(PathEntry::is_link);
    if link {
        match ResolvedPath::find_target(path) {
            Ok(Some(behind)) => resolved = behind,
            Ok(None) => return Ok(PathInfo { link, ..PathInfo::default() }),
            Err(FileError::UntrustedLink { owner, .. }) => {
                return Ok(PathInfo { link, untrusted_owner: Some(owner), ..PathInfo::default() });
            }
            Err(error) => return Err(error),
        }
    }
    let target =
        resolved.entry.as_ref().map(|entry| state(&resolved, entry, options, cancellation)).transpose()?;
    Ok(PathInfo { link, target, ..PathInfo::default() })
}

/// Inspects a regular file without links on its path, in few system calls; `None` in every other case.
fn inspect_directly(
    path: &Path,
    options: InspectOptions<'_>,
    cancellation: &Cancellation,
) -> Option<FileInfo> {
    if options.hash == HashPolicy::Never {
        return None;
    }
    let (file, stat) = open_linkless_file(path)?;
    let entry = PathEntry { stat };
    let mut state = file_info(&entry);
    if options.hash.max_length().is_some_and(|max_length| state.size <= max_length) {
        record_content(&mut state, read_regular(file, path, &entry, options, cancellation).ok()?);
    }
    Some(state)
}

/// Returns the state without kind and content.
fn file_info(entry: &PathEntry) -> FileInfo {
    FileInfo {
        kind: FileKind::File,
        mode: entry.mode(),
        uid: entry.stat.st_uid,
        gid: entry.stat.st_gid,
        size: u64::try_from(entry.stat.st_size).unwrap_or_default(),
        sha256: None,
        content: None,
        is_same: false,
    }
}

fn state(
    resolved: &ResolvedPath,
    entry: &PathEntry,
    options: InspectOptions<'_>,
    cancellation: &Cancellation,
) -> Result<FileInfo, FileError> {
    let read = || read_regular(open_regular(resolved, entry)?, &resolved.path, entry, options, cancellation);
    let mut state = file_info(entry);
    match (entry.kind(), entry.kind_with_article()) {
        (FileType::Directory, _) => {
            state.kind = FileKind::Directory { empty: is_empty(&resolved.pin(entry)?) }
        }
        (_, Some(what)) => state.kind = FileKind::Special(what),
        (_, None) => match options.hash {
            HashPolicy::Never => {}
            HashPolicy::UpTo(limit) | HashPolicy::Required(limit) if state.size > limit => {}
            HashPolicy::UpTo(_) => {
                if let Ok(read) = read() {
                    record_content(&mut state, read);
                }
            }
            HashPolicy::Required(_) => record_content(&mut state, read()?),
        },
    }
    Ok(state)
}

/// Records the content. The length is that of the content: the file may have grown since it was inspected.
fn record_content(state: &mut FileInfo, read: Option<ReadContent>) {
    let Some(read) = read else {
        state.is_same = true;
        return;
    };
    state.sha256 = Some(read.sha256);
    state.size = read.size;
    state.content = read.content;
}

/// Reads a regular file. Returns `None` if it is equal to the content that it is compared with.
fn read_regular(
    file: OwnedFd,
    path: &Path,
    entry: &PathEntry,
    options: InspectOptions<'_>,
    cancellation: &Cancellation,
) -> Result<Option<ReadContent>, FileError> {
    let expected = u64::try_from(entry.stat.st_size).ok();
    let compared = options.compare.filter(|bytes| expected == Some(bytes.len() as u64));
    if compared.is_some_and(|bytes| content::is_equal(&file, bytes)) {
        return Ok(None);
    }
    let max_length = options.hash.max_length().unwrap_or_default();
    let source = Readable { file, path, expected, max_length };
    content::read(source, cancellation, options.keep_up_to, |_| Ok(())).map(Some)
}

/// Opens the regular file that was inspected. A file that replaced it is an error.
pub(super) fn open_regular(resolved: &ResolvedPath, entry: &PathEntry) -> Result<OwnedFd, FileError> {
    let open =
        |flags: OFlags| openat(&resolved.parent, &resolved.name, flags | OFlags::NOFOLLOW, Mode::empty());
    let found = open(LOOK).map_err(FileError::at(&resolved.path, FileStep::Read))?;
    let stat = fstat(&found).map_err(FileError::at(&resolved.path, FileStep::Read))?;
    if !entry.is_same_file(&stat) {
        return Err(FileError::Changed(resolved.path.clone()));
    }
    open_found(&found, open).map_err(FileError::at(&resolved.path, FileStep::Read))
}

/// Opens a regular file to copy it. The link rule holds for the last part too: else a user could lead root to
/// a file that only root may read, and see the copy.
pub(super) fn open_source(path: &Path) -> Result<OwnedFd, FileError> {
    open_source_with_length(path).map(|(file, _)| file)
}

/// Opens a regular file as [`open_source`] does, and returns its length as well.
pub(super) fn open_source_with_length(path: &Path) -> Result<(OwnedFd, u64), FileError> {
    let refused = |error: Errno| FileError::step(path, FileStep::Read, error);
    let length = |entry: &PathEntry| u64::try_from(entry.stat.st_size).unwrap_or_default();
    if let Some((file, stat)) = open_linkless_file(path) {
        return Ok((file, length(&PathEntry { stat })));
    }
    if let Ok(found) = open_linkless(path, LOOK) {
        let entry = PathEntry { stat: fstat(&found).map_err(refused)? };
        only_regular(path, entry)?;
        let file = open_found(&found, |flags| open_linkless(path, flags)).map_err(refused)?;
        return Ok((file, length(&entry)));
    }
    let resolved = match ResolvedPath::find_source(path) {
        Err(FileError::ParentMissing(_)) => return Err(refused(Errno::NOENT)),
        Err(FileError::NotADirectory { .. }) => return Err(refused(Errno::NOTDIR)),
        resolved => resolved?,
    };
    let Some(entry) = &resolved.entry else { return Err(refused(Errno::NOENT)) };
    only_regular(path, *entry)?;
    Ok((open_regular(&resolved, entry)?, length(entry)))
}

/// Opens a regular file to compare it. A link as the last part of its path is an error.
pub(super) fn open_unlinked(path: &Path) -> Result<OwnedFd, FileError> {
    if let Some((file, _)) = open_linkless_file(path) {
        return Ok(file);
    }
    let refused = |error: Errno| FileError::step(path, FileStep::Read, error);
    if let Ok(found) = open_linkless(path, LOOK) {
        let stat = fstat(&found).map_err(refused)?;
        only_regular(path, PathEntry { stat })?;
        return open_found(&found, |flags| open_linkless(path, flags)).map_err(refused);
    }
    let resolved = ResolvedPath::find(path)?;
    let Some(entry) = &resolved.entry else { return Err(refused(Errno::NOENT)) };
    only_regular(path, *entry)?;
    open_regular(&resolved, entry)
}

/// Opens a path without a link on the way.
fn open_linkless(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    // Together with `NOFOLLOW`, a descriptor to look at a file would lead to the link itself.
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Opens a regular file to read, under the rules of [`Files::read`](super::Files::read).
pub(super) fn open_file(path: &Path) -> Result<std::fs::File, FileError> {
    open_source(path).map(Into::into)
}

fn only_regular(path: &Path, entry: PathEntry) -> Result<(), FileError> {
    match entry.kind_with_article() {
        None => Ok(()),
        Some(what) => Err(FileError::NotAFile { path: path.to_owned(), what }),
    }
}

/// Returns `true` if a directory is empty; `None` if it can't be read.
fn is_empty(directory: impl AsFd) -> Option<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let readable = openat(directory, ".", flags, Mode::empty()).ok()?;
    let entries = Dir::new(readable).ok()?;
    let mut names = entries.filter(|entry| {
        entry.as_ref().is_ok_and(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
    });
    Some(names.next().is_none())
}
