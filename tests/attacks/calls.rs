//! Calls of the kernel with any arguments.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use libc::{c_int, c_long};

/// Error number of the kernel.
pub(crate) type Errno = c_int;
/// Result of an attempt.
pub(crate) type Attempt = Result<(), Errno>;

/// Exit code of a child whose attempt panicked.
const BROKEN: c_int = 255;
/// Time limit of an attempt in seconds.
const LIMIT: u32 = 30;

/// Argument of a call.
pub(crate) trait Argument {
    fn raw(&self) -> c_long;
}

impl Argument for c_int {
    fn raw(&self) -> c_long {
        (*self).into()
    }
}

impl Argument for u32 {
    fn raw(&self) -> c_long {
        (*self).into()
    }
}

impl Argument for c_long {
    fn raw(&self) -> c_long {
        *self
    }
}

impl Argument for CString {
    fn raw(&self) -> c_long {
        address(self.as_ptr())
    }
}

impl Argument for CStr {
    fn raw(&self) -> c_long {
        address(self.as_ptr())
    }
}

impl<T, const N: usize> Argument for [T; N] {
    fn raw(&self) -> c_long {
        address(self.as_ptr())
    }
}

impl<T> Argument for Vec<T> {
    fn raw(&self) -> c_long {
        address(self.as_ptr())
    }
}

/// Returns the address of memory for a call.
pub(crate) fn address<T>(memory: *const T) -> c_long {
    c_long::try_from(memory.expose_provenance()).expect("an address of a program is positive")
}

/// Calls the kernel. Missing arguments are zero.
pub(crate) fn call(number: c_long, arguments: &[&dyn Argument]) -> Result<c_long, Errno> {
    let raw = |index: usize| arguments.get(index).map_or(0, |argument| argument.raw());
    // SAFETY: the buffers of the arguments outlive the call, and each is as large as its call needs. Calls that
    // would change the memory of this process have arguments that the kernel refuses.
    let result = unsafe { libc::syscall(number, raw(0), raw(1), raw(2), raw(3), raw(4), raw(5)) };
    if result == -1 { Err(errno()) } else { Ok(result) }
}

/// Calls the kernel and drops the result.
pub(crate) fn attempt(number: c_long, arguments: &[&dyn Argument]) -> Attempt {
    call(number, arguments).map(drop)
}

fn errno() -> Errno {
    std::io::Error::last_os_error().raw_os_error().unwrap_or_default()
}

/// Returns a path for a call.
pub(crate) fn path(path: impl AsRef<OsStr>) -> CString {
    CString::new(path.as_ref().as_bytes()).expect("a path without zero bytes")
}

/// Opens a path; returns the descriptor.
pub(crate) fn open(at: impl AsRef<OsStr>, flags: c_int) -> Result<c_int, Errno> {
    open_at(libc::AT_FDCWD, at, flags)
}

/// Opens a path below a directory.
pub(crate) fn open_at(directory: c_int, at: impl AsRef<OsStr>, flags: c_int) -> Result<c_int, Errno> {
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let opened = call(libc::SYS_openat, &[&directory, &path(at), &flags, &0o600])?;
    Ok(c_int::try_from(opened).expect("a descriptor"))
}

/// Returns memory for what a call writes.
pub(crate) fn room() -> Vec<u64> {
    vec![0; 128]
}

/// Reads the beginning of a file, or all of a directory.
pub(crate) fn read(at: impl AsRef<OsStr>) -> Attempt {
    let file = open(at, libc::O_RDONLY)?;
    match attempt(libc::SYS_read, &[&file, &room(), &64]) {
        Err(libc::EISDIR) => {
            // The entries of every directory come before an error.
            while call(libc::SYS_getdents64, &[&file, &room(), &1024])? > 0 {}
            Ok(())
        }
        other => other,
    }
}

/// Makes an attempt in a child, so that no attempt changes the next. The error is `None` if a signal ended it.
pub(crate) fn in_child(attempt: impl FnOnce() -> Attempt) -> Result<(), Option<Errno>> {
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        -1 => Err(Some(errno())),
        0 => {
            // SAFETY: no handler is installed.
            unsafe { libc::alarm(LIMIT) };
            let result = catch_unwind(AssertUnwindSafe(attempt));
            end(result.map_or(BROKEN, |result| result.err().unwrap_or_default()));
        }
        child => {
            let mut status = 0;
            // SAFETY: the status is valid memory, and the child is not reaped elsewhere.
            while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 && errno() == libc::EINTR {}
            match (libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
                (true, 0) => Ok(()),
                (true, errno) => Err(Some(errno)),
                (false, _) => Err(None),
            }
        }
    }
}

/// Ends this process at once.
pub(crate) fn end(code: c_int) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}
