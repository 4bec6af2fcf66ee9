//! The small program that takes on the user, the umask and the sandbox of a command, and then becomes the
//! command.
//!
//! A plain command starts without it. A process has to take on a user, a umask or a sandbox itself, between
//! its start and the start of the program; in a fork of ccm the cost would grow with the memory of ccm. The
//! request arrives in an open file and not in arguments or environment, which other users can read. Every
//! failure is returned through a pipe, which is closed when the program begins.
//!
//! The start of the program of ccm as a launcher takes longer than everything that a launcher does. For sandboxes, ccm
//! therefore starts a launch server once, of which each launcher is a copy. While it waits, a copy makes what is the same for
//! every command.
//!
//! The order of the steps: a new session keyring, namespaces, the view of the file system, capabilities, groups and user, umask and
//! working directory, Landlock, the filter of system calls. Without Landlock, root's sandbox also gets a user
//! namespace once the view is entered.

mod allowlist;
mod executables;
mod filter;
mod limits;
mod mount_events;
mod mount_view;
mod namespaces;
mod prepared;
mod privileges;
mod root;
mod rules;
mod server;
mod shared_directories;
mod system_view;

use std::convert::Infallible;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::mem;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

use nix::sys::signal::Signal;

use crate::command::launch_protocol::{LaunchReply, LaunchRequest, MAX_REQUEST};
use crate::command::lookup;
use crate::command::mark::Mark;
use crate::command::sandbox::{AvailableMeans, SandboxLayer};
use crate::process::hide_inherited_files;
use crate::{Enforced, Means, Sandbox, StartError, raw};
use allowlist::Allowlist;
use limits::OwnLimits;
use namespaces::Users;
use prepared::Prepared;
use server::ServerProcess;
use system_view::SystemView;

/// The only argument of a launcher.
pub(crate) const ARGUMENT: &CStr = c"become-the-command";
/// The only argument of a launch server.
pub(crate) const SERVER_ARGUMENT: &CStr = c"start-launchers";

/// Descriptors of the request, of the replies, and of the empty network if the request has one.
const REQUEST: i32 = 3;
const REPLIES: i32 = 4;
const NETWORK: i32 = 5;

/// Becomes the command, if this process was started as a launcher. Returns `None` if it was not, and else the
/// exit code that `main` has to return at once.
///
/// Call this at the very start of `main`: a launcher has one thread and no open files of its own.
pub fn begin() -> Option<ExitCode> {
    const FAILED: u8 = 127;
    let mut arguments = std::env::args_os().skip(1);
    let argument = arguments.next()?;
    let is = |expected: &CStr| argument.as_encoded_bytes() == expected.to_bytes();
    if arguments.next().is_some() || !(is(ARGUMENT) || is(SERVER_ARGUMENT)) {
        return None;
    }
    // A copy of the server goes on as a launcher.
    let prepared = match is(SERVER_ARGUMENT).then(server::serve) {
        None => Prepared::default(),
        Some(ServerProcess::Copy(prepared)) => prepared,
        Some(ServerProcess::Original) => return Some(ExitCode::SUCCESS),
    };
    let (Ok(request), Ok(replies)) = (raw::inherited(REQUEST), raw::inherited(REPLIES)) else {
        // There is no other way to report it.
        let _best_effort =
            writeln!(io::stderr(), "ccm starts commands with this program; don't call it directly");
        return Some(FAILED.into());
    };
    let mut replies = File::from(replies);
    let done = read(request.into()).and_then(|request| {
        prepare(&request, prepared, &mut replies)?;
        if request.is_preflight {
            find_program(&request)
        } else {
            become_program(&request).map(|never| match never {})
        }
    });
    let Err(error) = done else { return Some(ExitCode::SUCCESS) };
    // The reader may be gone.
    let _best_effort = reply(&mut replies, &LaunchReply::Failed(error));
    Some(FAILED.into())
}

fn read(file: File) -> Result<LaunchRequest, StartError> {
    // As long as most requests are.
    let mut bytes = Vec::with_capacity(8 << 10);
    let read = file.take(MAX_REQUEST as u64).read_to_end(&mut bytes);
    read.map_err(step("launcher", "its request can't be read"))?;
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    LaunchRequest::decode(&bytes)
        .ok_or_else(invalid)
        .map_err(step("launcher", "its request can't be decoded"))
}

fn reply(replies: &mut File, reply: &LaunchReply) -> io::Result<()> {
    replies.write_all(&reply.encode()?)
}

