//! Writing a file: a new one beside it, complete and safe on the disk, then put in its place.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, Stat, Uid, chmodat, chownat, fchmod, fchown, fstat, fsync,
    openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::content::{self, Readable, sha256};
use super::extended::{self, Extended, Refused};
use super::look::{open_regular, open_source};
use super::walk::{Entry, Place};
use super::{Attributes, FileError, NewContent, NewFile, Step, names};
use crate::command::Cancellation;

/// What a new file may be used for unless it is said otherwise.
const MODE: u32 = 0o644;

/// As long as a name can be on nearly every filesystem, in bytes.
const LONGEST_NAME: usize = 255;

/// The bits that lend somebody's rights: set last, so that no half of a program ever has them.
const SPECIAL: u32 = 0o7000;

/// Where the content of a new file comes from.
enum Filling<'a> {
    Bytes(&'a [u8]),
    File(Readable<'a>),
}

/// Puts a file in the place of what is there.
pub(super) fn write(
    path: &Path,
    new: &NewFile<'_>,
    cancellation: &Cancellation,
) -> Result<String, FileError> {
    let filling = match new.content {
        NewContent::Bytes(bytes) => Filling::Bytes(bytes),
        NewContent::CopyOf(source) => {
            Filling::File(Readable { file: open_source(source)?, path: source, expected: None })
        }
    };
    put(path, filling, new.attributes, cancellation)
}

/// The same with content that may be open already.
fn put(
    path: &Path,
    filling: Filling<'_>,
    attributes: Attributes,
    cancellation: &Cancellation,
) -> Result<String, FileError> {
    let place = Place::find(path)?;
    if place.name.is_empty() {
        return Err(FileError::Root);
    }
    place.refuse_mount_point()?;
    let old = Old::of(&place)?;
    let beside = Beside::make(&place)?;
    let sha256 = beside.fill(filling, attributes, old.as_ref(), cancellation)?;
    beside.put_in_place(&place, &place.name)?;
    Ok(sha256)
}

/// Makes a new file with content that is open, for nobody else. It is called `name`, given the sha256 of the content;
/// until then `place` says where it is.
pub(super) fn keep(
    place: &Place,
    content: Readable<'_>,
    name: impl FnOnce(&str) -> OsString,
    cancellation: &Cancellation,
) -> Result<OsString, FileError> {
    let beside = Beside::make(place)?;
    let private = Attributes { mode: Some(0o600), ..Attributes::default() };
    let name = name(&beside.fill(Filling::File(content), private, None, cancellation)?);
    beside.put_in_place(place, &name)?;
    Ok(name)
}

/// The file that is replaced: what the path leads to, if that is a regular file.
struct Old {
    attributes: Attributes,
    extended: Extended,
}

impl Old {
    fn of(place: &Place) -> Result<Option<Self>, FileError> {
        let Some(entry) = &place.entry else { return Ok(None) };
        match entry.kind() {
            FileType::RegularFile => Self::read(place, entry).map(Some),
            // Who read through the link sees a file with the same rights afterwards.
            FileType::Symlink => match Place::find_behind_link(&place.path) {
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
                let what = entry.what().unwrap_or_default();
                Err(FileError::InTheWay { path: place.path.clone(), what })
            }
        }
    }

    fn read(place: &Place, entry: &Entry) -> Result<Self, FileError> {
        let file = open_regular(place, entry)?;
        let extended = Extended::of(&file).map_err(|refused| unkept(&place.path, refused))?;
        let (uid, gid) = (Some(entry.stat.st_uid), Some(entry.stat.st_gid));
        Ok(Self { attributes: Attributes { uid, gid, mode: Some(entry.mode()) }, extended })
    }
}

/// The new file beside its place; it goes with this value unless it was put there.
struct Beside<'p> {
    path: PathBuf,
    /// The path of that place.
    target: &'p Path,
    name: OsString,
    parent: &'p OwnedFd,
    file: OwnedFd,
    in_place: bool,
}

