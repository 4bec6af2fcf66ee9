//! Starting a process with a defined set of inherited state.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{MemfdFlags, OFlags, SeekFrom, fcntl_setfl, memfd_create, seek};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::process::Pid;

use super::Command;
use super::launch_protocol::{LOWEST_OWN_DESCRIPTOR, LaunchRequest, MAX_REQUEST};
use super::launch_server::LaunchServer;
use crate::raw::ChangeDirectory;
use crate::{launcher, raw};

/// Started process, with the ends of its pipes that ccm keeps. They do not block.
pub(super) struct Spawned {
    pub(super) pid: Pid,
    /// Pipe for the rest of the input, and the number of bytes that are in it already. `None` if the process has all of it.
    pub(super) stdin: Option<(OwnedFd, usize)>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// Replies of the launcher; `None` without a launcher.
    pub(super) reply: Option<OwnedFd>,
}

/// Arguments, environment and working directory of a process, as the kernel takes them.
pub(super) struct ExecArguments {
    /// The first one is the name that the program is called by.
    pub(super) arguments: Vec<CString>,
    pub(super) environment: Vec<CString>,
    pub(super) cwd: CString,
}

impl ExecArguments {
    pub(super) fn of(command: &Command) -> io::Result<Self> {
        let name = command.called_as.as_ref().map_or(command.program.as_os_str(), OsStr::new);
        let arguments = [name].into_iter().chain(command.args.iter().map(AsRef::as_ref));
        let arguments =
            arguments.map(|argument| text(argument, "an argument")).collect::<io::Result<Vec<_>>>()?;
        let variables = command.environment.iter().map(|(name, value)| format!("{name}={value}"));
        let environment = variables
            .map(|variable| text(OsStr::new(&variable), "an environment variable"))
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self { arguments, environment, cwd: text(command.cwd.as_os_str(), "the working directory")? })
    }

    /// Returns those of a launcher, or of a server of launchers.
    pub(super) fn of_launcher(name: &Path, argument: &CStr) -> io::Result<Self> {
        Ok(Self {
            arguments: vec![text(name.as_os_str(), "the launcher's path")?, argument.to_owned()],
            environment: Vec::new(),
            cwd: c"/".to_owned(),
        })
    }
}

/// Starts a program. With `input`, its standard input is a pipe.
pub(super) fn spawn(
    program: &Path,
    words: &ExecArguments,
    input: Option<&[u8]>,
    change_directory: ChangeDirectory,
) -> io::Result<Spawned> {
    start(&text(program.as_os_str(), "the program's path")?, words, input, Some(change_directory), None)
}

/// Starts a launcher, which becomes the program. `start_path` leads to the launcher of that name. The
/// descriptor of a network must not be below [`LOWEST_OWN_DESCRIPTOR`]. Without `change_directory`, the launcher
/// itself leaves the session and the working directory of ccm.
pub(super) fn launch(
    name: &Path,
    start_path: &CStr,
    request: &LaunchRequest,
    network: Option<BorrowedFd<'_>>,
    input: Option<&[u8]>,
    change_directory: Option<ChangeDirectory>,
) -> io::Result<Spawned> {
    let words = ExecArguments::of_launcher(name, launcher::ARGUMENT)?;
    start(start_path, &words, input, change_directory, Some((&encode(request)?, network)))
}

/// Starts a launcher as a copy of the launch server. `None` if the server has ended or can't be copied.
pub(super) fn launch_copy(
    server: &LaunchServer,
    request: &LaunchRequest,
    network: Option<BorrowedFd<'_>>,
    input: Option<&[u8]>,
) -> io::Result<Option<Spawned>> {
    let pipes = Pipes::open(input, Some(&encode(request)?))?;
    let descriptors: Vec<_> = pipes.inherited.iter().map(OwnedFd::as_fd).chain(network).collect();
    Ok(server.launch(&descriptors).map(|pid| pipes.of_process(pid)))
}

fn encode(request: &LaunchRequest) -> io::Result<Vec<u8>> {
    let request = request.encode()?;
    if request.len() > MAX_REQUEST { Err(io::Error::from_raw_os_error(libc::E2BIG)) } else { Ok(request) }
}

