//! Writing a file: a temporary file beside it is completed, synced and renamed.

mod many;
mod old_file;
mod staged;
mod temp_file;

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Gid, Mode, Stat, Uid, fchmod, fsync};
use rustix::io::Errno;

use super::content::{self, Readable, Writable};
use super::extended::AttributeError;
use super::inspect::open_source;
use super::labels::{FileLabel, FileLabels, LabelledKind};
use super::resolve::ResolvedPath;
use super::{FileAttributes, FileError, FileStep, NewContent, NewFile, names};
use crate::command::Cancellation;

pub(super) use many::write_many;
use old_file::OldFile;
pub use staged::StagedFile;
use temp_file::{ContentSource, TempFile};
pub(super) use temp_file::{free_temp_name, remove_leftover};
pub use temp_file::{is_temp_path, temp_name, temp_path};

pub(super) fn write(
    path: &Path,
    new: &NewFile<'_>,
    labels: &FileLabels,
    cancellation: &Cancellation,
) -> Result<String, FileError> {
    let ready = complete(replaceable(ResolvedPath::find(path)?, new.attributes)?, new, labels, cancellation)?;
    ready.temp.sync()?;
    let name = ready.temp.resolved.name.clone();
    ready.temp.rename_into_place(&name)?;
    Ok(ready.sha256)
}

/// New file that is complete beside the one that it will replace, and not yet synced.
struct CompleteFile {
    temp: TempFile<ResolvedPath>,
    sha256: String,
    /// Length of its content.
    size: u64,
}

/// Completes a new file beside the file or link that it will replace.
fn complete(
    resolved: ResolvedPath,
    new: &NewFile<'_>,
    labels: &FileLabels,
    cancellation: &Cancellation,
) -> Result<CompleteFile, FileError> {
    let source = match new.content {
        NewContent::Bytes(bytes) => ContentSource::Bytes(bytes),
        NewContent::CopyOf(source)
        | NewContent::KnownCopyOf { source, .. }
        | NewContent::SignedCopyOf { source, .. } => ContentSource::File(Readable {
            file: open_source(source)?,
            path: source,
            expected: None,
            max_length: u64::MAX,
        }),
    };
    let old = OldFile::of(&resolved)?;
    let label = label_of(&resolved, labels);
    let temp = TempFile::make(resolved)?;
    let fill = || temp.content(source, cancellation);
    let (sha256, size) = temp.fill((new.attributes, label.as_ref()), old, fill)?;
    match new.content {
        NewContent::SignedCopyOf { source, sha256: signed } if signed != sha256 => {
            return Err(FileError::NotAsSigned(source.to_owned()));
        }
        NewContent::KnownCopyOf { source, sha256: known } if known != sha256 => {
            return Err(FileError::Changed(source.to_owned()));
        }
        _ => {}
    }
    Ok(CompleteFile { temp, sha256, size })
}

/// Returns the label of a file that is new at its path. A file keeps its label. The label of a link, or of its target,
/// is not one for a file at this path.
fn label_of(resolved: &ResolvedPath, labels: &FileLabels) -> Option<FileLabel> {
    let is_new = !resolved.entry.as_ref().is_some_and(|entry| entry.kind() == FileType::RegularFile);
    is_new.then(|| labels.of_new(resolved, LabelledKind::File)).flatten()
}

/// Checks that the file at a path may be replaced.
fn replaceable(resolved: ResolvedPath, attributes: FileAttributes) -> Result<ResolvedPath, FileError> {
    if resolved.name.is_empty() {
        return Err(FileError::Root);
    }
    resolved.check_mount_point()?;
    resolved.check_shared_directory(attributes.uid)?;
    Ok(resolved)
}

/// Copies an open file to a new file that only the user who runs ccm can read: until the copy is complete,
/// the temporary file of `resolved`.
pub(super) fn write_private_copy(
    resolved: &ResolvedPath,
    (from, from_path): (OwnedFd, &Path),
    name: &OsStr,
    cancellation: &Cancellation,
) -> Result<(), FileError> {
    let temp = TempFile::make(resolved)?;
    let at = |step| FileError::at(&resolved.path, step);
    fchmod(&temp.file, Mode::RUSR | Mode::WUSR).map_err(at(FileStep::Mode))?;
    let unwritten = |error: io::Error| FileError::step(&resolved.path, FileStep::Content, error);
    let file = temp.file.try_clone().map_err(unwritten)?;
    content::copy(from, from_path, &Writable { file, path: &resolved.path }, cancellation)?;
    fsync(&temp.file).map_err(at(FileStep::Sync))?;
    temp.rename_into_place(name)
}

/// Writes a new file like [`write_private_copy`], from memory.
pub(super) fn write_private(resolved: &ResolvedPath, content: &[u8], name: &OsStr) -> Result<(), FileError> {
    let temp = TempFile::make(resolved)?;
    let at = |step| FileError::at(&resolved.path, step);
    fchmod(&temp.file, Mode::RUSR | Mode::WUSR).map_err(at(FileStep::Mode))?;
    let unwritten = |error: io::Error| FileError::step(&resolved.path, FileStep::Content, error);
    (&temp.file).write_all(content).map_err(unwritten)?;
    fsync(&temp.file).map_err(at(FileStep::Sync))?;
    temp.rename_into_place(name)
}
pub(super) fn sync(directory: &OwnedFd, path: &Path) -> Result<(), FileError> {
    sync_directory(directory).map_err(FileError::at(path, FileStep::Sync))
}

fn sync_directory(directory: &OwnedFd) -> Result<(), Errno> {
    match fsync(directory) {
        // Some filesystems have nothing to sync for a directory.
        Err(Errno::INVAL) => Ok(()),
        synced => synced,
    }
}

/// Returns the owner and the group that have to change: a user who may not change them need not.
pub(super) fn changed_owners(stat: &Stat, uid: Option<u32>, gid: Option<u32>) -> (Option<Uid>, Option<Gid>) {
    let uid = uid.filter(|uid| *uid != stat.st_uid).map(Uid::from_raw);
    (uid, gid.filter(|gid| *gid != stat.st_gid).map(Gid::from_raw))
}

/// Returns the names of the owner and group after the change.
pub(super) fn owner_names(stat: &Stat, uid: Option<Uid>, gid: Option<Gid>) -> String {
    let uid = uid.map_or(stat.st_uid, Uid::as_raw);
    let gid = gid.map_or(stat.st_gid, Gid::as_raw);
    names::owner_names(uid, gid)
}

pub(super) fn attribute_error(path: &Path, (name, error): AttributeError) -> FileError {
    FileError::step(path, FileStep::ExtendedAttributes(name), error)
}
