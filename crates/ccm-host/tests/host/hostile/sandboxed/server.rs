//! The launch server: a process that starts the launchers of all sandboxes of a runner.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use ccm_host::{Cancellation, Command, Exit, Runner as _, SystemRunner};
use ccm_testkit::{isolated, isolated_with_setup, needs_root, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgrp, getpid, getsid};

use super::{Place, succeed};
use crate::hostile::launched::{launched, launcher};
use crate::hostile::{block_on, end, has_ended, names, run};

/// Returns the number of the server. With the copy that waits for the next command, it is all that is left when no command
/// runs.
fn server() -> Pid {
    server_and_copy()[0]
}

/// Returns the numbers of the server and of the waiting copy, which is made while a command runs.
pub(super) fn server_and_copy() -> [Pid; 2] {
    wait_until("a copy waits", || children().len() == 2);
    <[Pid; 2]>::try_from(children()).expect("two children, the older one first")
}

fn children() -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").expect("threads");
    let lists =
        threads.map(|thread| std::fs::read_to_string(thread.expect("a thread").path().join("children")));
    let text: Vec<String> = lists.map(|list| list.expect("children")).collect();
    text.iter()
        .flat_map(|list| list.split_ascii_whitespace())
        .map(|pid| Pid::from_raw(pid.parse().expect("a number")))
        .collect()
}

#[test]
fn one_server_starts_all_sandboxes_and_ends_with_the_runner() {
    isolated(|| {
        let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
        let both = block_on(async {
            let place = Place::new();
            // Each command is a child of this process, and has its session and its group for itself.
            let shown =
                "cut -d' ' -f 4-6 /proc/$$/stat; echo $$; ls /proc/self/fd | wc -l; wc -c < /proc/$$/environ";
            let mut pids = Vec::new();
            for _ in 0..3 {
                let printed = succeed(&runner, &place.shell(shown)).await;
                let lines: Vec<&str> = printed.lines().collect();
                let pid = lines[1];
                assert_eq!(lines[0], format!("{} {pid} {pid}", getpid()), "{printed}");
                assert_eq!(lines[2], "4", "three, and that of `ls`");
                pids.push(pid.to_owned());
            }
            pids.dedup();
            assert_eq!(pids.len(), 3);
            let both = server_and_copy();
            for process in both {
                // They hear no signal of the terminal.
                assert_eq!(getsid(Some(process)).expect("a session"), getsid(None).expect("a session"));
                assert_ne!(nix::unistd::getpgid(Some(process)).expect("a group"), getpgrp());
            }
            both
        });
        drop(runner);
        assert!(both.into_iter().all(has_ended), "a process outlived the runner");
        assert_eq!(children(), []);
    });
}

#[test]
fn a_server_that_was_killed_is_replaced_by_direct_starts() {
    launched(async |runner| {
        let place = Place::new();
        let once = "echo once >> runs; cat runs";
        assert_eq!(succeed(runner, &place.shell(once)).await, "once\n");
        let server = server();
        kill(server, Signal::SIGKILL).expect("a server");
        wait_until("the server has ended", || has_ended(server));
        // The copy that waited is used up first.
        assert_eq!(succeed(runner, &place.shell(once)).await, "once\nonce\n");
        assert_eq!(succeed(runner, &place.shell(once)).await, "once\nonce\nonce\n");
        assert_eq!(children(), [], "the server is not reaped");
        assert_eq!(succeed(runner, &place.shell(once)).await, "once\nonce\nonce\nonce\n");
    });
}

#[test]
fn a_copy_that_was_killed_while_it_waited_begins_no_command() {
    launched(async |runner| {
        let place = Place::new();
        let once = "echo once >> runs; cat runs";
        assert_eq!(succeed(runner, &place.shell(once)).await, "once\n");
        let [server, copy] = server_and_copy();
        kill(copy, Signal::SIGKILL).expect("a copy");
        wait_until("the copy has ended", || has_ended(copy));
        // The server makes no further copy, which could be killed as well.
        wait_until("the server has ended", || has_ended(server));
        for runs in 2..5 {
            assert_eq!(succeed(runner, &place.shell(once)).await, "once\n".repeat(runs));
            assert_eq!(children(), [], "a process is not reaped");
        }
    });
}

/// As in a container that `docker exec` enters: the session of ccm began outside, and has the number 0 inside.
#[test]
fn sandboxes_start_in_a_session_from_outside_of_the_container() {
    if !needs_root() {
        return;
    }
    let container =
        "test -n \"$CCM_CONTAINER\" || CCM_CONTAINER=yes exec unshare --pid --fork --kill-child --mount-proc";
    // The first process of a container is special: the kernel copies it under no other parent.
    let first = format!("{container} \"$0\" \"$@\"");
    let later = format!("{container} /bin/sh -c '\"$0\" \"$@\"; exit $?' \"$0\" \"$@\"");
    for setup in [first, later] {
        isolated_with_setup(&setup, || {
            assert_eq!(getsid(None), Ok(Pid::from_raw(0)));
            let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
            block_on(async {
                let place = Place::new();
                for _ in 0..2 {
                    assert_eq!(succeed(&runner, &place.shell("echo x")).await, "x\n");
                }
                server_and_copy();
                // A process that a command leaves is still told from the server.
                let left =
                    run(&runner, &crate::hostile::shell("setsid sleep 600 > /dev/null 2>&1 & sleep 0.1"))
                        .await;
                assert_eq!(names(&left), ["sleep"]);
                end(&left.left_running);
            });
            drop(runner);
            assert_eq!(children(), []);
        });
    }
}

#[test]
fn what_commands_leave_is_found_beside_the_server() {
    launched(async |runner| {
        let place = Place::new();
        assert_eq!(succeed(runner, &place.shell("echo x")).await, "x\n");
        let server = server();
        let daemon = crate::hostile::shell("setsid sleep 600 > /dev/null 2>&1 & sleep 0.1");
        let left = run(runner, &daemon).await;
        assert_eq!(names(&left), ["sleep"]);
        // A later command in a sandbox that is ended at its deadline takes neither the daemon nor the server with it.
        let slow = place.shell("setsid sleep 601 & sleep 602");
        let slow = Command { timeout: Some(std::time::Duration::from_millis(300)), ..slow };
        let finished = run(runner, &slow).await;
        assert!(matches!(finished.exit, Exit::TimedOut { .. }), "{finished:?}");
        assert!(finished.left_running.is_empty() && finished.unkillable.is_empty());
        assert!(!has_ended(server) && !has_ended(left.left_running[0].pid));
        assert_eq!(names(&run(runner, &place.shell("true")).await), [""; 0]);
        end(&left.left_running);
    });
}

#[test]
fn a_program_that_is_no_launcher_is_named() {
    isolated(|| {
        for (program, content) in [("true", None), ("script", Some("#!/bin/sh\nexit 0\n"))] {
            let place = Place::new();
            let path = content.map_or_else(
                || PathBuf::from("/bin/true"),
                |content| {
                    let path = place.at(program);
                    std::fs::write(&path, content).expect("a file");
                    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("its mode");
                    path
                },
            );
            let runner = SystemRunner::new().expect("a runner").with_launcher(path);
            let command = place.shell("echo x");
            let never = Cancellation::never();
            let error = block_on(async { runner.run(&command, &never, &mut |_, _| {}).await });
            let error = error.expect_err("no launcher").to_string();
            assert!(error.contains("launcher") || error.contains("start"), "{error}");
            drop(runner);
            assert_eq!(children(), []);
        }
    });
}
