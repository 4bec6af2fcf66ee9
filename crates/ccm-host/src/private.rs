//! Private directories of commands, each removed once its command has ended.
//!
//! A private directory is `ccm-private-NUMBER` in the directory for temporary files. It belongs to the user
//! who runs ccm, and holds `work` for the command. ccm keeps a lock on it; one without a lock was
//! left by a killed run.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{
    Access, AtFlags, CWD, Dir, FileType, FlockOperation, Gid, Mode, OFlags, Stat, Uid, accessat, fchmod,
    fchown, flock, fstat, mkdirat, openat, stat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::account::Identity;
use crate::command::{CancellationLevel, CancellationSource};
use crate::files::remove_all_in;
use crate::random;

const PREFIX: &str = "ccm-private-";
const WORK: &str = "work";
/// Maximum time to remove one: processes that a command left running could fill it for ever.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(10);
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Other users may pass through the outer directory to `work`, if they know its name, but not list it.
const OUTER: Mode = Mode::RWXU.union(Mode::XGRP).union(Mode::XOTH);
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Directory for temporary files that can hold no private directory.
#[derive(Debug, thiserror::Error)]
#[error("{path:?}, the directory for temporary files (TMPDIR), can't be used")]
struct TemporaryFilesError {
    path: PathBuf,
    source: io::Error,
}

impl TemporaryFilesError {
    /// Returns an error of the same kind that names the directory.
    fn of(path: &Path, source: impl Into<io::Error>) -> io::Error {
        let source = source.into();
        io::Error::new(source.kind(), Self { path: path.to_owned(), source })
    }
}

/// Private directory of a command. It is removed with this value, at the latest.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
    /// `None` once it is removed, and for the fake of a test.
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    parent: OwnedFd,
    name: OsString,
    outer: OwnedFd,
}

impl PrivateDirectory {
    /// Makes a directory that only that user can enter; `None` is the user who runs ccm.
    pub(crate) fn make(owner: Option<&Identity>) -> io::Result<Self> {
        let parent = parent()?;
        let failed = |error: Errno| TemporaryFilesError::of(&parent, error);
        let directory = openat(CWD, &parent, DIRECTORY, Mode::empty()).map_err(failed)?;
        loop {
            let name = OsString::from(format!("{PREFIX}{:032x}", random()));
            mkdirat(&directory, &name, OUTER).map_err(failed)?;
            // From here on it is removed, even if the rest fails. Until the lock is held, another run may
            // remove it as a leftover of a killed run.
            let outer = match openat(&directory, &name, DIRECTORY, Mode::empty()) {
                Ok(outer) => outer,
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            };
            let is_locked = flock(&outer, FlockOperation::NonBlockingLockExclusive).is_ok();
            if !is_locked || !is_at(&directory, &name, &outer)? {
                continue;
            }
            let path = parent.join(&name).join(WORK);
            let made = Self { path, held: Some(Held { parent: directory, name, outer }) };
            made.make_work(owner)?;
            return Ok(made);
        }
    }

    fn make_work(&self, owner: Option<&Identity>) -> io::Result<()> {
        let Some(held) = &self.held else { return Ok(()) };
        mkdirat(&held.outer, WORK, Mode::RWXU)?;
        if let Some(owner) = owner {
            let work = openat(&held.outer, WORK, DIRECTORY, Mode::empty())?;
            fchown(&work, Some(Uid::from_raw(owner.uid)), Some(Gid::from_raw(owner.gid)))?;
        }
        Ok(())
    }

    /// Lets a group read what lies in the directory. Its files may be read by everybody who comes that far.
    pub fn show_to_group(&self, gid: u32) -> io::Result<()> {
        let Some(held) = &self.held else { return Ok(()) };
        let work = openat(&held.outer, WORK, DIRECTORY, Mode::empty())?;
        fchown(&work, None, Some(Gid::from_raw(gid)))?;
        Ok(fchmod(&work, Mode::RWXU | Mode::RGRP | Mode::XGRP)?)
    }

    /// Returns the directory that holds private directories; an error if none can be made in it.
    pub(crate) fn parent() -> io::Result<PathBuf> {
        let parent = parent()?;
        accessat(CWD, &parent, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
            .map_err(|error| TemporaryFilesError::of(&parent, error))?;
        Ok(parent)
    }

    /// Returns a value for a directory that does not exist.
    #[doc(hidden)]
    pub fn fake(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), held: None }
    }

    /// Returns the absolute path, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directory with everything in it.
    pub fn remove(mut self) -> io::Result<()> {
        self.held.take().map_or(Ok(()), |held| held.remove())
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // An error can't be reported here. The next run tries again.
        let _best_effort = self.held.take().map(|held| held.remove());
    }
}

