//! Commands that end by themselves and leave processes running.

use std::process::{Command as Other, Stdio};
use std::time::Duration;

use ccm_host::Exit;
use ccm_testkit::{Scratch, wait_until};

use crate::hostile::paused::{DEADLINE, GRACE, alone_paused, pass, run_beside, run_stepwise, with_deadline};
use crate::hostile::{alone, end, has_ended, names, run, shell, text, until_executed, until_present};

/// Time between two looks for orphans of a running command that have ended.
const TIDYING: Duration = Duration::from_millis(100);

#[test]
fn process_that_holds_the_pipes_is_not_waited_for() {
    alone(async |runner| {
        let finished = run(runner, &shell(&format!("sleep 60 & {}; echo ok", until_executed("sleep")))).await;
        assert_eq!(finished.exit, Exit::Code(0));
        assert_eq!(text(&finished.stdout), "ok\n");
        // It still sleeps.
        assert_eq!(names(&finished), ["sleep"]);
        assert!(finished.left_running[0].holds_output);
        end(&finished.left_running);
    });
}

#[test]
fn process_that_never_stops_printing_is_not_waited_for() {
    alone(async |runner| {
        let finished = run(runner, &shell("(while echo more; do sleep 0.02; done) & echo ok")).await;
        assert_eq!(finished.exit, Exit::Code(0));
        assert!(finished.left_running.iter().any(|process| process.name == "sh" && process.holds_output));
        // It ends at its next write, because its output is closed.
        for process in &finished.left_running {
            let pid = nix::unistd::Pid::from_raw(process.pid);
            let _its_sleep_may_have_ended = nix::sys::wait::waitpid(pid, None);
        }
        wait_until("nothing is left", || {
            nix::sys::wait::waitpid(None, None) == Err(nix::errno::Errno::ECHILD)
        });
    });
}

#[test]
fn daemon_is_named_once() {
    alone(async |runner| {
        let until = until_executed("sleep");
        let daemon = shell(&format!("(setsid sleep 61 >/dev/null 2>&1 </dev/null & {until})"));
        let first = run(runner, &daemon).await;
        assert_eq!(names(&first), ["sleep"]);
        assert!(!first.left_running[0].holds_output);
        let second = run(runner, &daemon).await;
        assert_eq!(names(&second), ["sleep"]);
        assert_ne!(first.left_running, second.left_running);
        assert!(run(runner, &shell("true")).await.left_running.is_empty());
        end(&first.left_running);
        end(&second.left_running);
    });
}

#[test]
fn tree_below_a_daemon_is_named() {
    alone(async |runner| {
        let scratch = Scratch::new();
        let ready = scratch.at("ready");
        // The inner shell starts nothing but the sleep: its redirection is no process.
        let tree = format!("sleep 62 & {}; : > {ready}; wait", until_executed("sleep"));
        let until = until_present(&ready);
        let finished = run(runner, &shell(&format!("sh -c '{tree}' >/dev/null 2>&1 & {until}"))).await;
        assert_eq!(names(&finished), ["sh", "sleep"]);
        end(&finished.left_running);
    });
}

#[test]
fn process_that_is_just_ending_is_not_named() {
    alone_paused(async |runner| {
        let finished = run(runner, &shell("sleep 0.02 >/dev/null 2>&1 &")).await;
        assert!(finished.left_running.is_empty(), "{finished:?}");
    });
}

#[test]
fn orphans_that_ended_meanwhile_are_reaped() {
    alone_paused(async |runner| {
        let finished = run(runner, &shell("i=0; while [ $i -lt 20 ]; do (true &); i=$((i+1)); done")).await;
        assert_eq!(finished.exit, Exit::Code(0));
        assert!(finished.left_running.is_empty(), "{finished:?}");
    });
}

#[test]
fn orphans_do_not_pile_up_while_a_command_runs() {
    alone_paused(async |runner| {
        let orphans = "i=0; while [ $i -lt 20 ]; do (true &); i=$((i+1)); done";
        let count = "$(grep -s \") Z $PPID \" /proc/[0-9]*/stat | wc -l)";
        let until = |number| format!("until [ {count} = {number} ]; do sleep 0.01; done");
        let command = shell(&format!("{orphans}; {}; echo begun; {}", until(20), until(0)));
        let finished = run_stepwise(runner, &command, &[("begun", TIDYING)]).await;
        assert_eq!(finished.exit, Exit::Code(0));
    });
}

