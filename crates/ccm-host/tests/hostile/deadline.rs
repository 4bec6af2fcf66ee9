//! Commands that are still running at their deadline.

use std::time::{Duration, Instant};

use ccm_host::{Cancellation, Exit, Runner as _};
use ccm_testkit::wait_until;
use nix::errno::Errno;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Uid, setresuid};

use crate::{alone, end, is_root, names, run, shell, shell_within, text, timed_out, timed_run};

const GRACE: Duration = Duration::from_secs(2);

#[test]
fn one_that_obeys_is_not_waited_for() {
    alone("deadline::one_that_obeys_is_not_waited_for", async |runner| {
        let (finished, took) =
            timed_run(runner, &shell_within(200, "echo begun; sleep 999; echo not reached")).await;
        assert_eq!(finished.exit, timed_out(200));
        assert_eq!(text(&finished.stdout), "begun\n");
        assert!(finished.unkillable.is_empty() && finished.left_running.is_empty());
        assert!(took >= Duration::from_millis(200) && took < GRACE, "{took:?}");
    });
}

#[test]
fn one_that_ignores_term_is_killed() {
    alone("deadline::one_that_ignores_term_is_killed", async |runner| {
        let command = shell_within(200, "trap '' TERM; echo begun; while :; do sleep 1; done");
        let (finished, took) = timed_run(runner, &command).await;
        assert_eq!(finished.exit, timed_out(200));
        assert_eq!(text(&finished.stdout), "begun\n");
        assert!(took >= GRACE && took < 2 * GRACE, "{took:?}");
    });
}

#[test]
fn last_words_are_heard() {
    alone("deadline::last_words_are_heard", async |runner| {
        let command = shell_within(200, "trap 'echo bye; exit 0' TERM; sleep 999 & wait");
        let finished = run(runner, &command).await;
        assert_eq!(finished.exit, timed_out(200));
        assert_eq!(text(&finished.stdout), "bye\n");
    });
}

#[test]
fn another_session_does_not_help() {
    alone("deadline::another_session_does_not_help", async |runner| {
        let (finished, took) = timed_run(runner, &shell_within(200, "setsid sleep 999 & sleep 999")).await;
        assert_eq!(finished.exit, timed_out(200));
        assert!(took < GRACE, "{took:?}");
    });
}

#[test]
fn a_daemon_does_not_survive() {
    alone("deadline::a_daemon_does_not_survive", async |runner| {
        let daemon =
            "(setsid sh -c 'trap \"\" TERM HUP; sleep 999 & sleep 999' >/dev/null 2>&1 </dev/null &)";
        let finished = run(runner, &shell_within(300, &format!("{daemon}; sleep 999"))).await;
        assert_eq!(finished.exit, timed_out(300));
        assert!(finished.unkillable.is_empty(), "{finished:?}");
    });
}

#[test]
fn a_crowd_does_not_survive() {
    alone("deadline::a_crowd_does_not_survive", async |runner| {
        let crowd = "trap '' TERM; i=0; while [ $i -lt 300 ]; do (setsid sleep 999 &); i=$((i+1)); done; echo all; wait; sleep 999";
        let finished = run(runner, &shell_within(1500, crowd)).await;
        assert_eq!(finished.exit, timed_out(1500));
        assert!(finished.unkillable.is_empty(), "{} left", finished.unkillable.len());
    });
}

#[test]
fn one_that_starts_itself_again_does_not_survive() {
    alone("deadline::one_that_starts_itself_again_does_not_survive", async |runner| {
        // Each generation answers TERM with another one; the number of generations is limited in case it wins.
        let respawner = r"again() { n=$((n+1)); [ $n -lt 20000 ] && live & exit; }
            live() { trap again TERM; sleep 999 & wait; }
            n=0; live";
        let finished = run(runner, &shell_within(200, respawner)).await;
        assert_eq!(finished.exit, timed_out(200));
        assert!(finished.unkillable.is_empty(), "{finished:?}");
    });
}

#[test]
fn one_that_never_stops_forking_does_not_survive() {
    alone("deadline::one_that_never_stops_forking_does_not_survive", async |runner| {
        let forker = "trap '' TERM; n=0; while [ $n -lt 100000 ]; do n=$((n+1)); (:) & [ $((n % 50)) = 0 ] && wait; done";
        let finished = run(runner, &shell_within(200, forker)).await;
        assert_eq!(finished.exit, timed_out(200));
        assert!(finished.unkillable.is_empty(), "{finished:?}");
    });
}

