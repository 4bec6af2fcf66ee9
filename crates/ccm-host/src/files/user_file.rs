//! Files in the home directory of a user, such as `.ssh/authorized_keys`.
//!
//! The user owns every directory on the way, and could replace each by a link at any time. A file is therefore read and
//! written with the rights of the user, and no link below the home directory is followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, fchmod, fstat, fsync, mkdirat, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::labels::{FileLabels, LabelledKind};
use super::resolve::{self, ResolvedPath};
use super::write::{free_temp_name, sync};
use super::{FileError, FileStep};
use crate::account::{Identity, seeing_as};

/// Permissions that nobody but the owner may have.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// File in a directory of the home directory of a user.
#[derive(Clone, Copy, Debug)]
pub struct UserFile<'a> {
    /// User, with whose rights the file is read and written.
    pub identity: &'a Identity,
    /// Home directory, which links may lead to.
    pub home: &'a Path,
    /// Name of the directory, such as `.ssh`.
    pub directory: &'a str,
    /// Name of the file.
    pub name: &'a str,
}

impl UserFile<'_> {
    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        self.directory_path().join(self.name)
    }

    fn directory_path(&self) -> PathBuf {
        self.home.join(self.directory)
    }
}

/// Content of a [`UserFile`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFileContent {
    /// The bytes.
    pub content: Vec<u8>,
    /// `true` if file and directory belong to the user, and nobody else may write them.
    pub is_private: bool,
}

pub(super) fn unsupported(file: UserFile<'_>) -> FileError {
    FileError::step(&file.path(), FileStep::Read, io::Error::from(io::ErrorKind::Unsupported))
}

pub(super) fn read(file: UserFile<'_>, limit: u64) -> Result<Option<UserFileContent>, FileError> {
    as_user(file, FileStep::Read, || {
        let path = file.path();
        let Some(directory) = open_directory(file)? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = match openat(&directory, file.name, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(FileError::IsLink(path)),
            Err(error) => return Err(FileError::step(&path, FileStep::Read, error)),
        };
        let stat = fstat(&opened).map_err(FileError::at(&path, FileStep::Inspect))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(FileError::NotAFile { path, what: "no regular file" });
        }
        let unread = |error: io::Error| FileError::step(&path, FileStep::Read, error);
        let mut content = Vec::new();
        File::from(opened).take(limit.saturating_add(1)).read_to_end(&mut content).map_err(unread)?;
        if content.len() as u64 > limit {
            return Err(unread(io::ErrorKind::FileTooLarge.into()));
        }
        let above = fstat(&directory).map_err(FileError::at(&path, FileStep::Inspect))?;
        let is_private = [&stat, &above].into_iter().all(|stat| is_private(stat, file.identity));
        Ok(Some(UserFileContent { content, is_private }))
    })
}

pub(super) fn write(file: UserFile<'_>, content: &[u8], labels: &FileLabels) -> Result<(), FileError> {
    as_user(file, FileStep::Create, || {
        let path = file.path();
        let directory = match open_directory(file)? {
            Some(directory) => directory,
            None => make_directory(file, labels)?,
        };
        let above = fstat(&directory).map_err(FileError::at(&path, FileStep::Inspect))?;
        if above.st_uid == file.identity.uid && above.st_mode & WRITABLE_BY_OTHERS != 0 {
            let mode = Mode::from_raw_mode(above.st_mode & 0o7777 & !WRITABLE_BY_OTHERS);
            let directory_path = file.directory_path();
            fchmod(&directory, mode).map_err(FileError::at(&directory_path, FileStep::Mode))?;
        }
        replace(&directory, file, content)
    })
}

/// Writes a file beside the old one and renames it.
fn replace(directory: &OwnedFd, file: UserFile<'_>, content: &[u8]) -> Result<(), FileError> {
    let path = file.path();
    let temp = free_temp_name(directory, OsStr::new(file.name));
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
    let made = openat(directory, &temp, flags, Mode::RUSR | Mode::WUSR)
        .map_err(FileError::at(&path, FileStep::Content))?;
    let written = fill(made, &path, content).and_then(|()| {
        renameat(directory, &temp, directory, file.name).map_err(FileError::at(&path, FileStep::Rename))
    });
    if written.is_err() {
        // The error that led here is the one to report.
        let _ = unlinkat(directory, &temp, AtFlags::empty());
    }
    written?;
    sync(directory, &file.directory_path()).map_err(FileError::after_change)
}

