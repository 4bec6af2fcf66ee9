//! Entries of directories as they are. No link is followed at the end of a path.

use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Stat, statat};

use super::is_absence;

/// Entry of a directory. A link is an entry of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Permissions and special bits.
    pub mode: u32,
    /// UID of the owner.
    pub uid: u32,
    /// GID.
    pub gid: u32,
    /// Length in bytes; of a link, that of its text.
    pub size: u64,
}

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
}

/// Returns the entry at a path with one system call; `None` if there is none. Links among the parents are followed.
pub fn entry_at(path: &Path) -> io::Result<Option<EntryInfo>> {
    match statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from) {
        Ok(stat) => EntryInfo::of(&stat).map(Some),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

impl EntryInfo {
    fn of(stat: &Stat) -> io::Result<Self> {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            FileType::Fifo => EntryKind::Pipe,
            FileType::Socket => EntryKind::Socket,
            FileType::BlockDevice => EntryKind::BlockDevice,
            FileType::CharacterDevice => EntryKind::CharacterDevice,
            FileType::Unknown => return Err(io::ErrorKind::Unsupported.into()),
        };
        Ok(Self {
            kind,
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use ccm_testkit::Scratch;

    use super::*;

    #[test]
    fn entries_are_those_of_the_last_part() {
        let scratch = Scratch::new();
        let path = |name: &str| scratch.path().join(name);
        scratch.write("file", "12345");
        std::fs::create_dir(path("directory")).expect("a directory");
        symlink("nowhere", path("link")).expect("a link");
        symlink(scratch.path(), path("parent")).expect("a link");
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        let _socket = UnixListener::bind(path("socket")).expect("a socket");
        for (name, kind, size) in [
            ("file", EntryKind::File, Some(5)),
            ("directory", EntryKind::Directory, None),
            ("link", EntryKind::Link, Some(7)),
            ("parent/file", EntryKind::File, Some(5)),
            ("pipe", EntryKind::Pipe, None),
            ("socket", EntryKind::Socket, None),
        ] {
            let found = entry_at(&path(name)).expect(name).expect(name);
            assert_eq!(found.kind, kind, "{name}");
            assert!(size.is_none_or(|size| size == found.size), "{name}: {found:?}");
        }
        let null = entry_at(Path::new("/dev/null")).expect("a device").expect("a device");
        assert_eq!((null.kind, null.mode), (EntryKind::CharacterDevice, 0o666));
        for name in ["missing", "file/below", "nowhere/at/all"] {
            assert_eq!(entry_at(&path(name)).expect(name), None, "{name}");
        }
    }
}
