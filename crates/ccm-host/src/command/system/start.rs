//! Starting a command, through the launcher where it is needed.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid};

use super::SystemRunner;
use crate::account::Identity;
use crate::command::control_group::ControlGroup;
use crate::command::launch_protocol::{ControlGroupRequest, LaunchReply, LaunchRequest, MAX_REPLIES};
use crate::command::launch_server::LaunchServer;
use crate::command::launcher_program::LauncherProgram;
use crate::command::mark::Mark;
use crate::command::spawn::{ExecArguments, Spawned, launch, launch_copy, spawn};
use crate::command::{Command, Enforced, StartError, lookup, search_path};
use crate::process::own_umask;

/// Starts the command, through the launcher only if that is needed.
pub(super) fn start(
    runner: &SystemRunner,
    command: &Command,
    control_group: &ControlGroup,
    mark: Option<Mark>,
) -> Result<Spawned, StartError> {
    let failed = |source| StartError::Spawn { program: command.program.clone(), source };
    let arguments = ExecArguments::of(command).map_err(failed)?;
    let input = command.stdin.as_deref();
    let need = launcher_need(command)?;
    let (property, identity) = match (need, runner.change_directory) {
        (Some(need), _) => need,
        (None, None) => ("cwd", None),
        (None, Some(change_directory)) => {
            return spawn(&command.program, &arguments, input, change_directory).map_err(|source| {
                let path = search_path(&command.environment).unwrap_or_default();
                lookup::diagnose(&command.program, &command.cwd, path, source)
            });
        }
    };
    let request = LaunchRequest { mark, ..request(runner, command, arguments, identity, control_group) };
    start_launcher(runner, command, property, request, input)
}

/// Starts a launcher. Only that of a sandbox needs a program that the command can't change: without a
/// sandbox, the command may do whatever its user may do.
fn start_launcher(
    runner: &SystemRunner,
    command: &Command,
    property: &'static str,
    request: LaunchRequest,
    input: Option<&[u8]>,
) -> Result<Spawned, StartError> {
    let launcher = runner.launcher.as_ref().ok_or(StartError::NoLauncher { property })?;
    let failed = |source| StartError::Launcher { launcher: launcher.clone(), source };
    let network = runner.network(command.sandbox.as_ref());
    let change_directory = runner.change_directory;
    if command.sandbox.is_none() {
        let path = CString::new(launcher.as_os_str().as_bytes()).map_err(|error| failed(error.into()))?;
        return launch(launcher, &path, &request, network, input, change_directory).map_err(failed);
    }
    let program = if let Some(program) = runner.sandbox_launcher.get() {
        program
    } else {
        let opened = LauncherProgram::open(launcher).map_err(failed)?;
        runner.sandbox_launcher.get_or_init(|| opened)
    };
    let mut request = LaunchRequest { exposed: program.exposed.clone(), ..request };
    if let Some(server) = launch_server(runner, launcher, program, &request)
        && let Some(umask) = request.umask.or_else(own_umask)
    {
        // The server has the umask that this process had.
        request.umask = Some(umask);
        if let Some(spawned) = launch_copy(server, &request, network, input).map_err(failed)? {
            return Ok(spawned);
        }
    }
    launch(launcher, &program.path, &request, network, input, change_directory).map_err(failed)
}

/// Returns the server that starts launchers, and starts it if needed. A single launcher that becomes no command does
/// without, and so does a C library that does not know the number of a copy.
fn launch_server<'r>(
    runner: &'r SystemRunner,
    launcher: &Path,
    program: &LauncherProgram,
    request: &LaunchRequest,
) -> Option<&'r LaunchServer> {
    if request.is_preflight || runner.change_directory.is_none() {
        return None;
    }
    runner.launch_server.get_or_init(|| LaunchServer::start(launcher, &program.path)).as_ref()
}

fn request(
    runner: &SystemRunner,
    command: &Command,
    arguments: ExecArguments,
    identity: Option<Identity>,
    control_group: &ControlGroup,
) -> LaunchRequest {
    LaunchRequest {
        program: command.program.clone(),
        arguments: arguments.arguments,
        environment: arguments.environment,
        cwd: command.cwd.clone(),
        identity,
        umask: command.umask,
        mark: None,
        sandbox: command.sandbox.clone(),
        switched_off: runner.switched_off.clone(),
        has_network: runner.network(command.sandbox.as_ref()).is_some(),
        exposed: None,
        control_group: ControlGroupRequest {
            memberships: control_group.memberships(),
            limits_processes: control_group.limits_processes(),
            limits_memory: control_group.limits_memory(),
        },
        is_preflight: false,
    }
}

