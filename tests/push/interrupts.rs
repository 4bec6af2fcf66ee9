//! Interrupts, once and more often, and ends that nobody has wished.

use std::io::{BufRead as _, BufReader};

use ccm_testkit::{Called, RunningCcm, Scratch, shell, wait_until};

use crate::groups::on_host;
use crate::stand_in::{document, host, push, site};

/// A site whose command waits for a file, between a change and what the change refreshes.
fn site_that_waits(names: &[&str]) -> Scratch {
    let scratch = site(names);
    let top = scratch.at("");
    let wait = format!(
        "#!/bin/sh\necho $PPID >$1/parent\n: >$1/begun\nwhile [ ! -e {top}/go ]; do sleep 0.01; done\n"
    );
    scratch.write_program("waits", &wait);
    let (waits, motd) = (scratch.at("waits"), scratch.at("data/motd"));
    scratch.write(
        "site/site.yaml",
        format!(
            "ccm:
  name: site
  resources:
    - file:
        - {motd}: {{content: Welcome}}
    - exec:
        - wait: {{command: '{waits} {{{{ Facts.dir }}}}'}}
        - restart: {{command: 'touch {{{{ Facts.dir }}}}/restarted', refresh_only: true, subscribe: ['file#{motd}']}}
"
        ),
    );
    scratch
}

/// Sends SIGINT, and waits until the push has said what that does.
fn interrupt(push: &RunningCcm, stderr: &mut impl std::io::BufRead, expected: &str) {
    push.signal("INT");
    let line = stderr.lines().map_while(Result::ok).find(|line| line.contains("interrupted by SIGINT"));
    assert!(line.as_deref().is_some_and(|line| line.contains(expected)), "{line:?}");
}

/// Starts a push whose standard error is read meanwhile.
fn start(scratch: &Scratch, words: &[&str]) -> (RunningCcm, BufReader<std::process::ChildStderr>) {
    let words = [&["*", "site/site.yaml", "--json"], words].concat();
    let mut running = push(scratch, &words).start();
    let stderr = BufReader::new(running.take_stderr().expect("standard error"));
    (running, stderr)
}

fn finished(running: RunningCcm, mut stderr: impl std::io::Read) -> Called {
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("read");
    running.finish()
}

fn nothing_runs(scratch: &Scratch) {
    let top = scratch.path().display();
    wait_until("no process is left", || {
        shell(&format!("pgrep -f '{top}/[w]aits' || :"), scratch.path()).is_empty()
    });
}

#[test]
fn one_interrupt_lets_running_hosts_end() {
    let scratch = site_that_waits(&["web1", "web2", "web3"]);
    let (running, mut stderr) = start(&scratch, &["-j", "1"]);
    wait_until("the first host has begun", || scratch.has("hosts/web1/begun"));
    interrupt(&running, &mut stderr, "no further host is begun");
    scratch.write("go", "");
    let called = finished(running, stderr);
    assert_eq!(called.code, 130, "{}", called.shown());
    let document = document(&called);
    assert_eq!(document["halted"], "interrupted");
    let outcomes: Vec<_> = ["web1", "web2", "web3"].map(|name| &host(&document, name)["outcome"]).into();
    assert_eq!(outcomes, ["changed", "not_begun", "not_begun"]);
    assert!(scratch.has("hosts/web1/restarted"));
}

#[test]
fn two_interrupts_end_the_runs_on_the_hosts_and_refreshes_stay_pending() {
    let scratch = site_that_waits(&["web1", "web2"]);
    let (running, mut stderr) = start(&scratch, &[]);
    for name in ["web1", "web2"] {
        wait_until("the hosts have begun", || scratch.has(&format!("hosts/{name}/begun")));
    }
    interrupt(&running, &mut stderr, "no further host is begun");
    interrupt(&running, &mut stderr, "ending the runs on the hosts");
    let called = finished(running, stderr);
    assert_eq!(called.code, 130, "{}", called.shown());
    let document = document(&called);
    for name in ["web1", "web2"] {
        assert_eq!(host(&document, name)["exit_code"], 130, "{}", called.stdout);
        assert!(!scratch.has(&format!("hosts/{name}/restarted")));
    }
    nothing_runs(&scratch);
    scratch.write("go", "");
    let again = push(&scratch, &["*", "site/site.yaml", "-q"]).run();
    assert_eq!(again.code, 0, "{}", again.shown());
    assert!(scratch.has("hosts/web1/restarted") && scratch.has("hosts/web2/restarted"));
}

#[test]
fn three_interrupts_and_a_kill_leave_runs_that_finish_and_are_recorded() {
    for is_killed in [false, true] {
        let scratch = site_that_waits(&["web1"]);
        let (running, mut stderr) = start(&scratch, &[]);
        wait_until("the host has begun", || scratch.has("hosts/web1/begun"));
        if is_killed {
            running.signal("KILL");
        } else {
            // Hosts that take no interrupt are left.
            shell("kill -STOP $(cat hosts/web1/parent)", scratch.path());
            interrupt(&running, &mut stderr, "no further host is begun");
            interrupt(&running, &mut stderr, "ending the runs on the hosts");
            interrupt(&running, &mut stderr, "closing the connections");
        }
        let called = finished(running, stderr);
        assert_eq!(called.code, if is_killed { 137 } else { 130 }, "{}", called.shown());
        if is_killed {
            scratch.write("go", "");
            wait_until("the run goes on", || scratch.has("hosts/web1/restarted"));
            wait_until("the run is recorded", || {
                on_host(&scratch, "web1", &["history", "--json"]).contains("exit_code")
            });
        }
        shell("kill -CONT $(cat hosts/web1/parent)", scratch.path());
        // The last interrupt may have come before the one to the host was sent.
        scratch.write("go", "");
        nothing_runs(&scratch);
    }
}
