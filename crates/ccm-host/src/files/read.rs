//! Reading the input of ccm itself, and tables of the kernel.

use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, stat};
use rustix::io::Errno;

/// Reads at most `limit` bytes of a file, or of standard input if there is no path.
///
/// A longer text is an error of kind [`io::ErrorKind::FileTooLarge`], found without reading the rest.
pub fn read_at_most(path: Option<&Path>, limit: u64) -> io::Result<Vec<u8>> {
    match path {
        Some(path) => {
            let file = std::fs::File::open(path)?;
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            read_open(file, limit)
        }
        None => read_all(&mut io::stdin().lock(), Vec::new(), limit),
    }
}

/// Reads at most `limit` bytes of an open file.
pub(super) fn read_open(mut file: std::fs::File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // With one byte more, the end is found without another buffer.
    let expected = usize::try_from(file.metadata()?.len().min(limit)).unwrap_or_default();
    bytes.reserve_exact(expected.saturating_add(1));
    read_all(&mut file, bytes, limit)
}

fn read_all(from: &mut dyn io::Read, mut bytes: Vec<u8>, limit: u64) -> io::Result<Vec<u8>> {
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Returns `true` for a path that may lead to something else in another process, or when it is read again:
/// the path of a pipe, of a device, or of an open file such as `/dev/stdin`.
pub fn is_transient(path: &Path) -> bool {
    let is_regular = |mode: u32| FileType::from_raw_mode(mode) == FileType::RegularFile;
    // Magic links lead to the open files of a process.
    let no_magic = ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), no_magic) {
        Ok(file) => fstat(&file).is_ok_and(|found| !is_regular(found.st_mode)),
        Err(Errno::LOOP) => true,
        // An old kernel, or a filter of system calls.
        Err(Errno::NOSYS | Errno::PERM) => {
            let is_named = ["/dev", "/proc"].iter().any(|root| path.starts_with(root));
            is_named || stat(path).is_ok_and(|found| !is_regular(found.st_mode))
        }
        Err(_) => false,
    }
}

/// Decodes the octal escapes of the kernel's tables, such as `\040` for a space.
pub fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        if let [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', behind @ ..] = rest {
            plain.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
            rest = behind;
        } else {
            plain.push(*first);
            rest = behind;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_pipes_and_devices_are_transient() {
        let own = std::env::current_exe().expect("a path");
        let open = std::fs::File::open(&own).expect("a file");
        let descriptor = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
        for path in ["/dev/stdin", "/dev/null", &*descriptor, "/proc/self/cwd/Cargo.toml"] {
            assert!(is_transient(Path::new(path)), "{path}");
        }
        assert!(!is_transient(&own) && !is_transient(Path::new("/nowhere/at/all")));
    }

    #[test]
    fn octal_escapes_are_decoded() {
        for (written, plain) in [
            (&br"/plain"[..], &b"/plain"[..]),
            (br"/with\040blank", b"/with blank"),
            (br"\011\012\134\043", b"\t\n\\#"),
            (br"\377\400", b"\xff\\400"),
            (br"/no\04", br"/no\04"),
            (br"/no\9999", br"/no\9999"),
            (br"/end\", br"/end\"),
            (b"/\\\xe9040", b"/\\\xe9040"),
            (br"/\+40", br"/\+40"),
        ] {
            assert_eq!(unescape(written), plain, "{}", written.escape_ascii());
        }
    }
}
