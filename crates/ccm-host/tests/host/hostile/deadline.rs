//! Commands that still run at their deadline.

use std::convert::Infallible;
use std::time::Duration;

use ccm_host::{Cancellation, Exit, Runner as _};
use ccm_testkit::{Scratch, needs_root, wait_until};
use nix::errno::Errno;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Uid, setresuid};
use tokio::sync::Notify;

use crate::hostile::paused::{
    DEADLINE, GRACE, alone_paused, pass, run_beside, run_stepwise, run_to_deadline, run_to_kill,
    with_deadline,
};
use crate::hostile::{alone, end, names, run, shell, text, until_present};

const TIMED_OUT: Exit = Exit::TimedOut { after: DEADLINE };

#[test]
fn obedient_command_ends_at_once() {
    alone_paused(async |runner| {
        let finished = run_to_deadline(runner, "echo begun; sleep 999; echo not reached").await;
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE));
        assert_eq!(text(&finished.stdout), "begun\n");
        assert!(finished.unkillable.is_empty() && finished.left_running.is_empty());
    });
}

#[test]
fn command_that_ignores_term_is_killed() {
    alone_paused(async |runner| {
        let stubborn = "trap 'echo asked' TERM; echo begun; while :; do sleep 1; done";
        let finished = run_to_kill(runner, stubborn).await;
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE + GRACE));
        assert_eq!(text(&finished.stdout), "begun\nasked\n");
    });
}

#[test]
fn output_after_term_is_captured() {
    alone_paused(async |runner| {
        // A child would swallow a TERM that comes while it is still a copy of the shell.
        let polite = "trap 'echo bye; exit 0' TERM; echo begun; while :; do :; done";
        let finished = run_to_deadline(runner, polite).await;
        assert_eq!(finished.exit, TIMED_OUT);
        assert_eq!(text(&finished.stdout), "begun\nbye\n");
    });
}

#[test]
fn process_in_another_session_is_ended() {
    alone_paused(async |runner| {
        let finished = run_to_deadline(runner, "setsid sh -c 'echo begun; exec sleep 999' & sleep 999").await;
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE));
    });
}

#[test]
fn daemon_is_ended() {
    alone_paused(async |runner| {
        let daemon = "trap \"\" TERM HUP; sleep 999 3>&- & echo begun >&3; exec sleep 999 3>&-";
        let detached = format!("(setsid sh -c '{daemon}' 3>&1 >/dev/null 2>&1 </dev/null &)");
        let stubborn = format!("trap 'echo asked' TERM; {detached}; while :; do sleep 1; done");
        let finished = run_to_kill(runner, &stubborn).await;
        assert!(finished.unkillable.is_empty(), "{finished:?}");
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE + GRACE));
    });
}

#[test]
fn many_processes_are_ended() {
    alone_paused(async |runner| {
        let crowd = "trap '' TERM; i=0; while [ $i -lt 300 ]; do (setsid sleep 999 &); i=$((i+1)); done
            trap 'echo asked' TERM; echo begun; while :; do sleep 1; done";
        let finished = run_to_kill(runner, crowd).await;
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE + GRACE));
        assert!(finished.unkillable.is_empty(), "{} left", finished.unkillable.len());
    });
}

#[test]
fn command_that_restarts_itself_is_ended() {
    alone_paused(async |runner| {
        // Each generation handles TERM by starting another one. Their number is limited, in case the test
        // fails.
        let respawner = r"again() { n=$((n+1)); [ $n -lt 20000 ] && live & exit; }
            live() { trap again TERM; echo $n; sleep 999 & wait; }
            n=0; live";
        let command = with_deadline(respawner);
        let finished = run_beside(runner, &command, async |printed| {
            printed.line("0").await;
            pass(DEADLINE).await;
            // The generations go on as long as TERM reaches each of them.
            tokio::time::resume();
            tokio::time::sleep(GRACE / 2).await;
            tokio::time::pause();
            pass(GRACE).await;
        });
        let finished = finished.await;
        assert_eq!(finished.exit, TIMED_OUT);
        assert!(finished.unkillable.is_empty(), "{finished:?}");
    });
}

#[test]
fn fork_loop_is_ended() {
    alone_paused(async |runner| {
        let forker = "trap 'echo asked' TERM; n=0; while [ $n -lt 100000 ]; do
            n=$((n+1)); (:) & [ $n = 100 ] && echo begun; [ $((n % 50)) = 0 ] && wait; done";
        let finished = run_to_kill(runner, forker).await;
        assert!(finished.unkillable.is_empty(), "{finished:?}");
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE + GRACE));
    });
}

