//! Reading the input of ccm itself, and tables of the kernel.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, fcntl_getfl, fcntl_setfl, fstat, openat, openat2, stat,
};
use rustix::io::Errno;

/// Time in which a named pipe has to get a writer.
const WRITER_PATIENCE: Duration = Duration::from_secs(10);

/// Reads at most `limit` bytes of a file, or of standard input if there is no path.
///
/// A longer text is an error of kind [`io::ErrorKind::FileTooLarge`], found without reading the rest. A named pipe to
/// which nobody writes within ten seconds is one of kind [`io::ErrorKind::InvalidInput`].
pub fn read_at_most(path: Option<&Path>, limit: u64) -> io::Result<Vec<u8>> {
    match path {
        Some(path) => {
            let file = open_patiently(path)?;
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            read_open(file, limit)
        }
        None => read_all(&mut io::stdin().lock(), Vec::new(), limit),
    }
}

/// Opens a path. A named pipe without a writer is waited for only for a while.
fn open_patiently(path: &Path) -> io::Result<std::fs::File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::empty())?;
    let is_pipe = FileType::from_raw_mode(fstat(&file)?.st_mode) == FileType::Fifo;
    if is_pipe && !leads_to_open_file(path) {
        wait_for_writer(file.as_fd(), WRITER_PATIENCE)?;
    }
    let status = fcntl_getfl(&file)?;
    fcntl_setfl(&file, status.difference(OFlags::NONBLOCK))?;
    Ok(file.into())
}

/// Waits until something can be read from a pipe, or its writer has gone.
fn wait_for_writer(pipe: BorrowedFd<'_>, patience: Duration) -> io::Result<()> {
    let end = Instant::now() + patience;
    loop {
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).unwrap_or_default();
        match poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&left)) {
            Ok(0) => {
                let message = format!("it is a named pipe that nobody has written to for {patience:?}");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns `true` for a path that leads to an open file of a process, such as `/dev/stdin`.
fn leads_to_open_file(path: &Path) -> bool {
    match openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
        Err(Errno::LOOP) => true,
        // An old kernel, or a filter of system calls.
        Err(Errno::NOSYS | Errno::PERM) => ["/dev", "/proc"].iter().any(|root| path.starts_with(root)),
        _ => false,
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
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn a_named_pipe_without_a_writer_is_refused_and_an_open_one_is_read() {
        let scratch = ccm_testkit::Scratch::new();
        ccm_testkit::shell("mkfifo pipe", scratch.path());
        let pipe = scratch.path().join("pipe");
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let alone = openat(CWD, &pipe, flags, Mode::empty()).expect("a pipe");
        let error = wait_for_writer(alone.as_fd(), Duration::from_millis(20)).expect_err("a refusal");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        drop(alone);
        let (reader, writer) = io::pipe().expect("a pipe");
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let writing = std::thread::spawn(move || io::Write::write_all(&mut { writer }, b"text"));
        assert_eq!(read_at_most(Some(Path::new(&path)), 10).expect("a text"), b"text");
        writing.join().expect("a thread").expect("a reader");
        ccm_testkit::shell("(echo text > pipe) > /dev/null 2>&1 &", scratch.path());
        assert_eq!(read_at_most(Some(&pipe), 10).expect("a text"), b"text\n");
    }

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