impl Held {
    fn remove(&self) -> io::Result<()> {
        remove(&self.parent, &self.name, &self.outer)
    }
}

/// Returns an unused path in the directory for temporary files, whose name begins with a prefix.
pub fn new_temporary_path(prefix: &str) -> io::Result<PathBuf> {
    Ok(PrivateDirectory::parent()?.join(format!("{prefix}{:032x}", random())))
}

/// Removes private directories that killed runs of this user have left, as far as possible.
pub fn remove_private_leftovers() {
    let Ok(parent) = parent() else { return };
    let Ok(parent) = openat(CWD, parent, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else { return };
    let Ok(entries) = Dir::read_from(&parent) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_bytes().starts_with(PREFIX.as_bytes()))
    {
        let name = OsString::from(std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()));
        let Ok(outer) = openat(&parent, &name, DIRECTORY, Mode::empty()) else { continue };
        let ours =
            |found: Stat| found.st_uid == geteuid().as_raw() && found.st_mode & WRITABLE_BY_OTHERS == 0;
        let is_leftover = fstat(&outer).is_ok_and(ours)
            && flock(&outer, FlockOperation::NonBlockingLockExclusive).is_ok()
            && is_at(&parent, &name, &outer).unwrap_or(false);
        if is_leftover {
            let _next_time = remove(&parent, &name, &outer);
        }
    }
}

/// Returns the directory that holds private directories, without links.
fn parent() -> io::Result<PathBuf> {
    parent_for(&std::env::temp_dir())
}

/// Returns the path of a directory for temporary files without links; that of `/tmp`, if another user could
/// exchange a private directory in the named one.
fn parent_for(named: &Path) -> io::Result<PathBuf> {
    let path = named.canonicalize().map_err(|error| TemporaryFilesError::of(named, error))?;
    if path.ancestors().all(keeps_entries) { Ok(path) } else { Path::new("/tmp").canonicalize() }
}

/// Returns `true` if no third user can rename entries of root or of the user who runs ccm in a directory.
fn keeps_entries(directory: &Path) -> bool {
    stat(directory).is_ok_and(|found| keeps_entries_with(&found))
}

/// Returns what [`keeps_entries`] returns for a directory with this owner and mode.
pub(crate) fn keeps_entries_with(found: &Stat) -> bool {
    let is_trusted = found.st_uid == 0 || found.st_uid == geteuid().as_raw();
    let is_sticky = Mode::from_raw_mode(found.st_mode).contains(Mode::SVTX);
    is_trusted && (is_sticky || found.st_mode & WRITABLE_BY_OTHERS == 0)
}