#[test]
fn stopped_command_is_continued_for_term() {
    alone_paused(async |runner| {
        // The whole command stops itself, and another process waits until it has.
        let stopped = "me=$$; (until grep -q ') T ' /proc/$me/stat; do sleep 0.01; done; echo begun) &
            kill -STOP $me; sleep 999";
        let finished = run_to_deadline(runner, stopped).await;
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE));
    });
}

#[test]
fn endless_output_is_ended() {
    alone_paused(async |runner| {
        let steps = [("out", Duration::ZERO), ("err", DEADLINE)];
        let finished = run_stepwise(runner, &with_deadline("yes out & yes err >&2"), &steps).await;
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE));
        assert!(finished.stdout.head.starts_with(b"out\nout\n"));
        assert!(finished.stderr.head.starts_with(b"err\nerr\n"));
    });
}

#[test]
fn endless_output_that_ignores_term_is_killed() {
    alone_paused(async |runner| {
        let stubborn = with_deadline("trap '' TERM; yes out & yes err >&2");
        let steps = [("out", Duration::ZERO), ("err", DEADLINE), ("", GRACE)];
        let finished = run_stepwise(runner, &stubborn, &steps).await;
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE + GRACE));
    });
}

#[test]
fn command_that_ends_at_the_deadline_is_not_timed_out() {
    alone_paused(async |runner| {
        let scratch = Scratch::new();
        let go = scratch.at("go");
        let command = with_deadline(&format!("echo begun; {}; exit 3", until_present(&go)));
        let finished = run_beside(runner, &command, async |printed| {
            printed.line("begun").await;
            // The runner sees nothing until the command has ended and its time is over.
            scratch.write("go", "");
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            let has_ended = || waitid(Id::All, flags) != Ok(WaitStatus::StillAlive);
            wait_until("the end", has_ended);
            pass(DEADLINE).await;
        });
        assert_eq!(finished.await.exit, Exit::Code(3));
    });
}

#[test]
fn daemon_of_an_earlier_command_is_not_touched() {
    alone(async |runner| {
        // The daemon goes on starting processes. Some lose their parent while the later command runs.
        let scratch = Scratch::new();
        let ready = scratch.at("ready");
        let daemon = format!(": > {ready}; while :; do (sleep 0.3 &) ; sleep 0.01; done");
        let started = format!("setsid sh -c '{daemon}' daemon >/dev/null 2>&1 & {}", until_present(&ready));
        let earlier = run(runner, &shell(&started)).await;
        assert_eq!(earlier.exit, Exit::Code(0));
        assert!(names(&earlier).contains(&"sh"), "{earlier:?}");
        let daemon =
            earlier.left_running.iter().find(|process| process.name == "sh").expect("the daemon").clone();

        let later = run(runner, &with_deadline("setsid sleep 999 & sleep 999")).await;
        assert_eq!(later.exit, TIMED_OUT);
        let third = run(runner, &shell("true")).await;
        assert!(third.left_running.is_empty(), "{third:?}");
        end(&[daemon]);
        let none_is_left = || waitpid(None, Some(WaitPidFlag::WNOHANG)) == Err(Errno::ECHILD);
        wait_until("the last of it has ended", none_is_left);
    });
}

#[test]
fn unkillable_process_is_reported() {
    alone_paused(async |runner| {
        if !needs_root() {
            return;
        }
        // After the command has started as root, this process gives up its permission to kill it for a while.
        let (root, nobody) = (Uid::from_raw(0), Uid::from_raw(65_534));
        let begun = Notify::new();
        let mut step_down = |_, pid: &str| {
            let name = format!("/proc/{pid}/comm");
            wait_until("it runs", || std::fs::read_to_string(&name).is_ok_and(|name| name == "sleep\n"));
            setresuid(nobody, nobody, root).expect("to step down");
            begun.notify_one();
        };
        let passing = async {
            begun.notified().await;
            pass(DEADLINE).await;
            pass(GRACE).await;
            std::future::pending::<Infallible>().await
        };
        let (command, never) =
            (with_deadline("echo $$; exec sleep 999 >/dev/null 2>&1"), Cancellation::never());
        let finished = tokio::select! {
            biased;
            finished = runner.run(&command, &never, &mut step_down) => finished.expect("a start"),
            never = passing => match never {},
        };
        setresuid(root, root, root).expect("to step up again");
        assert_eq!((finished.exit, finished.duration), (TIMED_OUT, DEADLINE + GRACE));
        let unkillable: Vec<&str> = finished.unkillable.iter().map(|process| process.name.as_str()).collect();
        assert_eq!(unkillable, ["sleep"]);
        end(&finished.unkillable);
    });
}