#[test]
fn orphan_that_ended_between_two_commands_is_reaped() {
    alone(async |runner| {
        let finished = run(runner, &shell("setsid sleep 63 >/dev/null 2>&1 &")).await;
        let daemon = &finished.left_running[0];
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(daemon.pid), nix::sys::signal::SIGKILL)
            .expect("a daemon");
        wait_until("it has ended", || has_ended(daemon.pid));
        run(runner, &shell("true")).await;
        assert!(!std::path::Path::new(&format!("/proc/{}", daemon.pid)).exists());
    });
}

#[test]
fn other_children_of_the_program_are_not_touched() {
    alone_paused(async |runner| {
        let mut running = Other::new("sleep").arg("64").stdout(Stdio::null()).spawn().expect("a child");
        let mut ended = Other::new("sh").args(["-c", "exit 7"]).spawn().expect("a child");
        wait_until("it has ended", || has_ended(ended.id()));

        let finished = run(runner, &shell("true")).await;
        assert!(finished.left_running.is_empty(), "{finished:?}");
        // Another one is started while a command runs to its deadline.
        let mut late = None;
        let command = with_deadline("trap 'echo asked' TERM; echo begun; while :; do sleep 1; done");
        let finished = run_beside(runner, &command, async |printed| {
            printed.line("begun").await;
            late = Other::new("sleep").arg("65").spawn().ok();
            pass(DEADLINE).await;
            printed.line("asked").await;
            pass(GRACE).await;
        });
        assert_eq!(finished.await.exit, Exit::TimedOut { after: DEADLINE });

        assert_eq!(ended.wait().expect("our own child").code(), Some(7));
        let mut late = late.expect("a child");
        for child in [&mut running, &mut late] {
            assert_eq!(child.try_wait().expect("our own child"), None);
            child.kill().expect("our own child");
            child.wait().expect("our own child");
        }
    });
}

#[test]
fn later_children_of_a_daemon_are_not_touched() {
    alone_paused(async |runner| {
        let scratch = Scratch::new();
        let until = |file: &str| until_present(&scratch.at(file));
        // During the second command the daemon starts jobs in sessions of their own, which lose their parent.
        let job =
            format!("setsid sleep 301 & echo $! >> {}; {}", scratch.at("jobs"), until_executed("sleep"));
        let daemon = format!(
            "echo $$ >> {}; {}; for job in 1 2 3 4 5; do ({job}) & wait; done; touch {}; exec sleep 302",
            scratch.at("jobs"),
            until("start"),
            scratch.at("started")
        );
        let daemon = shell(&format!("setsid sh -c '{daemon}' >/dev/null 2>&1 </dev/null &"));
        // The wait for processes that are just ending needs the time.
        tokio::time::resume();
        run(runner, &daemon).await;
        tokio::time::pause();
        let second = with_deadline("echo begun; sleep 999");
        let second = run_beside(runner, &second, async |printed| {
            printed.line("begun").await;
            scratch.write("start", "");
            wait_until("the jobs have lost their parents", || scratch.has("started"));
            pass(2 * DEADLINE).await;
        });
        assert_eq!(second.await.exit, Exit::TimedOut { after: DEADLINE });
        let jobs = scratch.read("jobs").expect("the numbers");
        let jobs: Vec<i32> = jobs.lines().map(|pid| pid.parse().expect("a number")).collect();
        let ended: Vec<&i32> = jobs.iter().filter(|pid| has_ended(pid)).collect();
        let third = run(runner, &shell("true")).await;
        end(&jobs.iter().map(|pid| ccm_host::Process::new(*pid, "sleep")).collect::<Vec<_>>());
        assert_eq!((ended.len(), jobs.len()), (0, 6), "jobs were killed");
        assert!(third.left_running.is_empty(), "{third:?}");
    });
}