fn is_at(parent: &OwnedFd, name: &OsString, directory: &OwnedFd) -> io::Result<bool> {
    let held = fstat(directory)?;
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok((found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn remove(parent: &OwnedFd, name: &OsString, outer: &OwnedFd) -> io::Result<()> {
    remove_within(REMOVE_TIMEOUT, parent, name, outer)
}

fn remove_within(timeout: Duration, parent: &OwnedFd, name: &OsString, outer: &OwnedFd) -> io::Result<()> {
    let until = Instant::now() + timeout;
    let (source, cancellation) = CancellationSource::new();
    let before = |directory: &OwnedFd| {
        open_up(directory);
        if Instant::now() >= until {
            source.raise(CancellationLevel::Stop);
        }
    };
    let refused = |error| match cancellation.level() {
        CancellationLevel::Go => io::Error::other(error),
        _ => io::Error::new(io::ErrorKind::TimedOut, "new files keep appearing in the directory"),
    };
    match openat(outer, WORK, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
        Ok(work) => {
            if FileType::from_raw_mode(fstat(&work)?.st_mode) == FileType::Directory {
                open_up(&work);
                let work = openat(outer, WORK, DIRECTORY, Mode::empty())?;
                let path = Path::new(name).join(WORK);
                remove_all_in(work, &path, &cancellation, &before).map_err(refused)?;
            }
            unlinkat(outer, WORK, AtFlags::REMOVEDIR)?;
        }
        Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

/// Allows the owner to use a directory: a command may have removed its own permissions to keep it.
fn open_up(directory: &OwnedFd) {
    // Root needs no permission. A directory of another user is an error of the next step.
    if !geteuid().is_root() {
        // The path of the descriptor leads to the directory that was opened, whatever has its name now.
        let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
        let _next_step_fails = rustix::fs::chmod(path, Mode::RWXU);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt};

    use super::*;

    #[test]
    fn directory_is_private_and_removed_with_everything_in_it() {
        let made = PrivateDirectory::make(None).expect("a directory");
        let path = made.path().to_owned();
        let found = path.metadata().expect("it is there");
        assert_eq!((found.mode() & 0o7777, found.uid()), (0o700, geteuid().as_raw()));
        let closed = path.join("deep/er");
        std::fs::create_dir_all(&closed).expect("directories");
        std::fs::write(closed.join("file"), "x").expect("a file");
        std::os::unix::fs::symlink("/etc", path.join("link")).expect("a link");
        for closed in [&closed, closed.parent().expect("a parent"), &path] {
            std::fs::set_permissions(closed, PermissionsExt::from_mode(0o0)).expect("closed");
        }
        made.remove().expect("removed");
        assert!(!path.parent().expect("a parent").exists());
        assert!(Path::new("/etc").exists());
    }

    #[test]
    fn directory_that_does_not_become_empty_in_time_is_kept() {
        let made = PrivateDirectory::make(None).expect("a directory");
        std::fs::create_dir(made.path().join("deep")).expect("a directory");
        std::fs::write(made.path().join("deep/file"), "x").expect("a file");
        let held = made.held.as_ref().expect("it is held");
        let error =
            remove_within(Duration::ZERO, &held.parent, &held.name, &held.outer).expect_err("too late");
        assert_eq!(error.to_string(), "new files keep appearing in the directory");
        made.remove().expect("in time");
    }

    #[test]
    fn directory_is_removed_when_it_is_dropped() {
        let path = PrivateDirectory::make(None).expect("a directory").path().to_owned();
        assert!(!path.parent().expect("a parent").exists());
    }

    #[test]
    fn directory_in_which_others_can_rename_is_not_used() {
        let place = tempfile::tempdir_in("/tmp").expect("a directory");
        let at = |name: &str| place.path().canonicalize().expect("it").join(name);
        for (name, mode) in
            [("own", 0o700), ("open", 0o777), ("group", 0o770), ("sticky", 0o1777), ("strangers", 0o1777)]
        {
            std::fs::create_dir_all(at(name).join("below")).expect("directories");
            std::fs::set_permissions(at(name), PermissionsExt::from_mode(mode)).expect("a mode");
        }
        std::os::unix::fs::symlink(at("own"), at("link")).expect("a link");
        if geteuid().is_root() {
            std::os::unix::fs::chown(at("strangers"), Some(54_321), None).expect("another owner");
        }
        let root_only = geteuid().is_root().then_some("/tmp");
        for (name, expected) in [
            ("own", None),
            ("own/below", None),
            ("sticky", None),
            ("sticky/below", None),
            ("open", Some("/tmp")),
            ("open/below", Some("/tmp")),
            ("group", Some("/tmp")),
            ("strangers", root_only),
            ("strangers/below", root_only),
        ] {
            let expected = expected.map_or_else(|| at(name), PathBuf::from);
            assert_eq!(parent_for(&at(name)).expect("a directory"), expected, "{name}");
        }
        assert_eq!(parent_for(&at("link")).expect("a directory"), at("own"));
        assert!(parent_for(&at("missing")).is_err());
    }

    #[test]
    fn leftover_is_removed_and_directory_in_use_is_kept() {
        let used = PrivateDirectory::make(None).expect("a directory");
        // Renamed when it is complete: another test may clean up at any moment.
        let number = random();
        let made = parent().expect("a directory").join(format!("ccm-test-{number:032x}"));
        std::fs::DirBuilder::new().mode(0o711).create(&made).expect("a directory");
        std::fs::create_dir_all(made.join("work/deep")).expect("a directory");
        let left = made.with_file_name(format!("{PREFIX}{number:032x}"));
        std::fs::rename(&made, &left).expect("it is left");
        remove_private_leftovers();
        // A run beside this test may remove it.
        ccm_testkit::wait_until("it is removed", || !left.exists());
        assert!(used.path().exists());
    }
}
