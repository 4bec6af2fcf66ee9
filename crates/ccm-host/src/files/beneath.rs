//! Reading a file below a directory, without leaving the directory.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

use super::regular::{LOOK, only_regular, open_found};
use super::resolve;

/// Number of attempts, because the kernel gives up if a part of the path is renamed meanwhile.
const TRIES: usize = 8;

/// Reads a regular file of at most `limit` bytes below a directory. Returns `None` if the file does not exist, and an
/// error of kind [`io::ErrorKind::NotFound`] if the directory does not exist.
///
/// A link on the way must lead to a path below the directory; the links to the directory itself are followed by the
/// rule of [`Files`](super::Files). On a kernel without `openat2`, every link below the directory is an error.
pub fn read_beneath(directory: &Path, name: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let parts: Vec<&OsStr> = name
        .components()
        .map(|part| match part {
            Component::Normal(part) => Ok(part),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "its path leads out of the directory")),
        })
        .collect::<io::Result<_>>()?;
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let path = resolve::canonical(directory)?;
    let directory = openat(CWD, &path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match open_beneath(&directory, name, LOOK) {
        Err(Errno::NOSYS | Errno::PERM) => {
            let open = |flags| open_without_links(&directory, &parts, flags);
            read(open(LOOK), open, limit)
        }
        found => read(found, |flags| open_beneath(&directory, name, flags), limit),
    }
}

fn open_beneath(directory: &OwnedFd, name: &Path, open: OFlags) -> Result<OwnedFd, Errno> {
    let flags = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut opened = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        opened = openat2(directory, name, open, Mode::empty(), flags);
        if !matches!(opened, Err(Errno::AGAIN)) {
            break;
        }
    }
    opened
}

/// Opens a file part by part, and follows no link.
fn open_without_links(directory: &OwnedFd, parts: &[&OsStr], open: OFlags) -> Result<OwnedFd, Errno> {
    let Some((last, parents)) = parts.split_last() else { return Err(Errno::ISDIR) };
    let open_at = |at: &OwnedFd, part: &OsStr, flags: OFlags| {
        let found = openat(at, part, flags | OFlags::NOFOLLOW, Mode::empty())?;
        let is_link = FileType::from_raw_mode(fstat(&found)?.st_mode) == FileType::Symlink;
        if is_link { Err(Errno::LOOP) } else { Ok(found) }
    };
    let mut at = None;
    for part in parents {
        at = Some(open_at(at.as_ref().unwrap_or(directory), part, LOOK)?);
    }
    open_at(at.as_ref().unwrap_or(directory), last, open)
}