/// Starts a program in the directory of ccm and in a session of its own. Returns the ends of its pipes that ccm keeps, which
/// do not block: standard input, standard output and standard error.
pub(crate) fn spawn_piped(command: &Command) -> io::Result<(Pid, OwnedFd, OwnedFd, OwnedFd)> {
    let words = ExecArguments::of(command)?;
    let (its_stdin, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stdout, its_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, its_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
    for end in [&stdin, &stdout, &stderr] {
        fcntl_setfl(end, OFlags::NONBLOCK)?;
    }
    let pid = raw::posix_spawn(&raw::Start {
        program: &text(command.program.as_os_str(), "the program's path")?,
        arguments: &words.arguments,
        environment: &words.environment,
        cwd: None,
        has_session: true,
        descriptors: &[its_stdin.as_fd(), its_stdout.as_fd(), its_stderr.as_fd()],
    })?;
    Ok((pid, stdin, stdout, stderr))
}

/// Size of a new pipe in bytes.
const PIPE_SIZE: usize = 64 << 10;

/// Size of a pipe that every user may have, in bytes.
const MAX_PIPE_SIZE: usize = 1 << 20;

/// Ends of the pipes of a process, and the files of a launcher.
struct Pipes {
    /// Ends that ccm keeps.
    stdin: Option<(OwnedFd, usize)>,
    stdout: OwnedFd,
    stderr: OwnedFd,
    reply: Option<OwnedFd>,
    /// Descriptors of the process, for the numbers 0, 1, 2 and so on.
    inherited: Vec<OwnedFd>,
}

impl Pipes {
    fn open(input: Option<&[u8]>, request: Option<&[u8]>) -> io::Result<Self> {
        // Each descriptor gets the lowest free number, so that later descriptors have higher numbers. Moving them to
        // their final numbers in this order overwrites no descriptor that is still needed, even if a standard stream
        // of ccm is closed.
        let (its_stdin, stdin) = match input {
            Some(input) => filled_pipe(input)?,
            None => (null_device()?.into(), None),
        };
        let (stdout, its_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, its_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
        let request = request.map(in_memory).transpose()?;
        let reply = request.is_some().then(|| pipe_with(PipeFlags::CLOEXEC)).transpose()?;
        let (reply, its_reply) = reply.unzip();
        // Replies are read after the launcher has ended, so it must not wait for room in their pipe.
        for end in [&stdout, &stderr].into_iter().chain(&reply).chain(&its_reply) {
            fcntl_setfl(end, OFlags::NONBLOCK)?;
        }
        let inherited =
            [its_stdin, its_stdout, its_stderr].into_iter().chain(request).chain(its_reply).collect();
        Ok(Self { stdin, stdout, stderr, reply, inherited })
    }

    fn of_process(self, pid: Pid) -> Spawned {
        let Self { stdin, stdout, stderr, reply, inherited: _ } = self;
        Spawned { pid, stdin, stdout, stderr, reply }
    }
}

/// Makes a pipe with an input in it, and returns its ends; the one of ccm only if a part of the input is left, with the
/// length of the part that is in the pipe. A command must not take the end of ccm for the end of its input, which for
/// `crontab -` would be an empty crontab.
fn filled_pipe(input: &[u8]) -> io::Result<(OwnedFd, Option<(OwnedFd, usize)>)> {
    let (its, ours) = pipe_with(PipeFlags::CLOEXEC)?;
    fcntl_setfl(&ours, OFlags::NONBLOCK)?;
    if input.len() > PIPE_SIZE {
        // More than the system allows is streamed.
        let _larger = fcntl_setpipe_size(&ours, input.len().min(MAX_PIPE_SIZE));
    }
    let mut written = 0;
    while written < input.len() {
        match rustix::io::write(&ours, &input[written..]) {
            Ok(length) => written += length,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok((its, Some((ours, written)))),
            Err(error) => return Err(error.into()),
        }
    }
    Ok((its, None))
}

fn start(
    program: &CStr,
    words: &ExecArguments,
    input: Option<&[u8]>,
    change_directory: Option<ChangeDirectory>,
    launched: Option<(&[u8], Option<BorrowedFd<'_>>)>,
) -> io::Result<Spawned> {
    let pipes = Pipes::open(input, launched.map(|(request, _)| request))?;
    let inherited: Vec<_> = pipes.inherited.iter().map(OwnedFd::as_fd).collect();
    // A glibc before 2.29 leaves a descriptor closed that has its final number already.
    let moved: Vec<OwnedFd> = if change_directory.is_none() {
        let moved = inherited.iter().map(|descriptor| fcntl_dupfd_cloexec(descriptor, LOWEST_OWN_DESCRIPTOR));
        moved.collect::<Result<_, _>>()?
    } else {
        Vec::new()
    };
    let inherited = if moved.is_empty() { inherited } else { moved.iter().map(OwnedFd::as_fd).collect() };
    let descriptors = [inherited, launched.and_then(|(_, network)| network).into_iter().collect()].concat();
    let pid = raw::posix_spawn(&raw::Start {
        program,
        arguments: &words.arguments,
        environment: &words.environment,
        cwd: change_directory.map(|function| (function, words.cwd.as_c_str())),
        has_session: change_directory.is_some(),
        descriptors: &descriptors,
    })?;
    Ok(pipes.of_process(pid))
}

/// Opens the standard input of a command that reads nothing. Its error has no number, which would be taken for that of
/// the program.
pub(super) fn null_device() -> io::Result<File> {
    const PATH: &str = "/dev/null";
    File::open(PATH).map_err(|error| io::Error::other(format!("\"{PATH}\" can't be opened: {error}")))
}

/// Returns an unnamed file with that content. Arguments and environment may be secrets, and longer than a
/// pipe.
pub(super) fn in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(c"request", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    seek(&file, SeekFrom::Start(0))?;
    Ok(file.into())
}

fn text(text: &OsStr, what: &str) -> io::Result<CString> {
    let refuse = |_| io::Error::new(io::ErrorKind::InvalidInput, format!("{what} holds a zero byte"));
    CString::new(text.as_bytes()).map_err(refuse)
}
