//! Preparing the process of ccm itself, once, before it does anything else.

use std::fs::{File, read_dir};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, IntoRawFd as _};

use nix::sys::signal::Signal;
use rustix::io::{Errno, fcntl_getfd};

use crate::{command, raw};

/// Returns the start of a running process, in clock ticks since the boot; `None` if there is none of this number.
/// Together with the number it names one process of this boot, because numbers are used again.
pub fn process_start(pid: i32) -> Option<u64> {
    command::running_since(pid)
}

/// Returns the number of this process and its start, as [`process_start`] does.
pub fn own_process() -> (i32, u64) {
    let pid = i32::try_from(std::process::id()).unwrap_or_default();
    (pid, process_start(pid).unwrap_or_default())
}

/// Runs a function on a thread of its own, which ends with the process at the latest.
pub fn run_thread(name: &str, function: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(function).map(drop)
}

/// Keeps what this process has in memory from core files, and from other processes of its user. Programs that it starts are not
/// concerned.
pub fn hide_memory() -> io::Result<()> {
    Ok(nix::sys::prctl::set_dumpable(false)?)
}

/// Error of preparing the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// A standard stream is closed and could not be replaced.
    #[error("\"/dev/null\" could not be opened in place of a closed standard stream")]
    NullDevice {
        /// Error of the system.
        source: io::Error,
    },
    /// An inherited file could not be closed for later commands.
    #[error("inherited open files could not be hidden from commands")]
    Inherited {
        /// Error of the system.
        source: io::Error,
    },
    /// Exit codes of commands could not be made readable.
    #[error("SIGCHLD could not be reset to its default action")]
    ChildSignal {
        /// Error of the system.
        source: io::Error,
    },
}

/// Resets inherited state of the process: the umask, open files, an ignored `SIGCHLD`. Ignores `SIGXFSZ`, so
/// that a file at its size limit is an error of the write and does not end the process. It must be called
/// before the program opens a file or starts a thread.
pub fn prepare_process() -> Result<(), PrepareError> {
    open_standard_streams().map_err(|source| PrepareError::NullDevice { source })?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    hide_inherited_files().map_err(|source| PrepareError::Inherited { source })?;
    // While SIGCHLD is ignored, the kernel drops the exit codes of children.
    raw::set_default(Signal::SIGCHLD).map_err(|source| PrepareError::ChildSignal { source })?;
    // After a failure the process ends at the limit, as other programs do.
    let _best_effort = raw::ignore(Signal::SIGXFSZ);
    raw::share_memory_of_main_thread();
    keep_freed_blocks();
    Ok(())
}

/// Lets the allocator reuse large blocks after they were freed.
///
/// glibc maps each block of more than 128 KiB by itself and returns its pages when it is freed, until a
/// larger mapped block was freed once: the pages of a manifest's text would be returned just before the
/// catalog needs as many. Other allocators ignore the call.
fn keep_freed_blocks() {
    /// Slightly below the maximum of glibc's threshold.
    const LARGEST: usize = (32 << 20) - (64 << 10);
    let mut block: Vec<u8> = Vec::new();
    // The memory is never touched, so that none is used. A failure loses nothing but speed.
    let _best_effort = block.try_reserve_exact(LARGEST);
    drop(std::hint::black_box(block));
}

/// Opens the null device for each closed standard stream. Else the next opened file would get its number, and
/// receive output meant for the terminal.
fn open_standard_streams() -> io::Result<()> {
    let is_closed = |stream: &dyn AsFd| fcntl_getfd(stream.as_fd()) == Err(Errno::BADF);
    for closed in [is_closed(&io::stdin()), is_closed(&io::stdout()), is_closed(&io::stderr())] {
        if closed {
            // The lowest free number is that of the closed stream.
            let null = File::options().read(true).write(true).open("/dev/null")?;
            let _stays_open = null.into_raw_fd();
        }
    }
    Ok(())
}

/// Returns the umask of this process. The call that changes the umask also returns it, but other threads would make
/// files meanwhile. `None` if the kernel does not show it, which Linux does since 4.7.
pub(crate) fn own_umask() -> Option<u32> {
    // It is in the second line. One call reads more than that.
    let mut status = [0; 256];
    let length = File::open("/proc/self/status").and_then(|mut file| file.read(&mut status)).ok()?;
    let status = String::from_utf8_lossy(&status[..length]);
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(mask.trim(), 8).ok()
}

/// Closes every open file except the three standard streams in programs that this process starts or becomes.
pub(crate) fn hide_inherited_files() -> io::Result<()> {
    const FIRST: i32 = 3;
    if raw::close_on_exec_from(FIRST).is_ok() {
        return Ok(());
    }
    // Kernels before 5.11 have no single call for that.
    for entry in read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let descriptor = name.to_str().and_then(|name| name.parse().ok());
        if let Some(descriptor) = descriptor.filter(|descriptor| *descriptor >= FIRST) {
            raw::close_on_exec(descriptor)?;
        }
    }
    Ok(())
}
