//! Commands that run as another user, or with their own umask.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::time::Duration;

use ccm_host::{
    Cancellation, Command, Exit, Identity, LocalSystem as _, Runner as _, StartError, SystemRunner,
};
use ccm_testkit::{isolated, needs_ordinary_user, needs_root, wait_until};

use crate::hostile::paused::{DEADLINE, with_deadline};
use crate::hostile::{alone, block_on, run, shell, text};

/// Returns the launcher: beside this crate's programs, or the path in the variable for moved tests.
pub(crate) fn launcher() -> PathBuf {
    std::env::var_os("CCM_TEST_LAUNCHER")
        .map_or_else(|| env!("CARGO_BIN_EXE_ccm-launcher").into(), Into::into)
}

/// Runs the body of the test of that name alone in a process, with a runner that has a launcher.
pub(crate) fn launched(body: impl AsyncFnOnce(&SystemRunner)) {
    isolated(|| {
        let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
        block_on(body(&runner));
    });
}

pub(crate) async fn start_error(runner: &SystemRunner, command: &Command) -> StartError {
    let started = runner.run(command, &Cancellation::never(), &mut |_, _| {}).await;
    started.expect_err("a command that does not start")
}

/// Returns an error with its causes.
pub(crate) fn chain(error: &StartError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Returns an ordinary user without an entry, with two groups.
pub(crate) fn stranger() -> Identity {
    Identity { uid: 54_321, gid: 54_322, groups: vec![54_322, 54_323] }
}

#[test]
fn command_has_only_the_given_user_and_groups() {
    launched(async |runner| {
        if !needs_root() {
            return;
        }
        let desired = "grep -E '^(Uid|Gid|Groups|Cap(Prm|Eff|Amb)):' /proc/self/status | tr -s '\\t ' ' '";
        let command = Command { identity: Some(stranger()), ..shell(desired) };
        let none = "0000000000000000";
        assert_eq!(
            text(&run(runner, &command).await.stdout),
            format!(
                "Uid: 54321 54321 54321 54321\nGid: 54322 54322 54322 54322\nGroups: 54322 54323 \n\
                     CapPrm: {none}\nCapEff: {none}\nCapAmb: {none}\n"
            )
        );
        let shadow = Command { identity: Some(stranger()), ..shell("cat /etc/shadow") };
        assert_ne!(run(runner, &shadow).await.exit, Exit::Code(0));
    });
}

#[test]
fn account_determines_groups_and_environment() {
    launched(async |runner| {
        let account = runner.account("nobody").expect("nobody");
        let environment = runner.environment_of(&account);
        if !needs_root() {
            return;
        }
        let command = Command {
            identity: Some(account.identity.clone()),
            environment,
            ..shell("echo $HOME $USER $LOGNAME $SHELL; id -u; id -G")
        };
        let groups: Vec<String> = account.identity.groups.iter().map(u32::to_string).collect();
        assert_eq!(
            text(&run(runner, &command).await.stdout),
            format!(
                "{} nobody nobody {}\n{}\n{}\n",
                account.home.display(),
                account.shell.display(),
                account.identity.uid,
                groups.join(" ")
            )
        );
        assert_eq!(
            runner.account("no-such-user").expect_err("nobody").to_string(),
            "user \"no-such-user\" does not exist"
        );
    });
}

#[test]
fn only_root_runs_a_command_as_another_user() {
    launched(async |runner| {
        let own = Identity::own().expect("our own numbers");
        let same = Command { identity: Some(own.clone()), ..shell("id -u") };
        assert_eq!(text(&run(runner, &same).await.stdout), format!("{}\n", own.uid));
        if !needs_ordinary_user() {
            return;
        }
        for (identity, property) in [
            (stranger(), "user"),
            (Identity { gid: 54_322, ..own.clone() }, "group"),
            (Identity { groups: vec![0], ..own.clone() }, "group"),
        ] {
            let error = start_error(runner, &Command { identity: Some(identity), ..shell("true") }).await;
            let expected = format!(
                "`{property}` can't be changed: only root can run a command as another user, and ccm runs as uid {}",
                own.uid
            );
            assert_eq!(error.to_string(), expected);
        }
    });
}

#[test]
fn umask_is_of_the_command_only() {
    launched(async |runner| {
        let place = tempfile::tempdir().expect("a directory");
        for (umask, expected) in [(0o077, 0o600), (0o000, 0o666), (0o027, 0o640)] {
            let file = place.path().join(format!("{umask:o}"));
            let command = Command { umask: Some(umask), ..shell(&format!("echo > {}", file.display())) };
            assert_eq!(run(runner, &command).await.exit, Exit::Code(0));
            assert_eq!(fs::metadata(&file).expect("a file").mode() & 0o777, expected, "{umask:o}");
        }
    });
}

#[test]
fn launched_command_starts_as_clean_as_a_plain_one() {
    launched(async |runner| {
        let launched = |text: &str| Command { umask: Some(0o022), ..shell(text) };
        assert_eq!(run(runner, &launched("exit 7")).await.exit, Exit::Code(7));
        // The directory that is being read has a descriptor too.
        assert_eq!(text(&run(runner, &launched("ls /proc/self/fd")).await.stdout), "0\n1\n2\n3\n");
        assert_eq!(text(&run(runner, &launched("env | grep -v ^PWD= | grep -v ^PATH=")).await.stdout), "");
        let signals = "grep -E '^Sig(Blk|Ign|Cgt):' /proc/self/status | tr -d '\\t'";
        let bare = Command {
            program: "/bin/grep".into(),
            args: vec!["-E".into(), "^Sig(Blk|Ign|Cgt):".into(), "/proc/self/status".into()],
            ..launched(signals)
        };
        let plain = Command { umask: None, ..bare.clone() };
        let (bare, plain) = (run(runner, &bare).await, run(runner, &plain).await);
        assert_eq!(text(&bare.stdout), text(&plain.stdout));
        let session = text(&run(runner, &launched("cut -d' ' -f1,5,6 /proc/$$/stat")).await.stdout);
        let numbers: Vec<&str> = session.split_whitespace().collect();
        assert!(numbers.len() == 3 && numbers.iter().all(|number| *number == numbers[0]), "{session}");
        let given = Command { stdin: Some("x".repeat(1_000_000).into()), ..launched("wc -c") };
        assert_eq!(text(&run(runner, &given).await.stdout).trim(), "1000000");
        let long = Command {
            args: vec![
                "-c".into(),
                "printf %s \"$1\" | wc -c".into(),
                "x".into(),
                "y".repeat(100_000).into(),
            ],
            ..launched("")
        };
        assert_eq!(text(&run(runner, &long).await.stdout).trim(), "100000");
    });
}

#[test]
fn arguments_that_are_not_utf_8_reach_a_launched_command() {
    launched(async |runner| {
        let bytes = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
        let place = tempfile::tempdir().expect("a directory");
        let cwd = place.path().join(bytes(b"\xe9\n"));
        fs::create_dir(&cwd).expect("a directory");
        let command = Command {
            args: vec!["-c".into(), "printf %s \"$1\"; pwd".into(), "x".into(), bytes(b"\xff\"\x01")],
            umask: Some(0o022),
            cwd: cwd.clone(),
            ..shell("")
        };
        let expected = [b"\xff\"\x01", cwd.as_os_str().as_bytes(), b"\n"].concat();
        assert_eq!(run(runner, &command).await.stdout.head, expected);
    });
}

#[test]
fn reply_longer_than_its_pipe_does_not_hang() {
    launched(async |runner| {
        let command = Command {
            program: "/no/such".into(),
            environment: vec![("PATH".to_owned(), "x".repeat(100_000))],
            umask: Some(0o022),
            timeout: Some(Duration::from_secs(9)),
            ..shell("")
        };
        let error = start_error(runner, &command).await;
        assert!(matches!(error, StartError::NoReply { .. }), "{error}");
    });
}

#[test]
fn deadline_ends_the_whole_tree_of_a_launched_command() {
    launched(async |runner| {
        let sleep = own_sleep();
        let command = Command {
            umask: Some(0o022),
            ..with_deadline(&format!("setsid {sleep} & ({sleep} & {sleep}); {sleep}"))
        };
        assert_eq!(run(runner, &command).await.exit, Exit::TimedOut { after: DEADLINE });
        wait_until("all have ended", || running(&sleep) == 0);
    });
}

/// Returns a command that sleeps, and that differs from those of other tests.
pub(crate) fn own_sleep() -> String {
    format!("sleep 77.{}", std::process::id())
}

/// Returns the number of processes that run such a command.
pub(crate) fn running(sleep: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("the processes").flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let line = sleep.replace(' ', "\0") + "\0";
    lines.filter(|found| found == line.as_bytes()).count()
}

#[test]
fn start_errors_of_a_launched_command_are_reported() {
    launched(async |runner| {
        let launched = || Command { umask: Some(0o022), ..shell("true") };
        let place = tempfile::tempdir().expect("a directory");
        let script = place.path().join("script");
        fs::write(&script, "#!/no/such/interpreter\n").expect("a file");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a mode");
        let at = script.display();
        for (command, expected) in [
            (Command { program: "/no/such".into(), ..launched() }, "\"/no/such\" not found".to_owned()),
            (Command { program: "/etc".into(), ..launched() }, "\"/etc\" is a directory".to_owned()),
            (
                Command { program: "/etc/passwd".into(), ..launched() },
                "\"/etc/passwd\" is not executable".to_owned(),
            ),
            (
                Command { program: script.clone(), ..launched() },
                format!("\"{at}\" needs the interpreter \"/no/such/interpreter\", which does not exist"),
            ),
            (
                Command { cwd: "/no/such".into(), ..launched() },
                "working directory \"/no/such\" can't be entered: No such file or directory (os error 2)"
                    .to_owned(),
            ),
            (
                Command { args: vec!["x".repeat(200_000).into()], ..launched() },
                "\"/bin/sh\" could not be started: Argument list too long (os error 7)".to_owned(),
            ),
            (
                Command { args: vec!["a\0b".into()], ..launched() },
                "\"/bin/sh\" could not be started: an argument holds a zero byte".to_owned(),
            ),
        ] {
            assert_eq!(chain(&start_error(runner, &command).await), expected);
        }
    });
}

#[test]
fn paths_are_checked_with_the_permissions_of_the_user() {
    launched(async |runner| {
        if !needs_root() {
            return;
        }
        let place = tempfile::tempdir().expect("a directory");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
        let locked = place.path().join("locked");
        fs::create_dir(&locked).expect("a directory");
        let tool = locked.join("tool");
        fs::write(&tool, "#!/bin/sh\n").expect("a file");
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("a mode");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).expect("a mode");
        let path = locked.display().to_string();

        assert_eq!(runner.find("tool", &path, "/".as_ref()).expect("root sees it"), tool);
        let hidden = runner.find_as(&stranger(), "tool", &path, "/".as_ref());
        assert!(matches!(hidden, Err(StartError::NotFound { .. })), "{hidden:?}");
        assert_eq!(runner.find("tool", &path, "/".as_ref()).expect("root sees it still"), tool);

        let command = Command { identity: Some(stranger()), cwd: locked.clone(), ..shell("true") };
        let expected =
            format!("working directory \"{path}\" can't be entered: Permission denied (os error 13)");
        assert_eq!(chain(&start_error(runner, &command).await), expected);
    });
}