impl<'p> Beside<'p> {
    fn make(place: &'p Place) -> Result<Self, FileError> {
        let name = name_beside(&place.name);
        let path = place.parent_path().join(&name);
        match unlinkat(&place.parent, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(leftover(place, path, &name, error)),
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = openat(&place.parent, &name, flags, Mode::RUSR | Mode::WUSR);
        let file = file.map_err(FileError::at(&path, Step::Create))?;
        Ok(Self { path, target: &place.path, name, parent: &place.parent, file, in_place: false })
    }

    fn fill(
        &self,
        filling: Filling<'_>,
        attributes: Attributes,
        old: Option<&Old>,
        cancellation: &Cancellation,
    ) -> Result<String, FileError> {
        let at = |step| FileError::at(&self.path, step);
        let found = old.map(|old| old.attributes).unwrap_or_default();
        let (uid, gid) = (attributes.uid.or(found.uid), attributes.gid.or(found.gid));
        let stat = fstat(&self.file).map_err(at(Step::Look))?;
        let (uid, gid) = differing(&stat, uid, gid);
        if uid.is_some() || gid.is_some() {
            let owners = owners(&stat, uid, gid);
            let asked =
                (attributes.uid.is_some() || uid.is_none()) && (attributes.gid.is_some() || gid.is_none());
            let step = if asked { Step::Owner(owners) } else { Step::KeepOwner(owners) };
            fchown(&self.file, uid, gid).map_err(FileError::at(self.target, step))?;
        }
        if let Some(old) = old {
            old.extended.give(&self.file).map_err(|refused| unkept(&self.path, refused))?;
        }
        let asked = attributes.mode.or(found.mode);
        let mode = asked.unwrap_or(MODE);
        let plain = fchmod(&self.file, Mode::from_raw_mode(mode & !SPECIAL)).map_err(at(Step::Mode));
        // On a filesystem that has modes of its own, a file for which none was asked has that.
        if asked.is_some() {
            plain?;
        }
        let sha256 = self.content(filling, cancellation)?;
        if mode & SPECIAL != 0 {
            fchmod(&self.file, Mode::from_raw_mode(mode)).map_err(at(Step::Mode))?;
        }
        if let Some(old) = old {
            old.extended.give_capability(&self.file).map_err(|refused| unkept(&self.path, refused))?;
        }
        // A kernel may take the special bits away without a word from who has no right to them.
        let given = fstat(&self.file).map_err(at(Step::Look))?.st_mode & 0o7777;
        if asked.is_some_and(|asked| asked != given) {
            return Err(FileError::step(&self.path, Step::Mode, Errno::PERM));
        }
        fsync(&self.file).map_err(at(Step::Sync))?;
        Ok(sha256)
    }

    fn content(&self, filling: Filling<'_>, cancellation: &Cancellation) -> Result<String, FileError> {
        let unwritten = |error: io::Error| FileError::step(&self.path, Step::Content, error);
        let mut file = File::from(self.file.try_clone().map_err(unwritten)?);
        match filling {
            Filling::Bytes(bytes) => {
                file.write_all(bytes).map_err(unwritten)?;
                Ok(sha256(bytes))
            }
            Filling::File(source) => {
                let each = |piece: &[u8]| file.write_all(piece).map_err(unwritten);
                Ok(content::read(source, cancellation, 0, each)?.sha256)
            }
        }
    }

    fn put_in_place(mut self, place: &Place, name: &OsStr) -> Result<(), FileError> {
        let directory = place.open_parent()?;
        renameat(&place.parent, &self.name, &place.parent, name)
            .map_err(FileError::at(&place.path, Step::Rename))?;
        self.in_place = true;
        sync(&directory, &place.parent_path()).map_err(FileError::after_change)
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        if !self.in_place {
            // The error that led here is the one to tell; the next run removes what could not be.
            let _ = unlinkat(self.parent, &self.name, AtFlags::empty());
        }
    }
}

/// Finds out whether a leftover is there, which may be something else, or no name can be removed and made.
fn leftover(place: &Place, path: PathBuf, name: &OsStr, error: Errno) -> FileError {
    match statat(&place.parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(_) => FileError::step(&path, Step::Create, error),
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            FileError::InTheWay { path, what: "a directory" }
        }
        Ok(_) => FileError::step(&path, Step::Leftover, error),
    }
}

/// What the new file is called until it is in its place.
fn name_beside(name: &OsStr) -> OsString {
    let beside = |name: &OsStr| {
        let mut beside = OsString::from(".");
        beside.push(name);
        beside.push(".ccm-new");
        beside
    };
    match beside(name) {
        // What would be too long for a name is told apart by its sha256.
        long if long.len() > LONGEST_NAME => beside(sha256(name.as_bytes()).as_ref()),
        short => short,
    }
}

