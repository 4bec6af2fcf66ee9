//! Commands with a C library that can set neither the working directory nor the session of a new process.

use std::time::Duration;

use ccm_host::{Cancellation, Command, Exit, Runner as _, Sandbox, StartError, SystemRunner};
use ccm_testkit::isolated;

use crate::hostile::launched::{launcher, start_error};
use crate::hostile::{block_on, has_ended, run, run_with_lines, shell, text, until_executed};

fn with_old_c_library(body: impl AsyncFnOnce(&SystemRunner)) {
    isolated(|| {
        let runner = SystemRunner::new().expect("a runner").with_old_c_library().with_launcher(launcher());
        block_on(body(&runner));
    });
}

#[test]
fn command_has_its_directory_and_a_session_of_its_own() {
    with_old_c_library(async |runner| {
        let command = Command { cwd: "/usr".into(), ..shell("pwd; cut -d' ' -f1,5,6 /proc/$$/stat") };
        let output = text(&run(runner, &command).await.stdout);
        let (directory, numbers) = output.split_once('\n').expect("two lines");
        assert_eq!(directory, "/usr");
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        assert!(numbers.len() == 3 && numbers.iter().all(|number| *number == numbers[0]), "{output}");
        assert_eq!(text(&run(runner, &shell("ls /proc/self/fd")).await.stdout), "0\n1\n2\n3\n");
    });
}

#[test]
fn errors_are_those_of_a_newer_library() {
    with_old_c_library(async |runner| {
        let newer = SystemRunner::new().expect("a runner");
        for command in [
            Command::new("/no/such/program"),
            Command::new("/etc/passwd"),
            Command { cwd: "/no/such/directory".into(), ..shell("true") },
            Command { cwd: "/etc/passwd".into(), ..shell("true") },
        ] {
            let error = start_error(runner, &command).await;
            assert_eq!(error.to_string(), start_error(&newer, &command).await.to_string());
        }
    });
}

#[test]
fn tree_is_ended_at_its_deadline() {
    with_old_c_library(async |runner| {
        let child = format!("sleep 1000 & {}; echo $$ $!; wait", until_executed("sleep"));
        let command = Command { timeout: Some(Duration::from_secs(1)), ..shell(&child) };
        let (finished, lines) = run_with_lines(runner, &command).await;
        assert_eq!(finished.exit, Exit::TimedOut { after: Duration::from_secs(1) });
        let pids: Vec<&str> = lines.iter().flat_map(|line| line.split(' ')).collect();
        assert_eq!(pids.len(), 2, "{lines:?}");
        assert!(pids.iter().all(has_ended), "{lines:?}");
    });
}

#[test]
fn sandbox_needs_nothing_newer() {
    with_old_c_library(async |runner| {
        let place = tempfile::tempdir().expect("a directory");
        let sandbox = Sandbox { advisory: true, ..Sandbox::new(place.path()) };
        let command =
            Command { cwd: place.path().into(), sandbox: Some(sandbox), ..shell("pwd; echo x > file") };
        assert_eq!(text(&run(runner, &command).await.stdout), format!("{}\n", place.path().display()));
        assert!(place.path().join("file").is_file());
    });
}

#[test]
fn library_user_without_a_launcher_is_told_why() {
    isolated(|| {
        let runner = SystemRunner::new().expect("a runner").with_old_c_library();
        let started =
            block_on(async { runner.run(&shell("true"), &Cancellation::never(), &mut |_, _| {}).await });
        let error = started.expect_err("an error");
        assert!(matches!(error, StartError::NoLauncher { property: "cwd" }), "{error}");
    });
}
