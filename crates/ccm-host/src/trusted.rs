//! Files that only a trusted user can have written, such as a policy.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;
use thiserror::Error;

/// Needs no permission to list the directory, which a sandbox and other users may not have.
const DIRECTORY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Does not wait for the other end of a pipe.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Number that the kernel shows for an owner who has none in the user namespace of a process.
pub(crate) const HIDDEN_OWNER: u32 = 65534;
const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;
const READABLE_BY_ALL: u32 = 0o004;

/// Directory whose files only its owner can have written, and root. Every directory above was checked as well, and no
/// link was followed.
#[derive(Debug)]
pub struct TrustedDirectory {
    descriptor: OwnedFd,
    path: PathBuf,
    owner: u32,
    /// Directory on the way whose owner the user namespace of this process does not show. That is no reason to refuse a
    /// file that does not exist.
    hidden: Option<PathBuf>,
}

/// Reason for which a file is not trusted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrustError {
    /// A part of the path is a symbolic link.
    #[error("{} is a symbolic link", .0.display())]
    Link(PathBuf),
    /// The path is not a file, or not a directory.
    #[error("{} is not {expected}", path.display())]
    Kind {
        /// The path.
        path: PathBuf,
        /// What was expected, with its article.
        expected: &'static str,
    },
    /// The path belongs to another user.
    #[error("{} belongs to uid {owner}, not to root", path.display())]
    Owner {
        /// The path.
        path: PathBuf,
        /// UID of the owner.
        owner: u32,
    },
    /// Others than the owner may write the path.
    #[error("{} can be written by others (mode {mode:04o})", path.display())]
    Writable {
        /// The path.
        path: PathBuf,
        /// Mode of the path.
        mode: u32,
    },
    /// Not everybody may read the file, so that it would not hold for every user.
    #[error("{} can't be read by everybody (mode {mode:04o})", path.display())]
    NotReadable {
        /// The path.
        path: PathBuf,
        /// Mode of the path.
        mode: u32,
    },
    /// The file is too long.
    #[error("{} is longer than {limit} bytes", path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Maximum length in bytes.
        limit: u64,
    },
    /// The directory has too many files.
    #[error("{} holds more than {limit} files", path.display())]
    TooMany {
        /// The path.
        path: PathBuf,
        /// Maximum number of files.
        limit: usize,
    },
    /// The file is not UTF-8 text.
    #[error("{} is not UTF-8 text", .0.display())]
    NotUtf8(PathBuf),
    /// The system refused the read.
    #[error("{} can't be read", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl TrustedDirectory {
    /// Opens a directory by its absolute path; `None` if it does not exist. Each part has to belong to root or to
    /// `owner`.
    pub fn open(path: &Path, owner: u32) -> Result<Option<Self>, TrustError> {
        let root = openat(CWD, "/", DIRECTORY, Mode::empty()).map_err(reading(Path::new("/")))?;
        let mut directory = Self { descriptor: root, path: PathBuf::from("/"), owner, hidden: None };
        // Those above it: no link was followed, so that `..` leads back to the one before.
        let mut above = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => match directory.enter(name)? {
                    Some(next) => above.push(std::mem::replace(&mut directory, next)),
                    None => return Ok(None),
                },
                Component::ParentDir => directory = above.pop().unwrap_or(directory),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        Ok(Some(directory))
    }

    /// Opens a subdirectory; `None` if it does not exist.
    pub fn enter(&self, name: &OsStr) -> Result<Option<Self>, TrustError> {
        let path = self.path.join(name);
        let Some(descriptor) = self.open_at(name, DIRECTORY, &path, "a directory")? else { return Ok(None) };
        let state = fstat(&descriptor).map_err(reading(&path))?;
        let mut hidden = self.hidden.clone();
        match self.check(&path, &state) {
            Err(TrustError::Owner { path, owner: HIDDEN_OWNER }) if !shows_all_owners() => {
                hidden.get_or_insert(path);
            }
            result => result?,
        }
        Ok(Some(Self { descriptor, path, owner: self.owner, hidden }))
    }

    /// Reads a file of text; `None` if it does not exist.
    pub fn read(&self, name: &OsStr, limit: u64) -> Result<Option<String>, TrustError> {
        let Some(bytes) = self.read_bytes(name, limit)? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|_| TrustError::NotUtf8(self.path.join(name)))
    }

    /// Reads a file; `None` if it does not exist.
    pub fn read_bytes(&self, name: &OsStr, limit: u64) -> Result<Option<Vec<u8>>, TrustError> {
        let path = self.path.join(name);
        let Some(descriptor) = self.open_at(name, FILE, &path, "a file")? else { return Ok(None) };
        if let Some(path) = self.hidden.clone() {
            return Err(TrustError::Owner { path, owner: HIDDEN_OWNER });
        }
        let state = fstat(&descriptor).map_err(reading(&path))?;
        if FileType::from_raw_mode(state.st_mode) != FileType::RegularFile {
            return Err(TrustError::Kind { path, expected: "a file" });
        }
        self.check(&path, &state)?;
        let mode = state.st_mode & 0o7777;
        if mode & READABLE_BY_ALL == 0 {
            return Err(TrustError::NotReadable { path, mode });
        }
        let mut bytes = Vec::new();
        let read = File::from(descriptor).take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| TrustError::Read { path: path.clone(), source })?;
        if bytes.len() as u64 > limit {
            return Err(TrustError::TooLong { path, limit });
        }
        Ok(Some(bytes))
    }

    /// Returns the sorted names of the entries with this ending. Names that begin with a dot are left out.
    pub fn names(&self, ending: &str, limit: usize) -> Result<Vec<OsString>, TrustError> {
        let mut names = Vec::new();
        let readable = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = openat(&self.descriptor, ".", readable, Mode::empty()).map_err(reading(&self.path))?;
        for entry in Dir::new(listed).map_err(reading(&self.path))? {
            let entry = entry.map_err(reading(&self.path))?;
            let name = entry.file_name().to_bytes();
            if name.starts_with(b".") || !name.ends_with(ending.as_bytes()) {
                continue;
            }
            if names.len() == limit {
                return Err(TrustError::TooMany { path: self.path.clone(), limit });
            }
            names.push(OsStr::from_bytes(name).to_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open_at(
        &self,
        name: &OsStr,
        flags: OFlags,
        path: &Path,
        expected: &'static str,
    ) -> Result<Option<OwnedFd>, TrustError> {
        match openat(&self.descriptor, name, flags, Mode::empty()) {
            Ok(descriptor) => Ok(Some(descriptor)),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP) => Err(TrustError::Link(path.to_owned())),
            // The kernel reports a link in this way too, if a directory is wanted.
            Err(Errno::NOTDIR) => {
                let link = rustix::fs::readlinkat(&self.descriptor, name, Vec::new()).is_ok();
                Err(if link {
                    TrustError::Link(path.to_owned())
                } else {
                    TrustError::Kind { path: path.to_owned(), expected }
                })
            }
            Err(error) => Err(reading(path)(error)),
        }
    }

    fn check(&self, path: &Path, state: &Stat) -> Result<(), TrustError> {
        check(path, state, self.owner)
    }
}

/// Returns `true` if root alone can have written a path, and every directory above it. Links are resolved before.
pub fn is_of_root(canonical: &Path) -> bool {
    canonical
        .ancestors()
        .all(|path| rustix::fs::lstat(path).is_ok_and(|state| check(path, &state, 0).is_ok()))
}

/// Checks owner and mode. A directory with the sticky bit lets nobody replace the entries of another user.
fn check(path: &Path, state: &Stat, trusted: u32) -> Result<(), TrustError> {
    let (mode, owner) = (state.st_mode & 0o7777, state.st_uid);
    if owner != 0 && owner != trusted {
        return Err(TrustError::Owner { path: path.to_owned(), owner });
    }
    let is_sticky_directory =
        FileType::from_raw_mode(state.st_mode) == FileType::Directory && mode & STICKY != 0;
    if mode & WRITABLE_BY_OTHERS != 0 && !is_sticky_directory {
        return Err(TrustError::Writable { path: path.to_owned(), mode });
    }
    Ok(())
}

/// Returns `true` if the user namespace of this process has all users, as that of the machine has.
pub(crate) fn shows_all_owners() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
}