#[test]
fn a_stopped_one_is_woken_to_obey() {
    alone("deadline::a_stopped_one_is_woken_to_obey", async |runner| {
        let (finished, took) = timed_run(runner, &shell_within(200, "kill -STOP $$; sleep 999")).await;
        assert_eq!(finished.exit, timed_out(200));
        assert!(took < GRACE, "{took:?}");
    });
}

#[test]
fn one_that_prints_without_end_is_ended() {
    alone("deadline::one_that_prints_without_end_is_ended", async |runner| {
        let (finished, took) = timed_run(runner, &shell_within(300, "yes & yes >&2")).await;
        assert_eq!(finished.exit, timed_out(300));
        assert!(finished.stdout.head.starts_with(b"y\ny\n") && finished.stderr.head.starts_with(b"y\ny\n"));
        assert!(took < GRACE, "{took:?}");
    });
}

#[test]
fn one_that_prints_without_end_and_ignores_term_is_killed() {
    alone("deadline::one_that_prints_without_end_and_ignores_term_is_killed", async |runner| {
        let (finished, took) = timed_run(runner, &shell_within(100, "trap '' TERM; yes & yes >&2")).await;
        assert_eq!(finished.exit, timed_out(100));
        assert!(took < 2 * GRACE, "{took:?}");
    });
}

#[test]
fn one_that_has_just_ended_is_not_late() {
    alone("deadline::one_that_has_just_ended_is_not_late", async |runner| {
        let deadline = Duration::from_millis(300);
        let started = Instant::now();
        // The listener holds everything up until the command has ended and its time is over.
        let mut hold_up = |_, _: &str| wait_until("the deadline", || started.elapsed() > deadline * 2);
        let command = shell_within(300, "echo x; exit 3");
        let finished = runner.run(&command, &Cancellation::never(), &mut hold_up).await.expect("a start");
        assert_eq!(finished.exit, Exit::Code(3));
    });
}

#[test]
fn a_daemon_of_an_earlier_command_is_let_be() {
    alone("deadline::a_daemon_of_an_earlier_command_is_let_be", async |runner| {
        // It goes on starting processes, of which some lose their parent while the later command runs.
        let daemon = "while :; do (sleep 0.3 &) ; sleep 0.01; done";
        let earlier = run(runner, &shell(&format!("setsid sh -c '{daemon}' daemon >/dev/null 2>&1 &"))).await;
        assert_eq!(earlier.exit, Exit::Code(0));
        assert!(names(&earlier).contains(&"sh"), "{earlier:?}");
        let daemon =
            earlier.left_running.iter().find(|process| process.name == "sh").expect("the daemon").clone();

        let later = run(runner, &shell_within(300, "setsid sleep 999 & sleep 999")).await;
        assert_eq!(later.exit, timed_out(300));
        let third = run(runner, &shell("true")).await;
        assert!(third.left_running.is_empty(), "{third:?}");
        end(&[daemon]);
        let none_is_left = || waitpid(None, Some(WaitPidFlag::WNOHANG)) == Err(Errno::ECHILD);
        wait_until("the last of it has ended", none_is_left);
    });
}

#[test]
fn what_can_not_be_killed_is_named() {
    alone("deadline::what_can_not_be_killed_is_named", async |runner| {
        if !is_root() {
            return;
        }
        // Once the command runs as root, this process gives up its rights over it for a while.
        let (root, nobody) = (Uid::from_raw(0), Uid::from_raw(65_534));
        let mut step_down = |_, _: &str| setresuid(nobody, nobody, root).expect("to step down");
        let command = shell_within(300, "echo begun; exec sleep 999");
        let started = Instant::now();
        let finished = runner.run(&command, &Cancellation::never(), &mut step_down).await.expect("a start");
        setresuid(root, root, root).expect("to step up again");
        assert_eq!(finished.exit, timed_out(300));
        let unkillable: Vec<&str> = finished.unkillable.iter().map(|process| process.name.as_str()).collect();
        assert_eq!(unkillable, ["sleep"]);
        assert!(started.elapsed() < 2 * GRACE, "{:?}", started.elapsed());
        end(&finished.unkillable);
    });
}
