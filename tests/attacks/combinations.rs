//! The probes in every combination of user, layers and openings.

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{
    Cancellation, Command, Enforced, Exit, Finished, Identity, Means, Runner as _, Sandbox, SandboxLayer,
    StartError, SystemRunner,
};
use ccm_testkit::{Scratch, is_root, isolated, isolated_with_setup, needs_root, on_this_machine, skipped};

use crate::ccm;
use crate::ground::{Ground, NOBODY, Target};
use crate::probe::{self, Circumstances, Expected, PROGRAM, TARGET, results};

/// Variable that is set where root lowered its rights for a test.
const LOWERED: &str = "CCM_ATTACKS_LOWERED";

/// User of ccm and of the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Users {
    /// Both are the user of this process.
    Own,
    /// Root runs a sandbox of nobody.
    Nobody,
}

/// One set of circumstances.
#[derive(Clone, Copy)]
struct Combination {
    users: Users,
    off: &'static [SandboxLayer],
    network: bool,
    unix_sockets: bool,
}

const WITHOUT: [&[SandboxLayer]; 4] =
    [&[], &[SandboxLayer::Namespaces], &[SandboxLayer::Landlock], &[SandboxLayer::Seccomp]];
/// Network and Unix sockets.
const OPENINGS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

impl fmt::Display for Combination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { users, off, network, unix_sockets } = self;
        let root = if is_root() { "root" } else { "an ordinary user" };
        write!(formatter, "{root}, {users:?}, without {off:?}, ")?;
        write!(formatter, "network: {network}, unix_sockets: {unix_sockets}")
    }
}

impl Combination {
    fn is_off(&self, layer: SandboxLayer) -> bool {
        self.off.contains(&layer)
    }

    /// Returns `true` if the documentation says that such a sandbox is refused.
    fn must_be_refused(&self) -> bool {
        self.is_off(SandboxLayer::Seccomp)
            || (self.is_off(SandboxLayer::Namespaces) && self.unix_sockets)
            || (self.is_off(SandboxLayer::Landlock) && self.unix_sockets && self.network)
    }

    fn circumstances(&self, enforced: &Enforced) -> Circumstances {
        Circumstances {
            ccm_is_root: is_root(),
            namespaces: enforced.filesystem.contains(&Means::Mounts),
            landlock: enforced.filesystem.contains(&Means::Landlock),
            signals: !enforced.signals.is_empty(),
            seccomp: !self.is_off(SandboxLayer::Seccomp),
            network: self.network,
            unix_sockets: self.unix_sockets,
        }
    }
}

/// Returns the command that makes the probes, without a sandbox.
pub(crate) fn command(program: &Path, target: &Target) -> Command {
    Command {
        args: ["--exact", PROGRAM, "--nocapture", "--test-threads=1"].map(Into::into).into(),
        cwd: target.work(),
        environment: vec![(TARGET.to_owned(), target.encode())],
        timeout: Some(on_this_machine(Duration::from_secs(150))),
        ..Command::new(program)
    }
}

pub(crate) fn run(runner: &SystemRunner, command: &Command) -> Result<Finished, StartError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(runner.run(command, &Cancellation::never(), &mut |_, _| {}))
}

/// Returns a sandbox around a target.
pub(crate) fn sandbox(program: &Path, target: &Target) -> Sandbox {
    Sandbox {
        read: vec![target.read(""), program.to_owned()],
        write: vec![target.write("")],
        ..Sandbox::new(target.work())
    }
}

/// Copies this program to a place that every user can reach.
pub(crate) fn copy(scratch: &Scratch, program: &Path, name: &str) -> PathBuf {
    let copy = scratch.path().join(name);
    std::fs::copy(program, &copy).expect("a copy of a program");
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    copy
}

pub(crate) fn this_program() -> PathBuf {
    std::env::current_exe().expect("this program")
}