fn reading(path: &Path) -> impl FnOnce(Errno) -> TrustError {
    move |source| TrustError::Read { path: path.to_owned(), source: source.into() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn own() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// Returns a directory that only its owner can write, with a file.
    fn directory() -> (tempfile::TempDir, TrustedDirectory) {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("policy.yaml");
        std::fs::write(&file, "ccm_policy: 1\n").expect("a file");
        set_mode(&file, 0o644);
        let path = directory.path().canonicalize().expect("a path");
        let opened = TrustedDirectory::open(&path, own()).expect("a trusted directory").expect("a directory");
        (directory, opened)
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    }

    #[test]
    fn a_path_leads_where_the_kernel_goes() {
        let (_kept, opened) = directory();
        let top = opened.path().to_owned();
        std::fs::create_dir_all(top.join("one/two")).expect("directories");
        symlink("one/two", top.join("link")).expect("a link");
        for directory in ["one", "one/two"] {
            set_mode(&top.join(directory), 0o755);
        }
        for (path, expected) in [
            ("one/..", Some("")),
            ("one/two/../..", Some("")),
            ("one/../one/./two", Some("one/two")),
            ("missing/..", None),
        ] {
            let found = TrustedDirectory::open(&top.join(path), own()).expect("trusted");
            assert_eq!(found.map(|found| found.path), expected.map(|path| top.join(path)), "{path}");
        }
        let link = TrustedDirectory::open(&top.join("link/.."), own());
        assert!(matches!(link, Err(TrustError::Link(_))), "{link:?}");
        let above =
            TrustedDirectory::open(Path::new("/../.."), own()).expect("trusted").expect("a directory");
        assert_eq!(above.path, Path::new("/"));
    }

    #[test]
    fn a_file_of_the_owner_is_read() {
        let (_kept, directory) = directory();
        let name = OsStr::new("policy.yaml");
        assert_eq!(directory.read(name, 100).expect("a file").as_deref(), Some("ccm_policy: 1\n"));
        assert!(directory.read(OsStr::new("other"), 100).expect("no file").is_none());
        assert_eq!(directory.names(".yaml", 3).expect("names"), ["policy.yaml"]);
        assert!(
            TrustedDirectory::open(&directory.path().join("missing"), own()).expect("no error").is_none()
        );
    }

    #[test]
    fn a_directory_need_not_be_listed() {
        let (kept, directory) = directory();
        set_mode(kept.path(), 0o311);
        let opened = TrustedDirectory::open(directory.path(), own()).expect("a trusted directory");
        let text = opened.expect("a directory").read(OsStr::new("policy.yaml"), 100).expect("a file");
        assert_eq!(text.as_deref(), Some("ccm_policy: 1\n"));
        set_mode(kept.path(), 0o700);
    }

    #[test]
    fn each_reason_has_its_name() {
        let (kept, directory) = directory();
        let path = kept.path().join("policy.yaml");
        let read = |name: &str, limit| directory.read(OsStr::new(name), limit);
        assert!(matches!(read("policy.yaml", 3), Err(TrustError::TooLong { .. })));
        for mode in [0o664, 0o646] {
            set_mode(&path, mode);
            assert!(matches!(read("policy.yaml", 100), Err(TrustError::Writable { .. })), "{mode:o}");
        }
        set_mode(&path, 0o640);
        assert!(matches!(read("policy.yaml", 100), Err(TrustError::NotReadable { .. })));
        symlink("policy.yaml", kept.path().join("link")).expect("a link");
        assert!(matches!(read("link", 100), Err(TrustError::Link(_))));
        std::fs::create_dir(kept.path().join("below")).expect("a directory");
        assert!(matches!(read("below", 100), Err(TrustError::Kind { .. })));
        std::fs::write(kept.path().join("binary"), [0xff]).expect("a file");
        set_mode(&kept.path().join("binary"), 0o644);
        assert!(matches!(read("binary", 100), Err(TrustError::NotUtf8(_))));
        rustix::fs::mkfifoat(CWD, kept.path().join("pipe"), Mode::from_raw_mode(0o644)).expect("a pipe");
        assert!(matches!(read("pipe", 100), Err(TrustError::Kind { .. })));
    }

    #[test]
    fn directories_above_are_checked() {
        let (kept, _) = directory();
        let open = |path: &Path| TrustedDirectory::open(path, own());
        let real = kept.path().canonicalize().expect("a path");
        let below = real.join("below");
        std::fs::create_dir(&below).expect("a directory");
        symlink("below", real.join("link")).expect("a link");
        assert!(matches!(open(&real.join("link")), Err(TrustError::Link(_))));
        assert!(matches!(open(&real.join("policy.yaml")), Err(TrustError::Kind { .. })));
        set_mode(&real, 0o777);
        assert!(matches!(open(&below), Err(TrustError::Writable { .. })));
        set_mode(&real, 0o700);
        assert!(open(&below).expect("a trusted directory").is_some());
    }

    #[test]
    fn a_file_of_another_user_is_not_trusted() {
        let (kept, directory) = directory();
        if own() != 0 {
            return ccm_testkit::skipped("only root can give a file away");
        }
        let path = kept.path().join("policy.yaml");
        std::os::unix::fs::chown(&path, Some(4242), None).expect("an owner");
        let error = directory.read(OsStr::new("policy.yaml"), 100).expect_err("a stranger's file");
        assert!(matches!(error, TrustError::Owner { owner: 4242, .. }));
    }
}