fn fill(made: OwnedFd, path: &Path, content: &[u8]) -> Result<(), FileError> {
    fchmod(&made, Mode::RUSR | Mode::WUSR).map_err(FileError::at(path, FileStep::Mode))?;
    let mut made = File::from(made);
    made.write_all(content).map_err(|error| FileError::step(path, FileStep::Content, error))?;
    fsync(&made).map_err(FileError::at(path, FileStep::Sync))
}

/// Opens the home directory. Its path follows links of root and of the user alone.
fn open_home(file: UserFile<'_>) -> Result<OwnedFd, FileError> {
    let home = resolve::canonical(file.home).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::ParentMissing(file.home.to_owned()),
        _ => FileError::step(file.home, FileStep::Inspect, error),
    })?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, &home, flags, Mode::empty()).or_else(|error| match error {
        // A directory that its user may enter, but not list.
        Errno::ACCESS => openat(CWD, &home, flags | OFlags::PATH, Mode::empty())
            .map_err(FileError::at(file.home, FileStep::Inspect)),
        error => Err(FileError::step(file.home, FileStep::Inspect, error)),
    })
}

/// Opens the directory of the file; `None` if it does not exist.
fn open_directory(file: UserFile<'_>) -> Result<Option<OwnedFd>, FileError> {
    let home = open_home(file)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let path = file.directory_path();
    match openat(&home, file.directory, flags, Mode::empty()) {
        Ok(directory) => Ok(Some(directory)),
        Err(Errno::NOENT) => Ok(None),
        // A link is no directory either.
        Err(Errno::LOOP | Errno::NOTDIR) => match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => Err(FileError::IsLink(path)),
            _ => Err(FileError::NotADirectory { path: file.path(), part: path }),
        },
        Err(error) => Err(FileError::step(&path, FileStep::Inspect, error)),
    }
}

fn make_directory(file: UserFile<'_>, labels: &FileLabels) -> Result<OwnedFd, FileError> {
    let home = open_home(file)?;
    let path = file.directory_path();
    mkdirat(&home, file.directory, Mode::RWXU).map_err(FileError::at(&path, FileStep::Create))?;
    let made = open_directory(file)?.ok_or_else(|| FileError::Changed(path.clone()))?;
    fchmod(&made, Mode::RWXU).map_err(FileError::at(&path, FileStep::Mode))?;
    if let Some(label) =
        ResolvedPath::find(&path).ok().and_then(|resolved| labels.of_new(&resolved, LabelledKind::Directory))
    {
        label.set_on_named(made.as_fd());
    }
    Ok(made)
}

fn is_private(stat: &Stat, identity: &Identity) -> bool {
    stat.st_uid == identity.uid && stat.st_mode & WRITABLE_BY_OTHERS == 0
}

