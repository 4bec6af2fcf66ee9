//! Temporary files beside those that they replace.

use std::borrow::Borrow;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ccm_model::hexadecimal;
use rustix::fs::{AtFlags, Mode, OFlags, fchmod, fchown, fstat, fsync, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::super::attributes::{inherits, with_own_group};
use super::super::content::{self, Readable, Writable, sha256};
use super::super::extended;
use super::super::labels::FileLabel;
use super::super::resolve::ResolvedPath;
use super::old_file::OldFile;
use super::{FileAttributes, FileError, FileStep, attribute_error, changed_owners, owner_names, sync};
use crate::command::Cancellation;
use crate::environment::random_secret;

const MODE: u32 = 0o644;

/// Maximum length of a name on nearly every filesystem, in bytes.
const MAX_NAME_LENGTH: usize = 255;

/// End of the name of a temporary file.
const TEMP_ENDING: &str = ".ccm-new";

/// Special bits of the mode. They are set last, so that an incomplete program never runs with them.
const SPECIAL: u32 = 0o7000;

pub(super) enum ContentSource<'a> {
    Bytes(&'a [u8]),
    File(Readable<'a>),
}
/// Temporary file beside the file that it replaces. It is removed with this value unless it was renamed.
pub(super) struct TempFile<R: Borrow<ResolvedPath>> {
    pub(super) path: PathBuf,
    pub(super) resolved: R,
    name: OsString,
    pub(super) file: File,
    in_place: bool,
}

impl<R: Borrow<ResolvedPath>> TempFile<R> {
    pub(super) fn make(resolved: R) -> Result<Self, FileError> {
        let replaced: &ResolvedPath = resolved.borrow();
        let mut name = temp_name(&replaced.name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        let open = |name: &OsStr| openat(&replaced.parent, name, flags, Mode::RUSR | Mode::WUSR);
        let opened = match open(&name) {
            Err(Errno::EXIST) => {
                name = free_temp_name(&replaced.parent, &replaced.name);
                open(&name)
            }
            opened => opened,
        };
        let path = replaced.parent_path().join(&name);
        // Errors name the file that the user knows.
        let file = opened.map_err(FileError::at(&replaced.path, FileStep::Content))?;
        Ok(Self { path, resolved, name, file: file.into(), in_place: false })
    }

    /// Fills the file by a function, which returns the sha256 of the content, and gives the file its attributes. Returns
    /// the sha256 and the size.
    pub(super) fn fill(
        &self,
        (attributes, label): (FileAttributes, Option<&FileLabel>),
        mut old: Option<OldFile>,
        fill: impl FnOnce() -> Result<String, FileError>,
    ) -> Result<(String, u64), FileError> {
        let resolved: &ResolvedPath = self.resolved.borrow();
        let at = |step| FileError::at(&resolved.path, step);
        let stat = fstat(&self.file).map_err(at(FileStep::Inspect))?;
        let inherits = inherits(resolved.parent_stat()?, &stat, attributes);
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

    pub(super) fn sync(&self) -> Result<(), FileError> {
        let resolved: &ResolvedPath = self.resolved.borrow();
        fsync(&self.file).map_err(FileError::at(&resolved.path, FileStep::Sync))
    }

    pub(super) fn content(
        &self,
        source: ContentSource<'_>,
        cancellation: &Cancellation,
    ) -> Result<String, FileError> {
        let resolved: &ResolvedPath = self.resolved.borrow();
        let unwritten = |error: io::Error| FileError::step(&resolved.path, FileStep::Content, error);
        match source {
            ContentSource::Bytes(bytes) => {
                (&self.file).write_all(bytes).map_err(unwritten)?;
                Ok(sha256(bytes))
            }
            ContentSource::File(source) => {
                let file = self.file.try_clone().map_err(unwritten)?;
                let to = Writable { file, path: &resolved.path };
                Ok(content::read_to(source, &to, cancellation)?.sha256)
            }
        }
    }

    pub(super) fn rename_into_place(mut self, name: &OsStr) -> Result<(), FileError> {
        let resolved: &ResolvedPath = self.resolved.borrow();
        let directory = resolved.open_parent()?;
        let parent = resolved.parent_path();
        self.rename(name)?;
        sync(&directory, &parent).map_err(FileError::after_change)
    }

    /// Renames the file, and leaves its directory to be synced.
    pub(super) fn rename(&mut self, name: &OsStr) -> Result<(), FileError> {
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
/// Removes what a killed run has left, and returns the name of the temporary file. Where something else stands there, such as a
/// directory that a stranger has made, the name is one that nobody can foresee.
pub(in super::super) fn free_temp_name(directory: impl AsFd, name: &OsStr) -> OsString {
    let usual = temp_name(name);
    match unlinkat(directory, &usual, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => usual,
        Err(_) => {
            let unforeseen = random_secret::<8>().map(|bytes| hexadecimal(&bytes)).unwrap_or_default();
            let mut name = name.to_owned();
            name.push(".");
            name.push(unforeseen);
            temp_name(&name)
        }
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
pub(in super::super) fn remove_leftover(resolved: &ResolvedPath) {
    let _ = unlinkat(&resolved.parent, temp_name(&resolved.name), AtFlags::empty());
}