/// Reads a file that was found. `open` opens its path with the given flags.
fn read(
    found: Result<OwnedFd, Errno>,
    open: impl FnOnce(OFlags) -> Result<OwnedFd, Errno>,
    limit: u64,
) -> io::Result<Option<Vec<u8>>> {
    let file = match found {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::XDEV) => return Err(io::Error::other("a link leads out of the directory")),
        Err(Errno::LOOP) => return Err(io::Error::other("a link on the way can't be followed")),
        Err(error) => return Err(error.into()),
    };
    let found = fstat(&file)?;
    only_regular(&found)?;
    if u64::try_from(found.st_size).unwrap_or_default() > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    File::from(open_found(&file, open)?).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(Some(bytes)) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use ccm_testkit::Scratch;

    use super::*;

    fn scratch() -> Scratch {
        let scratch = Scratch::new();
        scratch.write("secret.yaml", "outside");
        scratch.write("data/common.yaml", "common");
        scratch.write("data/host/web1.yaml", "web1");
        scratch.write("data/file", "x");
        for (target, name) in [
            ("../secret.yaml", "out.yaml"),
            ("/etc/hostname", "absolute.yaml"),
            ("host/web1.yaml", "within.yaml"),
            ("host", "alias"),
            ("..", "up"),
            ("nowhere", "dangling.yaml"),
            ("circle.yaml", "circle.yaml"),
        ] {
            symlink(target, scratch.path().join("data").join(name)).expect("a link");
        }
        symlink("data", scratch.path().join("linked")).expect("a link");
        scratch
    }

    #[test]
    fn files_below_a_directory_are_read() {
        let scratch = scratch();
        for directory in ["data", "linked"] {
            let directory = scratch.path().join(directory);
            let read =
                |name: &str| read_beneath(&directory, Path::new(name), 10).map_err(|error| error.kind());
            for (name, content) in [
                ("common.yaml", Some("common")),
                ("host/web1.yaml", Some("web1")),
                ("within.yaml", Some("web1")),
                ("alias/web1.yaml", Some("web1")),
                ("gone.yaml", None),
                ("gone/web1.yaml", None),
                ("file/web1.yaml", None),
                ("dangling.yaml", None),
            ] {
                assert_eq!(read(name), Ok(content.map(|text| text.as_bytes().to_vec())), "{name}");
            }
        }
    }

    #[test]
    fn nothing_leads_out_of_the_directory() {
        let scratch = scratch();
        let directory = scratch.path().join("data");
        let error = |name: &str| read_beneath(&directory, Path::new(name), 100).expect_err(name).to_string();
        for (name, message) in [
            ("out.yaml", "a link leads out of the directory"),
            ("absolute.yaml", "a link leads out of the directory"),
            ("up/secret.yaml", "a link leads out of the directory"),
            ("circle.yaml", "a link on the way can't be followed"),
            ("../secret.yaml", "its path leads out of the directory"),
            ("/etc/hostname", "its path leads out of the directory"),
            ("host/../../secret.yaml", "its path leads out of the directory"),
        ] {
            assert_eq!(error(name), message, "{name}");
        }
    }

    #[test]
    fn only_regular_files_of_the_right_size_are_read() {
        let scratch = scratch();
        let directory = scratch.path().join("data");
        let kind = |name: &str, limit| {
            read_beneath(&directory, Path::new(name), limit).map_err(|error| error.kind()).expect_err(name)
        };
        assert_eq!(kind("host", 100), io::ErrorKind::IsADirectory);
        assert_eq!(kind("common.yaml", 5), io::ErrorKind::FileTooLarge);
        rustix::fs::mkfifoat(CWD, directory.join("pipe.yaml"), Mode::RUSR).expect("a pipe");
        assert_eq!(kind("pipe.yaml", 100), io::ErrorKind::InvalidInput);
        // An attempt to open a socket would be an error of its own.
        let socket = std::os::unix::net::UnixListener::bind(directory.join("socket.yaml"));
        assert_eq!(kind("socket.yaml", 100), io::ErrorKind::InvalidInput);
        drop(socket.expect("a socket"));
        let missing = read_beneath(&scratch.path().join("gone"), Path::new("x.yaml"), 100);
        assert_eq!(missing.map_err(|error| error.kind()), Err(io::ErrorKind::NotFound));
    }

    #[test]
    fn without_openat2_no_link_is_followed() {
        let scratch = scratch();
        let open = |parts: &[&str]| {
            let directory = File::open(scratch.path().join("data")).expect("a directory");
            let parts: Vec<&OsStr> = parts.iter().map(OsStr::new).collect();
            let directory = OwnedFd::from(directory);
            let open = |flags| open_without_links(&directory, &parts, flags);
            read(open(LOOK), open, 100).map_err(|error| error.to_string())
        };
        assert_eq!(open(&["host", "web1.yaml"]), Ok(Some(b"web1".to_vec())));
        assert_eq!(open(&["host", "gone.yaml"]), Ok(None));
        assert_eq!(open(&["file", "web1.yaml"]), Ok(None));
        for link in [&["within.yaml"][..], &["out.yaml"], &["up", "secret.yaml"], &["alias", "web1.yaml"]] {
            assert_eq!(open(link), Err("a link on the way can't be followed".to_owned()), "{link:?}");
        }
    }
}
