//! Making the process of ccm itself ready, once, before it does anything else.

use std::fs::{File, read_dir};
use std::io;
use std::os::fd::{AsFd, IntoRawFd as _};

use nix::sys::signal::Signal;
use rustix::io::{Errno, fcntl_getfd};

use crate::raw;

/// Says why the process could not be made ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// A standard stream is closed and could not be replaced.
    #[error("\"/dev/null\" could not be opened in place of a closed standard stream")]
    NullDevice {
        /// Why not.
        source: io::Error,
    },
    /// An inherited file could not be kept from the commands to come.
    #[error("inherited open files could not be hidden from commands")]
    Inherited {
        /// Why not.
        source: io::Error,
    },
    /// The end of commands could not be made visible.
    #[error("the signal SIGCHLD could not be given its default effect")]
    ChildSignal {
        /// Why not.
        source: io::Error,
    },
}

/// Frees the process from what it inherited: the umask, open files, an ignored `SIGCHLD`. A file that grows
/// to its limit becomes an error of the one who writes, where the signal `SIGXFSZ` would end the process.
///
/// Meant for the start of a program, before it opens a file or starts a thread.
pub fn prepare_process() -> Result<(), PrepareError> {
    open_standard_streams().map_err(|source| PrepareError::NullDevice { source })?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    hide_inherited_files().map_err(|source| PrepareError::Inherited { source })?;
    // While it is ignored, the kernel throws the exit codes of children away.
    raw::set_default(Signal::SIGCHLD).map_err(|source| PrepareError::ChildSignal { source })?;
    // To have failed means to end as any program does.
    let _best_effort = raw::ignore(Signal::SIGXFSZ);
    keep_freed_blocks();
    Ok(())
}

/// Lets the allocator use large blocks again after they were freed.
///
/// glibc maps each block of more than 128 KiB by itself and gives its pages back when it is freed, until a larger mapped
/// block was freed once. Without this the pages of a manifest's text are given back just before as many are needed
/// for what was read from it, and a page costs as much as a system call. Elsewhere it has no effect.
fn keep_freed_blocks() {
    /// A little below the largest that glibc learns from.
    const LARGEST: usize = (32 << 20) - (64 << 10);
    let mut block: Vec<u8> = Vec::new();
    // The memory is never touched, so none is used. Where it can't be had, nothing is lost.
    let _best_effort = block.try_reserve_exact(LARGEST);
    drop(std::hint::black_box(block));
}

/// Opens the null device for each closed standard stream; else the next file opened would take its number,
/// and be written to as if it were the terminal.
fn open_standard_streams() -> io::Result<()> {
    let is_closed = |stream: &dyn AsFd| fcntl_getfd(stream.as_fd()) == Err(Errno::BADF);
    for closed in [is_closed(&io::stdin()), is_closed(&io::stdout()), is_closed(&io::stderr())] {
        if closed {
            // The lowest free number is the one that was found closed.
            let null = File::options().read(true).write(true).open("/dev/null")?;
            let _stays_open = null.into_raw_fd();
        }
    }
    Ok(())
}

/// Keeps every open file but the three from the programs that this process starts or becomes.
pub(crate) fn hide_inherited_files() -> io::Result<()> {
    const FIRST: i32 = 3;
    if raw::close_on_exec_from(FIRST).is_ok() {
        return Ok(());
    }
    // Kernels before 5.11 can't do it in one call.
    for entry in read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let descriptor = name.to_str().and_then(|name| name.parse().ok());
        if let Some(descriptor) = descriptor.filter(|descriptor| *descriptor >= FIRST) {
            raw::close_on_exec(descriptor)?;
        }
    }
    Ok(())
}
