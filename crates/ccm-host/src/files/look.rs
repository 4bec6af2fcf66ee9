//! The state of a path.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2, statat};
use rustix::io::Errno;

use super::content::{self, Readable};
use super::walk::{Entry, Place};
use super::{FileError, FileInfo, FileKind, Hash, Look, PathInfo, ReadContent, Step};
use crate::command::Cancellation;

/// Opening to read: never a link, and without waiting for the other end of a pipe.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Reads the state of a path.
pub(super) fn look(path: &Path, look: Look<'_>, cancellation: &Cancellation) -> Result<PathInfo, FileError> {
    if let Some(target) = directly(path, look, cancellation) {
        return Ok(PathInfo { target: Some(target), ..PathInfo::default() });
    }
    let mut place = match Place::find(path) {
        Ok(place) => place,
        Err(FileError::ParentMissing(_)) => {
            return Ok(PathInfo { parent_missing: true, ..PathInfo::default() });
        }
        Err(error) => return Err(error),
    };
    let link = place.entry.as_ref().is_some_and(Entry::is_link);
    if link {
        match Place::find_behind_link(path) {
            Ok(Some(behind)) => place = behind,
            Ok(None) => return Ok(PathInfo { link, ..PathInfo::default() }),
            Err(FileError::UntrustedLink { owner, .. }) => {
                return Ok(PathInfo { link, untrusted_owner: Some(owner), ..PathInfo::default() });
            }
            Err(error) => return Err(error),
        }
    }
    let target = place.entry.as_ref().map(|entry| state(&place, entry, look, cancellation)).transpose()?;
    Ok(PathInfo { link, target, ..PathInfo::default() })
}

/// Reads a regular file that no link leads to, in as few calls as that takes. Whatever else is there, or keeps it
/// from being read, the long way finds out.
fn directly(path: &Path, look: Look<'_>, cancellation: &Cancellation) -> Option<FileInfo> {
    if look.hash == Hash::Never {
        return None;
    }
    // Only what is a regular file is opened: a device or a pipe would notice.
    let named = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| Entry { stat })?;
    if named.kind() != FileType::RegularFile {
        return None;
    }
    let file = openat2(CWD, path, READ, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let entry = fstat(&file).ok().filter(|stat| named.is(stat)).map(|stat| Entry { stat })?;
    let mut state = described(&entry);
    if !matches!(look.hash, Hash::UpTo(limit) if state.size > limit) {
        remember(&mut state, read_regular(file, path, &entry, look, cancellation).ok()?);
    }
    Some(state)
}

/// What is known of a thing without looking into it.
fn described(entry: &Entry) -> FileInfo {
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
    place: &Place,
    entry: &Entry,
    look: Look<'_>,
    cancellation: &Cancellation,
) -> Result<FileInfo, FileError> {
    let read = || read_regular(open_regular(place, entry)?, &place.path, entry, look, cancellation);
    let mut state = described(entry);
    match (entry.kind(), entry.what()) {
        (FileType::Directory, _) => state.kind = FileKind::Directory { empty: is_empty(&place.hold(entry)?) },
        (_, Some(what)) => state.kind = FileKind::Special(what),
        (_, None) => match look.hash {
            Hash::Never => {}
            Hash::UpTo(limit) if state.size > limit => {}
            Hash::UpTo(_) => {
                if let Ok(read) = read() {
                    remember(&mut state, read);
                }
            }
            Hash::Always => remember(&mut state, read()?),
        },
    }
    Ok(state)
}

/// The length is that of what was read: the file may have grown since it was looked at.
fn remember(state: &mut FileInfo, read: Option<ReadContent>) {
    let Some(read) = read else {
        state.is_same = true;
        return;
    };
    state.sha256 = Some(read.sha256);
    state.size = read.size;
    state.content = read.content;
}

/// Reads a file, or finds that it holds what it is compared with.
fn read_regular(
    file: OwnedFd,
    path: &Path,
    entry: &Entry,
    look: Look<'_>,
    cancellation: &Cancellation,
) -> Result<Option<ReadContent>, FileError> {
    let expected = u64::try_from(entry.stat.st_size).ok();
    let compared = look.compare.filter(|bytes| expected == Some(bytes.len() as u64));
    if compared.is_some_and(|bytes| content::is(&file, bytes)) {
        return Ok(None);
    }
    content::read(Readable { file, path, expected }, cancellation, look.keep_up_to, |_| Ok(())).map(Some)
}

/// Opens a regular file that was found there, and none that took its place.
pub(super) fn open_regular(place: &Place, entry: &Entry) -> Result<OwnedFd, FileError> {
    let descriptor = openat(&place.parent, &place.name, READ, Mode::empty());
    let descriptor = descriptor.map_err(FileError::at(&place.path, Step::Read))?;
    let stat = fstat(&descriptor).map_err(FileError::at(&place.path, Step::Read))?;
    if !entry.is(&stat) {
        return Err(FileError::Changed(place.path.clone()));
    }
    Ok(descriptor)
}

/// Opens a regular file that is to be copied. Links are followed by the rule for those among parents: who leads
/// root to a file that only root may read would get to see it.
pub(super) fn open_source(path: &Path) -> Result<OwnedFd, FileError> {
    let refused = |error: Errno| FileError::step(path, Step::Read, error);
    if let Ok(file) = openat2(CWD, path, READ, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        let stat = fstat(&file).map_err(refused)?;
        return only_regular(path, Entry { stat }).map(|()| file);
    }
    let place = match Place::find_source(path) {
        Err(FileError::ParentMissing(_)) => return Err(refused(Errno::NOENT)),
        Err(FileError::NotADirectory { .. }) => return Err(refused(Errno::NOTDIR)),
        place => place?,
    };
    let Some(entry) = &place.entry else { return Err(refused(Errno::NOENT)) };
    only_regular(path, *entry)?;
    open_regular(&place, entry)
}

fn only_regular(path: &Path, entry: Entry) -> Result<(), FileError> {
    match entry.what() {
        None => Ok(()),
        Some(what) => Err(FileError::InTheWay { path: path.to_owned(), what }),
    }
}

/// Tells whether a directory is empty, if it can be read.
fn is_empty(directory: impl AsFd) -> Option<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let readable = openat(directory, ".", flags, Mode::empty()).ok()?;
    let entries = Dir::new(readable).ok()?;
    let mut names = entries.filter(|entry| {
        entry.as_ref().is_ok_and(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
    });
    Some(names.next().is_none())
}
