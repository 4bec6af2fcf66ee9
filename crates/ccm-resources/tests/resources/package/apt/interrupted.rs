//! Package changes that were interrupted before the run.

use super::*;

/// Message of apt about an interrupted dpkg.
const INTERRUPTED: &str =
    "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem. \n";
/// Command that finishes the interrupted change.
const FINISH: &str = "dpkg --force-confdef --force-confold --configure -a";

/// Machine with an interrupted dpkg. `fetched` are the download calls; the last one succeeds.
fn interrupted(fetched: &[&str], last: &str) -> Machine {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1", "b 1"]));
    let options = "-o DPkg::Options::=--force-confdef -o DPkg::Options::=--force-confold --download-only";
    let tail = "-y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 --";
    let line =
        |names: &str| format!("/usr/bin/apt-get install --no-install-recommends {options} {tail} {names}");
    for names in fetched {
        machine.refuses(&line(names), INTERRUPTED);
    }
    machine.runner.fake.answer(&line(last), 0);
    machine
}

#[test]
fn interrupted_change_is_finished_first() {
    let machine = interrupted(&["a b"], "a b");
    machine.becomes(&["a installed 1", "b installed 1"]);
    let done = machine.apply(vec![package("a", &[]), package("b", &[])]);
    assert_eq!(told(&done), ["changed", "changed"]);
    assert_eq!(done[0].warnings, ["`dpkg --configure -a` finished an interrupted package change"]);
    let ran: Vec<String> =
        machine.ran().into_iter().filter(|line| line.starts_with("apt-get") || line == FINISH).collect();
    let fetch = "apt-get install --no-install-recommends --download-only a b";
    assert_eq!(ran, [fetch, FINISH, fetch, "apt-get install --no-install-recommends a b"]);
    let all = machine.runner.fake.ran();
    let finish = all.iter().find(|command| command.args.iter().any(|arg| arg == "--configure"));
    let environment = &finish.expect("it was finished").environment;
    assert!(environment.contains(&("DEBIAN_FRONTEND".to_owned(), "noninteractive".to_owned())));
}

#[test]
fn failed_repair_is_tried_once_and_reported() {
    let machine = interrupted(&["a b", "a", "b"], "c");
    machine.refuses(&format!("/usr/bin/{FINISH}"), "dpkg: error processing package half (--configure):\n");
    let done = machine.apply(vec![package("a", &[]), package("b", &[])]);
    for done in &done {
        let failed = failure(done);
        assert_eq!(
            failed.chain,
            [
                "cannot finish an interrupted package change",
                "dpkg --configure -a failed with exit code 100",
                "dpkg: error processing package half (--configure):",
            ]
        );
        assert_eq!(failed.output[0].lines, ["dpkg: error processing package half (--configure):"]);
        assert_eq!(failed.hints, ["run `dpkg --configure -a` to finish the change"]);
        assert!(failed.changed);
    }
    assert_eq!(machine.ran().iter().filter(|line| *line == FINISH).count(), 1);
}

#[test]
fn repair_waits_for_a_lock() {
    let machine = interrupted(&["a"], "a");
    machine.becomes(&["a installed 1"]);
    let held = "dpkg: error: dpkg frontend lock was locked by another process with pid 7\n";
    machine.refuses(&format!("/usr/bin/{FINISH}"), held);
    machine.runner.fake.answer(&format!("/usr/bin/{FINISH}"), 0);
    let done = machine.apply(vec![package("a", &[])]);
    assert_eq!(told(&done), ["changed"]);
    assert_eq!(
        done[0].warnings[0],
        format!("waited for another program: {}; the command took 3s in total", held.trim_end())
    );
}

#[test]
fn noop_reports_an_interrupted_change() {
    let mut machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1"]));
    machine.files.files.insert("/var/lib/dpkg/updates/0000".into());
    let done = machine.noop(vec![package("a", &[])]);
    assert_eq!(
        done[0].warnings,
        ["a package change is running or was interrupted: run `dpkg --configure -a` to finish the change"]
    );
    assert!(machine.ran().iter().all(|line| line != FINISH));
}