/// Takes on the user, the umask and the sandbox, and reports that this process is ready.
fn prepare(request: &LaunchRequest, prepared: Prepared, replies: &mut File) -> Result<(), StartError> {
    // Rust ignores it at its start; the program gets every signal at its default.
    raw::set_default(Signal::SIGPIPE).map_err(step("launcher", "the signal SIGPIPE can't be reset"))?;
    hide_inherited_files().map_err(step("launcher", "inherited files can't be hidden"))?;
    leave_ccm().map_err(step("launcher", "the session of ccm can't be left"))?;
    // As in a start without a launcher, a command without a mark is no error.
    let _best_effort = request.mark.map(Mark::set);
    if request.identity.is_some() || request.sandbox.is_some() {
        privileges::leave_session_keyring()
            .map_err(step("launcher", "a new session keyring can't be joined"))?;
    }
    let enter = |sandbox| Confinement::enter(sandbox, request, prepared);
    let confinement = request.sandbox.as_ref().map(enter).transpose()?;
    if let Some(confinement) = &confinement {
        let forbidden = confinement.forbid_privileges();
        forbidden.map_err(step("sandbox", "privileges can't be dropped permanently"))?;
    }
    if let Some(identity) = &request.identity {
        privileges::take_on(identity)?;
    }
    if let Some(umask) = request.umask {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask & 0o777));
    }
    rustix::process::chdir(&request.cwd)
        .map_err(|error| StartError::WorkingDirectory { path: request.cwd.clone(), source: error.into() })?;
    let enforced = confinement.map(|confinement| confinement.lock(request)).transpose()?.unwrap_or_default();
    reply(replies, &LaunchReply::Ready(enforced)).map_err(step("launcher", "its reply can't be written"))
}

/// Leaves the session and the working directory of ccm, if the C library could not at the start of this process.
fn leave_ccm() -> io::Result<()> {
    // The C library may have the number of the server as that of its copy. The session of ccm has no number if it began
    // outside of the container of ccm.
    if nix::unistd::getsid(None)?.as_raw() != rustix::process::getpid().as_raw_nonzero().get() {
        rustix::process::setsid()?;
        rustix::process::chdir(c"/")?;
    }
    Ok(())
}

fn become_program(request: &LaunchRequest) -> Result<Infallible, StartError> {
    let Err(error) = execute(request);
    Err(diagnose(request, error))
}

/// Checks that the program can be seen from here.
fn find_program(request: &LaunchRequest) -> Result<(), StartError> {
    let found = rustix::fs::access(&request.program, rustix::fs::Access::EXEC_OK);
    found.map_err(|error| diagnose(request, error.into()))
}

fn diagnose(request: &LaunchRequest, error: io::Error) -> StartError {
    let is_path = |variable: &&CString| variable.to_bytes().starts_with(b"PATH=");
    let path = request.environment.iter().find(is_path).map(|path| path.to_string_lossy());
    let path = path.as_deref().and_then(|path| path.strip_prefix("PATH=")).unwrap_or_default();
    lookup::diagnose(&request.program, &request.cwd, path, error)
}

fn execute(request: &LaunchRequest) -> io::Result<Infallible> {
    let program = CString::new(request.program.as_os_str().as_bytes())?;
    Ok(nix::unistd::execve(&program, &request.arguments, &request.environment)?)
}

/// Returns a function that adds property and step to an error.
fn step<E: Into<io::Error>>(property: &'static str, step: &'static str) -> impl Fn(E) -> StartError {
    move |source| StartError::Step {
        property: property.to_owned(),
        step: step.to_owned(),
        source: source.into(),
    }
}

fn open_directory(path: &CStr) -> io::Result<OwnedFd> {
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?)
}

/// Opens the null device anew if it is standard input: through the descriptor from outside, its owner could
/// change the device.
fn own_null_device() -> io::Result<()> {
    const NULL: &CStr = c"/dev/null";
    let outside = rustix::fs::fstat(io::stdin())?;
    if rustix::fs::FileType::from_raw_mode(outside.st_mode).is_char_device()
        && outside.st_rdev == rustix::fs::stat(NULL)?.st_rdev
    {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
        nix::unistd::dup2_stdin(rustix::fs::open(NULL, flags, rustix::fs::Mode::empty())?)?;
    }
    Ok(())
}

/// Sandbox whose view of the file system exists, and whose rules are not in force yet.
struct Confinement<'s> {
    sandbox: &'s Sandbox,
    available: AvailableMeans,
    enforced: Enforced,
    allowlist: Allowlist,
    forbids_capabilities: bool,
}

