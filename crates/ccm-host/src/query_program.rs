//! Programs of the system that only look something up, such as `getent`.
//!
//! The C library and its like would load plugins and configurations into this process: code of others with the
//! rights of ccm, and impossible in a statically linked program. Their programs do the same outside.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Maximum length of an answer that is kept.
pub(crate) const MAX_ANSWER: usize = 1 << 20;

/// Program that looks something up.
#[derive(Debug)]
pub(crate) struct QueryProgram {
    path: PathBuf,
    search_path: String,
    timeout: Duration,
}

impl QueryProgram {
    /// Finds a program; `None` if it is not installed.
    pub(crate) fn find(name: &str, search_path: &str, timeout: Duration) -> Option<Self> {
        let mut directories = search_path.split(':').map(Path::new);
        let path = directories.find_map(|directory| {
            let program = directory.join(name);
            program.is_file().then_some(program)
        })?;
        Some(Self { path, search_path: search_path.to_owned(), timeout })
    }

    /// Runs the program, and returns its exit status and the start of its output.
    ///
    /// The commands of a manifest each have a session of their own, and the runner ends what such a session leaves.
    /// This process stays in the session of ccm, so that a runner in another thread leaves it alone.
    pub(crate) fn run(&self, arguments: &[&OsStr]) -> io::Result<(ExitStatus, Vec<u8>)> {
        let Self { path, search_path, timeout } = self;
        let mut command = Command::new(path);
        command.args(arguments).env_clear().env("PATH", search_path).env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Ctrl-C in a terminal is for ccm alone.
        command.process_group(0);
        let mut child = command.spawn()?;
        let result = answer(&mut child, Instant::now() + *timeout);
        result.map_err(|error| {
            // Killing a process that has ended is no error.
            let _ended = child.kill();
            let _reaped = child.wait();
            match error.kind() {
                io::ErrorKind::TimedOut => {
                    let name = path.file_name().unwrap_or_default().display();
                    let text = format!("{name} did not answer within {}s", timeout.as_secs());
                    io::Error::new(io::ErrorKind::TimedOut, text)
                }
                _ => error,
            }
        })
    }
}

fn answer(child: &mut Child, end: Instant) -> io::Result<(ExitStatus, Vec<u8>)> {
    let mut answer = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        fcntl_setfl(&stdout, OFlags::NONBLOCK)?;
        let mut buffer = [0; 8 << 10];
        loop {
            match stdout.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => {
                    let room = MAX_ANSWER.saturating_sub(answer.len()).min(length);
                    answer.extend_from_slice(&buffer[..room]);
                    if Instant::now() >= end {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait_for(stdout.as_fd(), end)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    wait_for(pidfd_open(pid, PidfdFlags::empty())?.as_fd(), end)?;
    Ok((child.wait()?, answer))
}

/// Waits until a descriptor can be read.
fn wait_for(descriptor: BorrowedFd<'_>, end: Instant) -> io::Result<()> {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        match poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)], Some(&left)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}