#[test]
fn runner_without_a_launcher_refuses() {
    alone(async |runner| {
        let error = start_error(runner, &Command { umask: Some(0), ..shell("true") }).await;
        assert_eq!(error.to_string(), "`umask` needs a launcher, and this program names none");
    });
}

#[test]
fn program_that_is_no_launcher_is_reported() {
    isolated(|| {
        for (launcher, expected) in [
            (
                "/no/such/launcher",
                "the launcher \"/no/such/launcher\" could not be started: No such file or directory (os error 2)",
            ),
            ("/bin/true", "the launcher \"/bin/true\" ended without a reply"),
        ] {
            let runner = SystemRunner::new().expect("a runner").with_launcher(launcher);
            let command = Command { umask: Some(0), timeout: Some(Duration::from_secs(9)), ..shell("true") };
            assert_eq!(chain(&block_on(start_error(&runner, &command))), expected);
        }
    });
}

#[test]
fn launcher_started_by_hand_does_nothing() {
    isolated(|| {
        let called = |arguments: &[&str]| {
            let called = std::process::Command::new(launcher()).args(arguments).output().expect("a launcher");
            called.status.code()
        };
        assert_eq!(called(&[]), Some(2));
        assert_eq!(called(&["become-the-command", "x"]), Some(2));
        assert_eq!(called(&["become-the-command"]), Some(127));
    });
}