impl<'s> Confinement<'s> {
    fn enter(sandbox: &'s Sandbox, request: &LaunchRequest, prepared: Prepared) -> Result<Self, StartError> {
        let is_off = |layer| request.switched_off.contains(&layer);
        // The namespaces and the view would hide the files through which a group is joined.
        limits::join(&request.control_group.memberships)
            .map_err(step("sandbox", "its control group can't be joined"))?;
        let empty = request.has_network.then(|| raw::inherited(NETWORK)).transpose();
        let empty = empty.map_err(step("launcher", "its network can't be found"))?;
        // The view will have a /proc in which nothing can be written.
        let proc = open_directory(c"/proc").map_err(step("sandbox", "/proc can't be opened"))?;
        let users = if is_off(SandboxLayer::Namespaces) {
            Err("switched off".to_owned())
        } else {
            let becomes_another = request.identity.is_some();
            let entered =
                namespaces::enter(sandbox.network, empty.as_ref(), becomes_another, prepared.has_own_memory);
            entered.map_err(|error| error.to_string())
        };
        let newest = request.switched_off.iter().find_map(|layer| match layer {
            SandboxLayer::LandlockNewerThan(version) => Some(*version),
            _ => None,
        });
        let landlock = if is_off(SandboxLayer::Landlock) { 0 } else { raw::landlock_version() };
        let available = AvailableMeans {
            no_namespaces: users.as_ref().err().cloned(),
            landlock: newest.map_or(landlock, |newest| landlock.min(newest)),
            seccomp: !is_off(SandboxLayer::Seccomp) && filter::is_available(),
            exposed: request.exposed.clone(),
            processes: if request.control_group.limits_processes {
                Some(Means::ControlGroup)
            } else {
                namespaces::count_processes(users.as_ref().ok().copied()).then_some(Means::ResourceLimit)
            },
            memory: if request.control_group.limits_memory {
                Means::ControlGroup
            } else {
                Means::ResourceLimit
            },
        };
        let mut enforced = available.enforce(sandbox);
        if !enforced.missing.is_empty() && !sandbox.advisory {
            return Err(StartError::NotEnforceable { missing: enforced.missing });
        }
        // In another namespace of users, nothing of it is of use.
        let prepared = if users == Ok(Users::Own) { Prepared::default() } else { prepared };
        let mut forbids_capabilities = prepared.forbids_capabilities;
        let system = prepared.view.filter(|view| available.no_namespaces.is_none() && view.suits(sandbox));
        let (begun, system) = system.map(SystemView::into_parts).unzip();
        let mut allowlist = system.unwrap_or_else(Allowlist::of_system).open(sandbox)?;
        if available.no_namespaces.is_none() {
            mount_view::enter(&mut allowlist, begun)?;
            own_null_device().map_err(step("sandbox", "the null device in the sandbox can't be opened"))?;
        }
        if users == Ok(Users::Shared) && available.landlock == 0 {
            forbids_capabilities = false;
            let separated = if is_off(SandboxLayer::Users) {
                Err(io::Error::other("switched off"))
            } else {
                namespaces::separate_users(&proc)
            };
            if let Err(error) = separated {
                enforced.missing.push(AvailableMeans::users_are_shared(&error));
                if !sandbox.advisory {
                    return Err(StartError::NotEnforceable { missing: enforced.missing });
                }
            }
        }
        Ok(Self { sandbox, available, enforced, allowlist, forbids_capabilities })
    }

    /// Keeps the program from getting a privilege.
    fn forbid_privileges(&self) -> io::Result<()> {
        if !self.forbids_capabilities {
            privileges::forbid_capabilities()?;
        }
        privileges::forbid_new()
    }

    /// Puts the rules into force for good.
    fn lock(self, request: &LaunchRequest) -> Result<Enforced, StartError> {
        // Without capabilities, this process is no stronger than the commands of other sandboxes of its user.
        // Until the program begins, they must not look into it.
        nix::sys::prctl::set_dumpable(false).map_err(step("sandbox", "its launcher can't be protected"))?;
        privileges::drop_all().map_err(step("sandbox", "capabilities can't be dropped"))?;
        if self.available.landlock > 0 {
            let allowed = self.sandbox.programs.as_ref();
            let executables = allowed.map(|allowed| executables::open(allowed, request)).transpose()?;
            rules::restrict(self.available.landlock, &self.allowlist, executables.as_deref())
                .map_err(step("sandbox", "the Landlock rules can't be applied"))?;
        }
        if self.available.seccomp {
            let has_view = self.available.no_namespaces.is_none();
            filter::install(self.sandbox, has_view)
                .map_err(step("sandbox", "the filter of system calls can't be installed"))?;
        }
        let own = OwnLimits {
            limits: &self.sandbox.limits,
            processes: self.available.processes == Some(Means::ResourceLimit),
            memory: self.available.memory == Means::ResourceLimit,
        };
        own.set().map_err(step("sandbox", "its limits can't be set"))?;
        // The start of the program closes them in less time.
        mem::forget(self.allowlist);
        Ok(self.enforced)
    }
}