/// Makes the probes in one combination. Returns the reasons to fail, or `None` if this machine can't.
fn attack(combination: &Combination, program: &Path, has_everything: &mut bool) -> Option<Vec<String>> {
    let runner = SystemRunner::new().expect("a runner").with_launcher(ccm());
    let runner = combination.off.iter().fold(runner, |runner, layer| runner.without(*layer));
    let user = (combination.users == Users::Nobody).then_some(NOBODY);
    let mut ground = Ground::new(user);
    let Combination { network, unix_sockets, .. } = *combination;
    let mut sandbox = Sandbox { network, unix_sockets, ..sandbox(program, &ground.target) };
    // Without namespaces, a readable path in a writable one is refused.
    if !combination.is_off(SandboxLayer::Namespaces) {
        sandbox.read.push(ground.target.write("fixed"));
    }
    let identity = user.map(|user| Identity { uid: user, gid: user, groups: vec![user] });
    let command = Command { identity, sandbox: Some(sandbox.clone()), ..command(program, &ground.target) };
    let mut failures = Vec::new();
    let finished = match run(&runner, &command) {
        Ok(finished) => {
            if combination.must_be_refused() {
                failures.push("the sandbox was not refused".to_owned());
            }
            finished
        }
        Err(StartError::NotEnforceable { missing }) => {
            if combination.off.is_empty() {
                *has_everything = false;
            }
            if !combination.must_be_refused() && !*has_everything {
                skipped(&format!("{combination}: {}", missing.join("; ")));
                return None;
            }
            if !combination.must_be_refused() {
                failures.push(format!("the sandbox was refused: {}", missing.join("; ")));
            }
            // Such a sandbox is known to be open.
            if missing.iter().any(|part| part.ends_with("to protect all files")) {
                skipped(&format!("{combination}: {}", missing.join("; ")));
                return Some(failures);
            }
            let sandbox = Some(Sandbox { advisory: true, ..sandbox });
            run(&runner, &Command { sandbox, ..command }).expect("an advisory sandbox")
        }
        Err(error) => return Some(vec![format!("{error:?}")]),
    };
    if finished.exit != Exit::Code(0) {
        let output = [finished.stdout.head, finished.stderr.head].concat();
        return Some(vec![format!("{:?}: {}", finished.exit, String::from_utf8_lossy(&output))]);
    }
    if !finished.left_running.is_empty() {
        failures.push(format!("left running: {:?}", finished.left_running));
    }
    let enforced = finished.enforced.expect("what was enforced");
    failures.extend(compare(&ground.target, combination.circumstances(&enforced)));
    failures.extend(ground.damage());
    Some(failures)
}

/// Compares the results with the promises.
pub(crate) fn compare(target: &Target, circumstances: Circumstances) -> Vec<String> {
    let results = results(&target.work());
    let mut failures = Vec::new();
    for probe in probe::all() {
        let outcome = results.get(&probe.name).copied().expect("a result of every probe");
        let is_as_promised = match probe.promise.expected(circumstances) {
            Expected::Refused => probe::is_refused(outcome),
            Expected::Allowed => outcome.is_ok(),
            Expected::Unpromised => true,
        };
        if !is_as_promised {
            failures.push(format!("{} ({:?}): {}", probe.name, probe.promise, probe::shown(outcome)));
        }
    }
    failures
}

/// Makes the probes in all combinations of a user.
fn attack_all(users: Users, program: &Path) {
    let mut failures = String::new();
    let mut has_everything = true;
    for off in WITHOUT {
        for (network, unix_sockets) in OPENINGS {
            let combination = Combination { users, off, network, unix_sockets };
            let Some(failed) = attack(&combination, program, &mut has_everything) else { continue };
            for failure in failed {
                failures += &format!("{combination}: {failure}\n");
            }
        }
    }
    assert!(failures.is_empty(), "not as promised:\n{failures}");
}

#[test]
fn sandboxes_of_the_own_user_are_closed() {
    isolated(|| {
        // The directories above an open path can be listed, and this program may be in any.
        let scratch = Scratch::new();
        attack_all(Users::Own, &copy(&scratch, &this_program(), "probes"));
    });
}

#[test]
fn sandboxes_of_root_for_another_user_are_closed() {
    if !needs_root() {
        return;
    }
    isolated(|| {
        let scratch = Scratch::new();
        attack_all(Users::Nobody, &copy(&scratch, &this_program(), "probes"));
    });
}

#[test]
fn sandboxes_of_nobody_are_closed() {
    if !is_root() && std::env::var_os(LOWERED).is_none() {
        skipped("another test makes the same attempts as this ordinary user");
        return;
    }
    // The body runs as nobody; only this part runs as root.
    let (scratch, preparation) = if is_root() {
        let scratch = Scratch::new();
        let program = copy(&scratch, &this_program(), "attacks");
        let binary = copy(&scratch, &ccm(), "ccm");
        let preparation = format!(
            "exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups env {LOWERED}=yes CCM_TEST_BINARY={} {} \"$@\"",
            binary.display(),
            program.display()
        );
        (Some(scratch), preparation)
    } else {
        (None, String::new())
    };
    isolated_with_setup(&preparation, || {
        attack_all(Users::Own, &this_program());
    });
    drop(scratch);
}
