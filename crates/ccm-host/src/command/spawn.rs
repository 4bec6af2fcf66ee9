//! Starting a process with nothing inherited but what it is given.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{MemfdFlags, OFlags, SeekFrom, fcntl_setfl, memfd_create, seek};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;

use super::Command;
use super::launch_protocol::{LaunchRequest, MAX_REQUEST};
use crate::{launcher, raw};

/// A process that was started, and our ends of its pipes, which do not block.
pub(super) struct Spawned {
    pub(super) pid: Pid,
    /// None if it reads the null device.
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// Where a launcher replies; none if there is no launcher.
    pub(super) reply: Option<OwnedFd>,
}

/// The words of a command as the kernel takes them.
pub(super) struct Words {
    pub(super) arguments: Vec<CString>,
    pub(super) environment: Vec<CString>,
    pub(super) cwd: CString,
}

impl Words {
    pub(super) fn of(command: &Command) -> io::Result<Self> {
        let arguments =
            [command.program.as_os_str()].into_iter().chain(command.args.iter().map(AsRef::as_ref));
        let arguments =
            arguments.map(|argument| text(argument, "an argument")).collect::<io::Result<Vec<_>>>()?;
        let variables = command.environment.iter().map(|(name, value)| format!("{name}={value}"));
        let environment = variables
            .map(|variable| text(OsStr::new(&variable), "an environment variable"))
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self { arguments, environment, cwd: text(command.cwd.as_os_str(), "the working directory")? })
    }
}

/// Starts a program; if it reads standard input, that is a pipe.
pub(super) fn spawn(words: &Words, reads: bool) -> io::Result<Spawned> {
    start(words, reads, None)
}

/// Starts a launcher, which becomes the program. A network it is given has to have a number behind its places.
pub(super) fn launch(
    path: &Path,
    request: &LaunchRequest,
    network: Option<BorrowedFd<'_>>,
    reads: bool,
) -> io::Result<Spawned> {
    let words = Words {
        arguments: vec![text(path.as_os_str(), "the launcher's path")?, launcher::ARGUMENT.to_owned()],
        environment: Vec::new(),
        cwd: c"/".to_owned(),
    };
    let request = request.encode()?;
    if request.len() > MAX_REQUEST {
        return Err(io::Error::from_raw_os_error(libc::E2BIG));
    }
    start(&words, reads, Some((&request, network)))
}

fn start(
    words: &Words,
    reads: bool,
    launched: Option<(&[u8], Option<BorrowedFd<'_>>)>,
) -> io::Result<Spawned> {
    // Each gets the lowest number that is free, so the later one has the higher number. Put into their places
    // in this order, none overwrites one that is still needed, even if a standard stream of ours is closed.
    let (its_stdin, stdin) = if reads {
        pipe_with(PipeFlags::CLOEXEC).map(|(its, ours)| (its, Some(ours)))?
    } else {
        (File::open("/dev/null")?.into(), None)
    };
    let (stdout, its_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, its_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
    let request = launched.map(|(request, _)| in_memory(request)).transpose()?;
    let reply = request.is_some().then(|| pipe_with(PipeFlags::CLOEXEC)).transpose()?;
    let (reply, its_reply) = reply.unzip();
    // Replies are read at the end of the launcher: it must not wait for room in their pipe.
    for end in [&stdout, &stderr].into_iter().chain(&stdin).chain(&reply).chain(&its_reply) {
        fcntl_setfl(end, OFlags::NONBLOCK)?;
    }
    let descriptors: Vec<_> = [&its_stdin, &its_stdout, &its_stderr]
        .into_iter()
        .chain(&request)
        .chain(&its_reply)
        .map(|descriptor| descriptor.as_fd())
        .chain(launched.and_then(|(_, network)| network))
        .collect();
    let none = CString::default();
    let program: &CStr = words.arguments.first().unwrap_or(&none);
    let pid = raw::posix_spawn(&raw::Start {
        program,
        arguments: &words.arguments,
        environment: &words.environment,
        cwd: &words.cwd,
        descriptors: &descriptors,
    })?;
    Ok(Spawned { pid, stdin, stdout, stderr, reply })
}

/// A file without a name. Arguments and environment may be secrets, and be longer than a pipe.
fn in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(c"request", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    seek(&file, SeekFrom::Start(0))?;
    Ok(file.into())
}

fn text(text: &OsStr, what: &str) -> io::Result<CString> {
    let refuse = |_| io::Error::new(io::ErrorKind::InvalidInput, format!("{what} holds a zero byte"));
    CString::new(text.as_bytes()).map_err(refuse)
}