/// Removes what a killed run left beside a place that is changed. If that fails nothing is lost but tidiness.
pub(super) fn tidy(place: &Place) {
    let _ = unlinkat(&place.parent, name_beside(&place.name), AtFlags::empty());
}

/// Waits until what was done in a directory is safe on the disk.
pub(super) fn sync(directory: &OwnedFd, path: &Path) -> Result<(), FileError> {
    match fsync(directory) {
        // Some filesystems have nothing to sync for a directory.
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(FileError::step(path, Step::Sync, error)),
    }
}

/// Changes owner, group and mode of what is at the path.
pub(super) fn set_attributes(path: &Path, attributes: Attributes) -> Result<(), FileError> {
    let place = Place::find(path)?;
    let entry = place.entry.as_ref().ok_or_else(|| FileError::step(path, Step::Look, Errno::NOENT))?;
    if entry.is_link() {
        return Err(FileError::IsLink(path.to_owned()));
    }
    give(place.hold(entry)?.as_fd(), path, attributes)?;
    tidy(&place);
    Ok(())
}

/// Gives something its attributes through a descriptor that only names it. What is not said it keeps.
pub(super) fn give(named: BorrowedFd<'_>, path: &Path, attributes: Attributes) -> Result<(), FileError> {
    let stat = fstat(named).map_err(FileError::at(path, Step::Look))?;
    let (uid, gid) = differing(&stat, attributes.uid, attributes.gid);
    // No call changes mode and capabilities through a descriptor that only names a file, but this path leads
    // there.
    let descriptor = format!("/proc/self/fd/{}", named.as_raw_fd());
    if uid.is_none() && gid.is_none() {
        return attributes.mode.map_or(Ok(()), |mode| give_mode(named, &descriptor, path, mode));
    }
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    let capability = if is_file { extended::capability(&descriptor) } else { Ok(None) };
    let capability = capability.map_err(|refused| unkept(path, refused))?;
    let step = Step::Owner(owners(&stat, uid, gid));
    chownat(named, "", uid, gid, AtFlags::EMPTY_PATH).map_err(FileError::at(path, step))?;
    // A new owner costs a file the bits and capabilities that lend rights.
    let mode = attributes.mode.unwrap_or(stat.st_mode & 0o7777);
    give_mode(named, &descriptor, path, mode).map_err(FileError::after_change)?;
    let Some(capability) = capability else { return Ok(()) };
    extended::give_capability(&descriptor, &capability)
        .map_err(|refused| unkept(path, refused).after_change())
}

fn give_mode(named: BorrowedFd<'_>, descriptor: &str, path: &Path, mode: u32) -> Result<(), FileError> {
    let has_it = || {
        let stat = fstat(named).map_err(FileError::at(path, Step::Mode))?;
        Ok(stat.st_mode & 0o7777 == mode)
    };
    if has_it()? {
        return Ok(());
    }
    chmodat(CWD, descriptor, Mode::from_raw_mode(mode), AtFlags::empty())
        .map_err(FileError::at(path, Step::Mode))?;
    // The kernel drops the set-group-id bit, without a word, for a group that the user is not in.
    let dropped = || FileError::step(path, Step::Mode, Errno::PERM).after_change();
    if has_it()? { Ok(()) } else { Err(dropped()) }
}

/// What of an owner and a group is not so already; who may not change it need not.
fn differing(stat: &Stat, uid: Option<u32>, gid: Option<u32>) -> (Option<Uid>, Option<Gid>) {
    let uid = uid.filter(|uid| *uid != stat.st_uid).map(Uid::from_raw);
    (uid, gid.filter(|gid| *gid != stat.st_gid).map(Gid::from_raw))
}

/// The names of the owner and group that something would have.
fn owners(stat: &Stat, uid: Option<Uid>, gid: Option<Gid>) -> String {
    let uid = uid.map_or(stat.st_uid, Uid::as_raw);
    let gid = gid.map_or(stat.st_gid, Gid::as_raw);
    names::owners(uid, gid)
}

fn unkept(path: &Path, (name, error): Refused) -> FileError {
    FileError::step(path, Step::Extended(name), error)
}
