//! Commands of a cancelled run.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Duration;

use ccm_host::{
    Cancellation, CancellationLevel, CancellationSource, Exit, Host, LocalExecutor, LocalSystem as _,
    Runner as _, SystemClock, SystemFiles, SystemRunner,
};
use ccm_testkit::wait_until;

use crate::hostile::paused::alone_paused;
use crate::hostile::{alone, has_ended, run, shell, text};

#[test]
fn stop_sends_term_and_waits() {
    alone(async |runner| {
        let (source, cancellation) = CancellationSource::new();
        let mut on_line = |_, _: &str| source.raise(CancellationLevel::Stop);
        let command = shell("trap 'echo bye; exit' TERM; echo begun; sleep 999 & wait");
        let finished = runner.run(&command, &cancellation, &mut on_line).await.expect("a start");
        assert_eq!(finished.exit, Exit::Cancelled);
        assert_eq!(text(&finished.stdout), "begun\nbye\n");
    });
}

#[test]
fn kill_does_not_wait() {
    alone_paused(async |runner| {
        let (source, cancellation) = CancellationSource::new();
        let mut on_line = |_, _: &str| source.raise(CancellationLevel::Kill);
        let command = shell("trap 'echo bye; exit' TERM; echo begun; setsid sleep 999 & wait");
        let finished = runner.run(&command, &cancellation, &mut on_line).await.expect("a start");
        assert_eq!((finished.exit, finished.duration), (Exit::Cancelled, Duration::ZERO));
        assert_eq!(text(&finished.stdout), "begun\n");
    });
}

#[test]
fn kill_ends_the_wait_after_stop() {
    alone_paused(async |runner| {
        let (source, cancellation) = CancellationSource::new();
        let mut on_line = |_, line: &str| {
            source.raise(if line == "begun" { CancellationLevel::Stop } else { CancellationLevel::Kill });
        };
        let command = shell("trap 'echo asked' TERM; echo begun; while :; do sleep 999 & wait; done");
        let finished = runner.run(&command, &cancellation, &mut on_line).await.expect("a start");
        assert_eq!((finished.exit, finished.duration), (Exit::Cancelled, Duration::ZERO));
        assert_eq!(text(&finished.stdout), "begun\nasked\n");
    });
}

#[test]
fn cancelled_run_starts_no_command() {
    alone(async |runner| {
        let (source, cancellation) = CancellationSource::new();
        source.raise(CancellationLevel::Stop);
        let command = shell("echo begun");
        let finished = runner.run(&command, &cancellation, &mut |_, _| {}).await.expect("no start");
        assert_eq!(finished.exit, Exit::Cancelled);
        assert!(finished.stdout.head.is_empty());
    });
}

/// Raises the level once a command has begun, and returns its exit and output. The command prints `done` unless it
/// is ended.
async fn cancel_after_begin(
    runner: &SystemRunner,
    level: CancellationLevel,
    patience: Duration,
) -> (Exit, String) {
    let (source, cancellation) = CancellationSource::new();
    let (files, clock) = (SystemFiles::new(Cancellation::never()), SystemClock::new());
    let host = Host {
        executor: &LocalExecutor::new(runner, runner, &files),
        system: runner,
        files: &files,
        clock: &clock,
    };
    let directory = runner.private_directory(None).expect("a directory");
    let go_on = directory.path().join("go-on");
    let mut on_line = |_, line: &str| {
        if line == "begun" {
            source.raise(level);
            std::fs::write(&go_on, "").expect("a file of ours");
        }
        ControlFlow::Continue(())
    };
    let wait =
        if patience.is_zero() || level == CancellationLevel::Kill { "sleep 999" } else { "sleep 0.01" };
    let text_of = format!("echo begun; until test -e {}; do :; done; {wait}; echo done", go_on.display());
    let command = shell(&text_of);
    let finished =
        host.run_patiently(&command, &cancellation, patience, &mut on_line).await.expect("a start");
    directory.remove().expect("a directory that goes");
    (finished.exit, text(&finished.stdout))
}

#[test]
fn patient_command_goes_on_for_a_while_after_stop() {
    alone(async |runner| {
        let long = Duration::from_secs(3600);
        for (level, patience, expected) in [
            (CancellationLevel::Stop, long, (Exit::Code(0), "begun\ndone\n".to_owned())),
            (CancellationLevel::Stop, Duration::ZERO, (Exit::Cancelled, "begun\n".to_owned())),
            (CancellationLevel::Kill, long, (Exit::Cancelled, "begun\n".to_owned())),
        ] {
            assert_eq!(cancel_after_begin(runner, level, patience).await, expected, "{level:?} {patience:?}");
        }
    });
}

#[test]
fn line_handler_can_end_a_command() {
    alone(async |runner| {
        let (files, clock) = (SystemFiles::new(Cancellation::never()), SystemClock::new());
        let host = Host {
            executor: &LocalExecutor::new(runner, runner, &files),
            system: runner,
            files: &files,
            clock: &clock,
        };
        let mut on_line = |_, line: &str| {
            if line == "waiting" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (command, never) = (shell("echo begun; echo waiting; sleep 999"), Cancellation::never());
        let long = Duration::from_secs(3600);
        let finished = host.run_patiently(&command, &never, long, &mut on_line).await.expect("a start");
        assert_eq!((finished.exit, text(&finished.stdout)), (Exit::Cancelled, "begun\nwaiting\n".to_owned()));
    });
}

#[test]
fn dropped_run_leaves_nothing() {
    alone(async |runner| {
        let begun = tokio::sync::Notify::new();
        let pids = RefCell::new(String::new());
        let mut on_line = |_, line: &str| {
            pids.replace(line.to_owned());
            begun.notify_one();
        };
        let command = shell("trap '' TERM; setsid sleep 999 & echo $$ $!; wait");
        let never = Cancellation::never();
        tokio::select! {
            _ = runner.run(&command, &never, &mut on_line) => unreachable!("it sleeps"),
            () = begun.notified() => {}
        }
        let pids = pids.borrow().clone();
        wait_until("they are dead", || pids.split(' ').all(has_ended));
        // The next command reaps them.
        assert!(run(runner, &shell("true")).await.left_running.is_empty());
    });
}

#[test]
fn commands_of_one_process_take_turns() {
    alone(async |runner| {
        let place = tempfile::tempdir().expect("a directory");
        let held = place.path().join("held").display().to_string();
        let command = shell(&format!("mkdir {held} && sleep 0.1 && rmdir {held}"));
        let (one, two) = tokio::join!(run(runner, &command), run(runner, &command));
        assert_eq!((one.exit, two.exit), (Exit::Code(0), Exit::Code(0)));
    });
}
