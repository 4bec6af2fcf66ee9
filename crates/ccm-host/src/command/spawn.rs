//! Starting a process with nothing inherited but what it is given.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;

use super::Command;
use crate::raw;

/// A process that was started, and our ends of its pipes, which do not block.
pub(super) struct Spawned {
    pub(super) pid: Pid,
    /// None if it reads the null device.
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Starts the command.
pub(super) fn spawn(command: &Command) -> io::Result<Spawned> {
    let arguments = [command.program.as_os_str()].into_iter().chain(command.args.iter().map(AsRef::as_ref));
    let arguments =
        arguments.map(|argument| text(argument, "an argument")).collect::<io::Result<Vec<_>>>()?;
    let variables = command.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let environment = variables
        .map(|variable| text(OsStr::new(&variable), "an environment variable"))
        .collect::<io::Result<Vec<_>>>()?;
    let cwd = text(command.cwd.as_os_str(), "the working directory")?;

    // Each gets the lowest number that is free, so the later one has the higher number. Put into their places
    // in this order, none overwrites one that is still needed, even if a standard stream of ours is closed.
    let (its_stdin, stdin) = if command.stdin.is_some() {
        pipe_with(PipeFlags::CLOEXEC).map(|(its, ours)| (its, Some(ours)))?
    } else {
        (File::open("/dev/null")?.into(), None)
    };
    let (stdout, its_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, its_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
    for ours in [&stdout, &stderr].into_iter().chain(&stdin) {
        fcntl_setfl(ours, OFlags::NONBLOCK)?;
    }
    let pid = raw::posix_spawn(&raw::Start {
        program: &arguments[0],
        arguments: &arguments,
        environment: &environment,
        cwd: &cwd,
        standard: [its_stdin.as_fd(), its_stdout.as_fd(), its_stderr.as_fd()],
    })?;
    Ok(Spawned { pid, stdin, stdout, stderr })
}

fn text(text: &OsStr, what: &str) -> io::Result<CString> {
    let refuse = |_| io::Error::new(io::ErrorKind::InvalidInput, format!("{what} holds a zero byte"));
    CString::new(text.as_bytes()).map_err(refuse)
}
