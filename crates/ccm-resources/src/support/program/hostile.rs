//! Helper programs that do what no helper should, as real processes.

use std::time::Duration;

use ccm_host::{
    Cancellation, CancellationLevel, CancellationSource, LocalExecutor, SystemClock, SystemFiles,
    SystemRunner, read_at_most,
};
use ccm_model::{FailureKind, MissingPrerequisite};
use ccm_testkit::{Scratch, isolated};

use super::*;

const MIB: usize = 1 << 20;

/// Runs the body of the test of that name alone in a process, with a directory.
fn alone(body: impl AsyncFnOnce(ProgramScope<'_>, &Scratch)) {
    isolated(|| {
        let files = SystemFiles::new(Cancellation::never());
        let runner = SystemRunner::new().unwrap();
        let executor = LocalExecutor::new(&runner, &runner, &files);
        let clock = SystemClock::default();
        let host = Host { executor: &executor, system: &runner, files: &files, clock: &clock };
        let never = Cancellation::never();
        let scope = ProgramScope { host, queries: &executor, cancellation: &never };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(body(scope, &Scratch::new()));
    });
}

/// Returns a helper that runs a shell script.
fn helper(scratch: &Scratch, script: &str) -> Program {
    let path = scratch.write_program("helper", &format!("#!/bin/sh\n{script}\n"));
    Program::new(path.display().to_string()).titled("helper")
}

async fn failure(program: &Program, scope: ProgramScope<'_>) -> Failure {
    program.run(scope).await.unwrap_err()
}

/// Returns the peak memory of this process.
fn peak_memory() -> usize {
    let status =
        String::from_utf8(read_at_most(Some("/proc/self/status".as_ref()), 1 << 16).unwrap()).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[test]
fn flood_on_both_streams_takes_little_memory() {
    alone(async |scope, scratch| {
        helper(scratch, "exit 0").run(scope).await.unwrap();
        let before = peak_memory();
        let flood = "head -c 104857600 /dev/zero | tr '\\0' x & \
                     seq 10000000 >&2; head -c 5000 /dev/zero | tr '\\0' y >&2; wait; \
                     echo >&2; echo helper: the end. >&2; exit 3";
        let program = helper(scratch, flood);
        let first = failure(&program, scope).await;
        assert_eq!(first.chain, ["helper failed with exit code 3", "1", "2", "3"]);
        let program = program.quoting(ErrorLines { is_last: true, max: 2, ..ErrorLines::default() });
        let last = failure(&program, scope).await;
        assert_eq!(last.chain, ["helper failed with exit code 3", &*("y".repeat(2000) + "…"), "the end"]);
        let too_large = helper(scratch, "yes | head -c 104857600").query(scope).await.unwrap_err();
        assert_eq!(
            (too_large.kind, &*too_large.one_line()),
            (FailureKind::Read, "the output of helper is too large")
        );
        let grown = peak_memory() - before;
        assert!(grown < 24 * MIB, "{grown}");
    });
}

#[test]
fn helper_that_hangs_is_ended() {
    alone(async |scope, scratch| {
        let program = helper(scratch, "echo begun >&2; sleep 1000").time_limit(Duration::from_millis(300));
        let failure = failure(&program, scope).await;
        assert_eq!(
            (failure.kind, &failure.chain[..]),
            (FailureKind::Timeout, &["helper timed out after 300ms".to_owned()][..])
        );
    });
}

#[test]
fn process_that_keeps_the_pipes_is_not_waited_for() {
    alone(async |scope, scratch| {
        let script = "(until test -e \"$0.end\"; do sleep 0.01; done) & echo helper: no >&2; exit 3";
        let program = helper(scratch, script);
        let finished = program.finish(Role::Tool, scope).await.unwrap();
        let failure = program.failure(&finished).unwrap();
        assert_eq!(failure.chain, ["helper failed with exit code 3", "no"]);
        assert!(!finished.left_running.is_empty());
        scratch.write("helper.end", "");
        let of_left = finished.left_running.iter().map(|process| format!("/proc/{}/stat", process.pid));
        for path in of_left {
            let script = format!("while grep -q ') [^Z] ' {path}; do sleep 0.01; done 2> /dev/null");
            helper(scratch, &script).run(scope).await.unwrap();
        }
        // The next program reaps what has ended.
        helper(scratch, "exit 0").run(scope).await.unwrap();
    });
}

#[test]
fn missing_helper_is_a_missing_prerequisite() {
    alone(async |scope, scratch| {
        let absent = scratch.at("absent");
        for (name, message, missing) in [
            (
                "no-such-helper-of-ccm",
                "\"no-such-helper-of-ccm\" not found in PATH".to_owned(),
                MissingPrerequisite::Program("no-such-helper-of-ccm".to_owned()),
            ),
            (&*absent, format!("\"{absent}\" not found"), MissingPrerequisite::Path((&*absent).into())),
        ] {
            let failure = failure(&Program::new(name).in_package("`helpers`"), scope).await;
            assert_eq!((failure.kind, failure.one_line()), (FailureKind::Start, message));
            assert_eq!(failure.missing.as_deref(), Some(&missing));
            assert_eq!(failure.hints, ["install the package `helpers`"]);
        }
    });
}

#[test]
fn what_is_no_program_is_told_by_its_path() {
    alone(async |scope, scratch| {
        scratch.write("data", "text\n");
        scratch.write_program("text", "no program\n");
        scratch.write_program("script", "#!/no/such/shell\n");
        for (name, what) in [
            ("data", "is not executable"),
            (
                "text",
                "is neither an executable for the architecture of this machine nor a script that begins with #!",
            ),
            ("script", "needs the interpreter \"/no/such/shell\", which does not exist"),
            (".", "is a directory"),
        ] {
            let path = if name == "." { scratch.path().display().to_string() } else { scratch.at(name) };
            let failure = failure(&Program::new(&*path), scope).await;
            assert_eq!(
                (failure.kind, failure.one_line()),
                (FailureKind::Start, format!("\"{path}\" {what}"))
            );
            assert!(!failure.changed && failure.missing.is_none());
        }
    });
}

#[test]
fn silent_helper_fails_with_its_code() {
    alone(async |scope, scratch| {
        let failure = failure(&helper(scratch, "echo; echo >&2; exit 1"), scope).await;
        assert_eq!(
            (failure.kind, &failure.chain[..]),
            (FailureKind::Exit, &["helper failed with exit code 1".to_owned()][..])
        );
    });
}

#[test]
fn rubbish_is_quoted_without_control_characters() {
    alone(async |scope, scratch| {
        let failure =
            failure(&helper(scratch, r"printf 'a\033[2Jb\000\377\nhelper: \r\n\r\nc\n' >&2; exit 2"), scope)
                .await;
        assert_eq!(failure.chain, ["helper failed with exit code 2", "a\\u{1b}[2Jb\\u{0}\u{fffd}", "c"]);
        let failure = self::failure(&helper(scratch, "head -c 300000 /dev/urandom >&2; exit 2"), scope).await;
        let is_plain = |line: &String| line.chars().count() <= 12 * 2000 && !line.contains(char::is_control);
        assert!(failure.chain.iter().all(is_plain), "{:?}", failure.chain);
    });
}

/// Counts its calls in a file, and fails the first two times because of a lock.
const LOCKED: &str = "echo >> \"$0.calls\"\n\
                      test $(wc -l < \"$0.calls\") -gt 2 || { echo helper: locked by 7 >&2; exit 1; }";

#[test]
fn lock_is_waited_for() {
    alone(async |scope, scratch| {
        let lock = ProgramLock {
            is_held: |stderr| stderr.contains("locked by"),
            timeout: Duration::ZERO,
            retry_delay: Duration::from_millis(1),
        };
        let program = helper(scratch, LOCKED);
        let failure = failure(&program.clone().locking(lock), scope).await;
        assert_eq!(failure.chain, ["helper failed with exit code 1", "locked by 7"]);
        program.locking(ProgramLock { timeout: Duration::from_secs(60), ..lock }).run(scope).await.unwrap();
        assert_eq!(scratch.read("helper.calls").as_deref(), Some("\n\n\n"));
    });
}

#[test]
fn patience_lets_a_helper_finish_after_a_stop() {
    alone(async |scope, scratch| {
        let program = helper(scratch, "echo begun; until test -e \"$0.end\"; do sleep 0.01; done");
        for (patience, expected) in [
            (None, Some(FailureKind::Stopped)),
            (Some(Duration::ZERO), Some(FailureKind::Stopped)),
            (Some(Duration::from_secs(60)), None),
        ] {
            let (source, cancellation) = CancellationSource::new();
            let scope = ProgramScope { cancellation: &cancellation, ..scope };
            let mut on_line = |_, _: &str| {
                source.raise(CancellationLevel::Stop);
                if expected.is_none() {
                    scratch.write("helper.end", "");
                }
                ControlFlow::Continue(())
            };
            let program = Program { patience, ..program.clone() };
            let finished = program.finish_watched(Role::Tool, scope, &mut on_line).await.unwrap();
            assert_eq!(program.failure(&finished).map(|failure| failure.kind), expected);
        }
    });
}