/// Starts a launcher that does everything except become the program, and waits for its reply.
pub(super) fn preflight(runner: &SystemRunner, command: &Command) -> Result<Option<Enforced>, StartError> {
    /// The launcher opens the paths of the sandbox, which may be on a file system that hangs.
    const MAX_PREFLIGHT: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
    const KILLED: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
    let Some((property, identity)) = launcher_need(command)? else { return Ok(None) };
    let failed = |source| StartError::Spawn { program: command.program.clone(), source };
    let arguments = ExecArguments::of(command).map_err(failed)?;
    let control_group = runner.control_group(command.sandbox.as_ref());
    let request =
        LaunchRequest { is_preflight: true, ..request(runner, command, arguments, identity, &control_group) };
    let started = start_launcher(runner, command, property, request, None)?;
    let handle = pidfd_open(started.pid, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
    let has_ended = |within: &Timespec| {
        let wait = || poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(within));
        rustix::io::retry_on_intr(wait).is_ok_and(|ended| ended > 0)
    };
    if !has_ended(&MAX_PREFLIGHT) {
        let _gone = pidfd_send_signal(&handle, rustix::process::Signal::KILL);
        has_ended(&KILLED);
    }
    let _reaped = waitid(WaitId::Pid(started.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    match started.reply.and_then(read_reply) {
        Some(LaunchReply::Ready(enforced)) => Ok(command.sandbox.is_some().then_some(enforced)),
        reply => Err(refusal(runner, command, reply)),
    }
}

/// Returns the property that needs a launcher, and the identity to take on; `None` if a plain start is
/// enough.
fn launcher_need(command: &Command) -> Result<Option<(&'static str, Option<Identity>)>, StartError> {
    let identity = match &command.identity {
        None => None,
        Some(desired) => {
            let lookup = |source| StartError::Spawn { program: command.program.clone(), source };
            identity_change(desired, &Identity::own().map_err(lookup)?)?
        }
    };
    let needs = [
        ("user", identity.is_some()),
        ("umask", command.umask.is_some()),
        ("sandbox", command.sandbox.is_some()),
    ];
    let property = needs.iter().find(|(_, needed)| *needed).map(|(property, _)| *property);
    Ok(property.map(|property| (property, identity)))
}

/// Returns the identity that a process with its own has to take on; `None` if the two are the same.
pub(super) fn identity_change(desired: &Identity, own: &Identity) -> Result<Option<Identity>, StartError> {
    if own.uid == 0 {
        let sorted = |identity: &Identity| {
            let mut groups = identity.groups.clone();
            groups.sort_unstable();
            (identity.uid, identity.gid, groups)
        };
        return Ok((sorted(desired) != sorted(own)).then(|| desired.clone()));
    }
    let has_group = |group: &u32| *group == own.gid || own.groups.contains(group);
    if desired.uid != own.uid {
        return Err(StartError::NotRoot { property: "user", uid: own.uid });
    }
    if desired.gid != own.gid || !desired.groups.iter().all(has_group) {
        return Err(StartError::NotRoot { property: "group", uid: own.uid });
    }
    Ok(None)
}

/// Reads the last reply of a launcher that became the program or ended.
pub(super) fn read_reply(reply: OwnedFd) -> Option<LaunchReply> {
    let mut bytes = Vec::new();
    // The pipe does not block: a launcher that still runs was ended without a reply.
    let _end = File::from(reply).take(MAX_REPLIES).read_to_end(&mut bytes);
    LaunchReply::decode_last(&bytes)
}

/// Returns the error of a launcher that did not become the program.
pub(super) fn refusal(runner: &SystemRunner, command: &Command, reply: Option<LaunchReply>) -> StartError {
    match reply {
        Some(LaunchReply::Failed(StartError::NotFound { .. }))
            if command.sandbox.is_some() && std::fs::metadata(&command.program).is_ok() =>
        {
            StartError::OutsideSandbox { program: command.program.clone() }
        }
        Some(LaunchReply::Failed(StartError::WorkingDirectory { path, source }))
            if command.sandbox.is_some()
                && source.kind() == io::ErrorKind::NotFound
                && std::fs::metadata(&path).is_ok_and(|found| found.is_dir()) =>
        {
            StartError::DirectoryOutsideSandbox { path }
        }
        Some(LaunchReply::Failed(error)) => error,
        _ => StartError::NoReply { launcher: runner.launcher.clone().unwrap_or_default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(uid: u32, gid: u32, groups: &[u32]) -> Identity {
        Identity { uid, gid, groups: groups.to_vec() }
    }

    #[test]
    fn only_root_becomes_somebody_else() {
        let root = identity(0, 0, &[0, 4]);
        let user = identity(7, 8, &[8, 9]);
        for (own, desired, expected) in [
            (&root, identity(0, 0, &[4, 0]), Ok(false)),
            (&root, identity(0, 0, &[]), Ok(true)),
            (&root, identity(7, 8, &[9]), Ok(true)),
            (&user, user.clone(), Ok(false)),
            (&user, identity(7, 8, &[]), Ok(false)),
            (&user, identity(7, 9, &[]), Err("group")),
            (&user, identity(7, 8, &[10]), Err("group")),
            (&user, identity(0, 8, &[]), Err("user")),
        ] {
            let found = match identity_change(&desired, own) {
                Ok(identity) => Ok(identity.is_some()),
                Err(StartError::NotRoot { property, .. }) => Err(property),
                Err(other) => unreachable!("{other}"),
            };
            assert_eq!(found, expected, "{own:?} {desired:?}");
        }
    }
}
