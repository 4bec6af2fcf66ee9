//! Writing a file: a temporary file beside it is completed, synced and renamed.

mod many;

use std::borrow::Borrow;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, fsync, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::attributes::{SET_ID, acl_is_kept, inherits, with_own_group};
use super::content::{self, Readable, Writable, sha256};
use super::extended::{self, AttributeError, ExtendedAttributes};
use super::inspect::{open_regular, open_source};
use super::labels::{FileLabel, FileLabels, LabelledKind};
use super::resolve::{PathEntry, ResolvedPath};
use super::{FileAttributes, FileError, FileStep, NewContent, NewFile, names};
use crate::command::Cancellation;

const MODE: u32 = 0o644;

/// Maximum length of a name on nearly every filesystem, in bytes.
const MAX_NAME_LENGTH: usize = 255;

/// End of the name of a temporary file.
const TEMP_ENDING: &str = ".ccm-new";

/// Special bits of the mode. They are set last, so that an incomplete program never runs with them.
const SPECIAL: u32 = 0o7000;

enum ContentSource<'a> {
    Bytes(&'a [u8]),
    File(Readable<'a>),
}

pub(super) use many::write_many;

pub(super) fn write(
    path: &Path,
    new: &NewFile<'_>,
    labels: &FileLabels,
    cancellation: &Cancellation,
) -> Result<String, FileError> {
    let ready = complete(replaceable(path, new.attributes)?, new, labels, cancellation)?;
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

/// Resolves the path of a file that may be replaced.
fn replaceable(path: &Path, attributes: FileAttributes) -> Result<ResolvedPath, FileError> {
    let resolved = ResolvedPath::find(path)?;
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
    let file = File::from(temp.file.try_clone().map_err(unwritten)?);
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
    File::from(temp.file.try_clone().map_err(unwritten)?).write_all(content).map_err(unwritten)?;
    fsync(&temp.file).map_err(at(FileStep::Sync))?;
    temp.rename_into_place(name)
}

/// State of the regular file that is replaced, or of the target of the link that is replaced.
struct OldFile {
    stat: Stat,
    directory_owner: u32,
    extended: ExtendedAttributes,
}

impl OldFile {
    /// Returns the attributes of a new file. As with `chown`, a new owner or group does not get the set-id
    /// bits and capabilities of the old file: its owner could have chosen the program that runs with them.
    fn inherited_by(&mut self, given: FileAttributes) -> FileAttributes {
        let mut mode = PathEntry { stat: self.stat }.mode();
        if changed_owners(&self.stat, given.uid, given.gid) != (None, None) {
            mode &= !SET_ID;
            self.extended.drop_capability();
        }
        let new_owner = given.uid.unwrap_or(self.stat.st_uid);
        if !acl_is_kept(self.stat.st_uid, self.directory_owner, new_owner) {
            self.extended.drop_acl();
        }
        FileAttributes {
            uid: given.uid.or(Some(self.stat.st_uid)),
            gid: given.gid.or(Some(self.stat.st_gid)),
            mode: given.mode.or(Some(mode)),
        }
    }

    fn of(resolved: &ResolvedPath) -> Result<Option<Self>, FileError> {
        let Some(entry) = &resolved.entry else { return Ok(None) };
        match entry.kind() {
            FileType::RegularFile => Self::read(resolved, entry).map(Some),
            // The new file keeps the permissions of the target for users who read through the link.
            FileType::Symlink => match ResolvedPath::find_target(&resolved.path) {
                Ok(Some(behind)) => match &behind.entry {
                    Some(entry) if entry.kind() == FileType::RegularFile => {
                        Self::read(&behind, entry).map(Some)
                    }
                    _ => Ok(None),
                },
                Ok(None) | Err(FileError::UntrustedLink { .. }) => Ok(None),
                Err(error) => Err(error),
            },
            _ => {
                let what = entry.kind_with_article().unwrap_or_default();
                Err(FileError::NotAFile { path: resolved.path.clone(), what })
            }
        }
    }

    fn read(resolved: &ResolvedPath, entry: &PathEntry) -> Result<Self, FileError> {
        let file = open_regular(resolved, entry)?;
        let extended =
            ExtendedAttributes::of(&file).map_err(|refused| attribute_error(&resolved.path, refused))?;
        Ok(Self { stat: entry.stat, directory_owner: resolved.directory_owner()?, extended })
    }
}

/// Temporary file beside the file that it replaces. It is removed with this value unless it was renamed.
struct TempFile<R: Borrow<ResolvedPath>> {
    path: PathBuf,
    resolved: R,
    name: OsString,
    file: OwnedFd,
    in_place: bool,
}

impl<R: Borrow<ResolvedPath>> TempFile<R> {
    fn make(resolved: R) -> Result<Self, FileError> {
        let replaced: &ResolvedPath = resolved.borrow();
        let name = temp_name(&replaced.name);
        let path = replaced.parent_path().join(&name);
        match unlinkat(&replaced.parent, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(leftover(replaced, path, &name, error)),
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        let file = openat(&replaced.parent, &name, flags, Mode::RUSR | Mode::WUSR);
        // Errors name the file that the user knows.
        let file = file.map_err(FileError::at(&replaced.path, FileStep::Content))?;
        Ok(Self { path, resolved, name, file, in_place: false })
    }

    /// Fills the file by a function, which returns the sha256 of the content, and gives the file its attributes. Returns
    /// the sha256 and the size.
    fn fill(
        &self,
        (attributes, label): (FileAttributes, Option<&FileLabel>),
        mut old: Option<OldFile>,
        fill: impl FnOnce() -> Result<String, FileError>,
    ) -> Result<(String, u64), FileError> {
        let resolved: &ResolvedPath = self.resolved.borrow();
        let at = |step| FileError::at(&resolved.path, step);
        let stat = fstat(&self.file).map_err(at(FileStep::Inspect))?;
        let directory = fstat(&resolved.parent).map_err(at(FileStep::Inspect))?;
        let inherits = inherits(&directory, &stat, attributes);
        let desired = match &mut old {
            Some(old) => old.inherited_by(attributes),
            None if inherits => attributes,
            None => with_own_group(attributes),
        };
        let (uid, gid) = changed_owners(&stat, desired.uid, desired.gid);
        if uid.is_some() || gid.is_some() {
            let owner_names = owner_names(&stat, uid, gid);
            let is_given =
                (attributes.uid.is_some() || uid.is_none()) && (attributes.gid.is_some() || gid.is_none());
            let step = if is_given { FileStep::Owner(owner_names) } else { FileStep::KeepOwner(owner_names) };
            fchown(&self.file, uid, gid).map_err(FileError::at(&resolved.path, step))?;
        }
        let refused = |refused| attribute_error(&resolved.path, refused);
        if let Some(old) = &old {
            old.extended.apply(&self.file).map_err(refused)?;
        } else if !inherits {
            extended::remove_acl(&self.file).map_err(refused)?;
        }
        if let Some(label) = label {
            label.set(&self.file);
        }
        let mode = desired.mode.unwrap_or(MODE);
        let plain = fchmod(&self.file, Mode::from_raw_mode(mode & !SPECIAL)).map_err(at(FileStep::Mode));
        // Some filesystems have a fixed mode. That is no error if no mode is desired.
        if desired.mode.is_some() {
            plain?;
        }
        let sha256 = fill()?;
        if mode & SPECIAL != 0 {
            fchmod(&self.file, Mode::from_raw_mode(mode)).map_err(at(FileStep::Mode))?;
        }
        if let Some(old) = &old {
            old.extended.apply_capability(&self.file).map_err(refused)?;
        }
        // The kernel drops special bits that the user may not set, without an error.
        let actual = fstat(&self.file).map_err(at(FileStep::Inspect))?;
        if desired.mode.is_some_and(|mode| mode != actual.st_mode & 0o7777) {
            return Err(FileError::step(&resolved.path, FileStep::Mode, Errno::PERM));
        }
        Ok((sha256, u64::try_from(actual.st_size).unwrap_or_default()))
    }

    fn sync(&self) -> Result<(), FileError> {
        let resolved: &ResolvedPath = self.resolved.borrow();
        fsync(&self.file).map_err(FileError::at(&resolved.path, FileStep::Sync))
    }

    fn content(&self, source: ContentSource<'_>, cancellation: &Cancellation) -> Result<String, FileError> {
        let resolved: &ResolvedPath = self.resolved.borrow();
        let unwritten = |error: io::Error| FileError::step(&resolved.path, FileStep::Content, error);
        let mut file = File::from(self.file.try_clone().map_err(unwritten)?);
        match source {
            ContentSource::Bytes(bytes) => {
                file.write_all(bytes).map_err(unwritten)?;
                Ok(sha256(bytes))
            }
            ContentSource::File(source) => {
                let to = Writable { file, path: &resolved.path };
                Ok(content::read_to(source, &to, cancellation)?.sha256)
            }
        }
    }

    fn rename_into_place(mut self, name: &OsStr) -> Result<(), FileError> {
        let resolved: &ResolvedPath = self.resolved.borrow();
        let directory = resolved.open_parent()?;
        let parent = resolved.parent_path();
        self.rename(name)?;
        sync(&directory, &parent).map_err(FileError::after_change)
    }

    /// Renames the file, and leaves its directory to be synced.
    fn rename(&mut self, name: &OsStr) -> Result<(), FileError> {
        let resolved: &ResolvedPath = self.resolved.borrow();
        renameat(&resolved.parent, &self.name, &resolved.parent, name)
            .map_err(FileError::at(&resolved.path, FileStep::Rename))?;
        self.in_place = true;
        Ok(())
    }
}

impl<R: Borrow<ResolvedPath>> Drop for TempFile<R> {
    fn drop(&mut self) {
        if !self.in_place {
            // The error that led here is the one to report. The next run tries again.
            let _ = unlinkat(&self.resolved.borrow().parent, &self.name, AtFlags::empty());
        }
    }
}

/// New file beside the one that it will replace, filled by the caller. It is removed with this value unless it
/// was moved into place.
pub struct StagedFile {
    temp: TempFile<ResolvedPath>,
    attributes: FileAttributes,
    labels: Arc<FileLabels>,
}

impl StagedFile {
    /// Makes an empty file that only the user who runs ccm can use.
    pub(super) fn make(
        path: &Path,
        attributes: FileAttributes,
        labels: Arc<FileLabels>,
    ) -> Result<Self, FileError> {
        let resolved = replaceable(path, attributes)?;
        // What can't be kept is found before the file is filled.
        OldFile::of(&resolved)?;
        Ok(Self { temp: TempFile::make(resolved)?, attributes, labels })
    }

    /// Opens the file at its beginning, to write or to read.
    pub fn open(&self) -> Result<File, FileError> {
        let target = &self.temp.resolved.path;
        let unreadable = |error: io::Error| FileError::step(target, FileStep::Content, error);
        let mut file = File::from(self.temp.file.try_clone().map_err(unreadable)?);
        file.rewind().map_err(unreadable)?;
        Ok(file)
    }

    /// Reads the file as text, and empties it.
    pub fn take_text(&self) -> Result<String, FileError> {
        let target = &self.temp.resolved.path;
        let unreadable = |error: io::Error| FileError::step(target, FileStep::Content, error);
        let mut file = self.open()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(unreadable)?;
        file.set_len(0).map_err(unreadable)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reads the whole file; `None` if it is longer.
    pub fn content(&self, max_length: u64) -> Result<Option<Vec<u8>>, FileError> {
        let file = self.open()?;
        let path = &self.temp.path;
        let length = file.metadata().map_err(|error| FileError::step(path, FileStep::Read, error))?.len();
        content::read_bounded(file.into(), length, path, max_length)
    }

    /// Path while the file is filled.
    pub fn path(&self) -> &Path {
        &self.temp.path
    }

    /// Gives the file its attributes, syncs it to the disk and moves it into place, in one step.
    pub fn place(self) -> Result<(), FileError> {
        // The old file may have changed in the time that the new one took.
        let resolved = replaceable(&self.temp.resolved.path, self.attributes)?;
        let old = OldFile::of(&resolved)?;
        let label = label_of(&resolved, &self.labels);
        self.temp.fill((self.attributes, label.as_ref()), old, || Ok(String::new()))?;
        self.temp.sync()?;
        let name = self.temp.resolved.name.clone();
        self.temp.rename_into_place(&name)
    }
}

/// Returns the error of a temporary file that can't be removed: it may be a directory, or not exist at all.
pub(super) fn leftover(resolved: &ResolvedPath, path: PathBuf, name: &OsStr, error: Errno) -> FileError {
    match statat(&resolved.parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(_) => FileError::step(&resolved.path, FileStep::Content, error),
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            FileError::NotAFile { path, what: "a directory" }
        }
        Ok(_) => FileError::step(&path, FileStep::Leftover, error),
    }
}

/// Returns `true` if the path is one of a temporary file, which ccm replaces or removes.
pub fn is_temp_path(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
    name.starts_with(b".") && name.ends_with(TEMP_ENDING.as_bytes())
}

/// Returns the temporary path beside a path, which ccm replaces or removes.
pub fn temp_path(path: &Path) -> PathBuf {
    path.with_file_name(temp_name(path.file_name().unwrap_or_default()))
}

/// Returns the name of the temporary file.
pub fn temp_name(name: &OsStr) -> OsString {
    let temp = |name: &OsStr| {
        let mut temp = OsString::from(".");
        temp.push(name);
        temp.push(TEMP_ENDING);
        temp
    };
    match temp(name) {
        // A name that would be too long is replaced by its sha256.
        long if long.len() > MAX_NAME_LENGTH => temp(sha256(name.as_bytes()).as_ref()),
        short => short,
    }
}

/// Removes the temporary file of a killed run. A failure has no consequence but the leftover itself.
pub(super) fn remove_leftover(resolved: &ResolvedPath) {
    let _ = unlinkat(&resolved.parent, temp_name(&resolved.name), AtFlags::empty());
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