/// Runs a function with the rights of the user.
fn as_user<T: Send>(
    file: UserFile<'_>,
    step: FileStep,
    run: impl FnOnce() -> Result<T, FileError> + Send,
) -> Result<T, FileError> {
    if file.identity.uid == geteuid().as_raw() {
        return run();
    }
    match seeing_as(file.identity, run) {
        Ok(result) => result,
        Err(error) => Err(FileError::step(&file.path(), step, error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use ccm_testkit::{Scratch, needs_root};

    use super::*;
    use crate::command::Cancellation;
    use crate::files::{Files as _, SystemFiles};

    fn file<'a>(identity: &'a Identity, home: &'a Path) -> UserFile<'a> {
        UserFile { identity, home, directory: ".ssh", name: "authorized_keys" }
    }

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().expect("a file").permissions().mode() & 0o7777
    }

    #[test]
    fn file_and_directory_are_made_for_the_user_alone() {
        let scratch = Scratch::new();
        let (files, own) = (SystemFiles::new(Cancellation::never()), Identity::own().expect("an identity"));
        let keys = file(&own, scratch.path());
        assert_eq!(files.read_user_file(keys, 10).expect("a state"), None);
        files.write_user_file(keys, b"one").expect("a file");
        assert_eq!((mode(&scratch.path().join(".ssh")), mode(&keys.path())), (0o700, 0o600));
        let expected = UserFileContent { content: b"one".to_vec(), is_private: true };
        assert_eq!(files.read_user_file(keys, 10).expect("a state"), Some(expected));
        assert!(files.read_user_file(keys, 2).is_err());
    }

    #[test]
    fn permissions_of_others_are_found_and_taken_away() {
        let scratch = Scratch::new();
        let (files, own) = (SystemFiles::new(Cancellation::never()), Identity::own().expect("an identity"));
        let keys = file(&own, scratch.path());
        files.write_user_file(keys, b"one").expect("a file");
        let open = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
        };
        open(&scratch.path().join(".ssh"), 0o775);
        assert!(!files.read_user_file(keys, 10).expect("a state").expect("a file").is_private);
        files.write_user_file(keys, b"two").expect("a file");
        assert_eq!(mode(&scratch.path().join(".ssh")), 0o755);
        open(&keys.path(), 0o664);
        assert!(!files.read_user_file(keys, 10).expect("a state").expect("a file").is_private);
    }

    #[test]
    fn no_link_below_the_home_directory_is_followed() {
        let scratch = Scratch::new();
        let (files, own) = (SystemFiles::new(Cancellation::never()), Identity::own().expect("an identity"));
        scratch.write("elsewhere/authorized_keys", "secret");
        let home = scratch.path().join("home");
        std::fs::create_dir(&home).expect("a directory");
        symlink("../elsewhere", home.join(".ssh")).expect("a link");
        let keys = file(&own, &home);
        let is_link = |error: FileError| matches!(error, FileError::IsLink(_));
        assert!(is_link(files.read_user_file(keys, 10).expect_err("a link")));
        assert!(is_link(files.write_user_file(keys, b"mine").expect_err("a link")));
        std::fs::remove_file(home.join(".ssh")).expect("no link");
        std::fs::create_dir(home.join(".ssh")).expect("a directory");
        symlink("../../elsewhere/authorized_keys", keys.path()).expect("a link");
        assert!(is_link(files.read_user_file(keys, 10).expect_err("a link")));
        // A link in place of the file is replaced, and its target stays as it is.
        files.write_user_file(keys, b"mine").expect("a file");
        assert_eq!(
            std::fs::read(scratch.path().join("elsewhere/authorized_keys")).expect("a file"),
            b"secret"
        );
    }

    #[test]
    fn the_rights_are_those_of_the_user() {
        if !needs_root() {
            return;
        }
        let scratch = Scratch::new();
        let files = SystemFiles::new(Cancellation::never());
        let stranger = Identity { uid: 54321, gid: 54321, groups: vec![54321] };
        let home = scratch.path().join("home");
        std::fs::create_dir(&home).expect("a directory");
        std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let keys = file(&stranger, &home);
        // The directory belongs to root, so its user may not write there.
        let refused = files.write_user_file(keys, b"mine").expect_err("no rights");
        assert!(matches!(refused, FileError::Step { step: FileStep::Create, .. }), "{refused}");
        std::os::unix::fs::chown(&home, Some(54321), Some(54321)).expect("an owner");
        files.write_user_file(keys, b"mine").expect("a file");
        let owner = std::os::unix::fs::MetadataExt::uid(&keys.path().metadata().expect("a file"));
        assert_eq!(owner, 54321);
        assert!(files.read_user_file(keys, 10).expect("a state").expect("a file").is_private);
    }

    #[test]
    fn missing_home_is_told() {
        let scratch = Scratch::new();
        let (files, own) = (SystemFiles::new(Cancellation::never()), Identity::own().expect("an identity"));
        let home = scratch.path().join("gone");
        let error = files.read_user_file(file(&own, &home), 10).expect_err("no home");
        assert!(matches!(error, FileError::ParentMissing(path) if path == home));
    }
}
