//! Opening regular files and nothing else: a device can act by being opened, and a pipe can wait for a writer.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, statat};
use rustix::io::Errno;

use super::read::read_open;

/// Flags to open a file whose kind is known.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// Flags to look at a file without opening it.
pub(super) const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Opens a regular file without a link on its path, in few system calls; `None` in every other case, whose reason a slower
/// way finds.
///
/// The look comes before the opening. A link that is put there in between is refused, a pipe does not make the opening
/// wait and is noticed, and a device is made by root alone.
pub(super) fn open_linkless_file(path: &Path) -> Option<(OwnedFd, Stat)> {
    let named = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    only_regular(&named).ok()?;
    let flags = READ | OFlags::NOFOLLOW;
    let file = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let opened = fstat(&file).ok()?;
    is_same_file(&named, &opened).then_some((file, opened))
}

fn is_same_file(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Opens the regular file that a descriptor of [`LOOK`] leads to. `open` opens its path with the given flags, where
/// nothing is mounted at `/proc`.
pub(super) fn open_found(
    found: &OwnedFd,
    open: impl FnOnce(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, Errno> {
    match openat(CWD, format!("/proc/self/fd/{}", found.as_raw_fd()), READ, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) => {
            let opened = open(READ)?;
            if is_same_file(&fstat(found)?, &fstat(&opened)?) { Ok(opened) } else { Err(Errno::STALE) }
        }
        opened => opened,
    }
}

/// Reads a regular file of at most `limit` bytes. Anything else is not even opened, and is an error of kind
/// [`io::ErrorKind::InvalidInput`]; a directory is one of kind [`io::ErrorKind::IsADirectory`].
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let open = |flags: OFlags| openat(CWD, path, flags, Mode::empty());
    let found = open(LOOK)?;
    only_regular(&fstat(&found)?)?;
    read_open(open_found(&found, open)?.into(), limit)
}

/// Refuses what is no regular file.
pub(super) fn only_regular(stat: &Stat) -> io::Result<()> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use ccm_testkit::{Scratch, shell};

    use super::*;

    #[test]
    fn only_regular_files_are_read() {
        let scratch = Scratch::new();
        let text = scratch.write("text", "one");
        symlink(&text, scratch.path().join("link")).expect("a link");
        // Without a writer, an open of the pipe would wait for good.
        shell("mkfifo pipe", scratch.path());
        let read = |name: &str, limit: u64| {
            read_regular(&scratch.path().join(name), limit).map_err(|error| error.kind())
        };
        assert_eq!(read("text", 3).as_deref(), Ok(&b"one"[..]));
        assert_eq!(read("link", 3).as_deref(), Ok(&b"one"[..]));
        assert_eq!(read("text", 2), Err(io::ErrorKind::FileTooLarge));
        assert_eq!(read("pipe", 3), Err(io::ErrorKind::InvalidInput));
        assert_eq!(read(".", 3), Err(io::ErrorKind::IsADirectory));
        assert_eq!(read("gone", 3), Err(io::ErrorKind::NotFound));
        assert_eq!(
            read_regular(Path::new("/dev/null"), 3).map_err(|error| error.kind()),
            Err(io::ErrorKind::InvalidInput)
        );
    }
}
