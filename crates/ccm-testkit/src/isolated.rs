//! Running a test alone in its own process: state of a whole process (adopted orphans, signals, umask, user)
//! can't be tested beside other tests, which run in threads of one process.

use std::collections::{HashMap, HashSet};
use std::env;
use std::fs::{read_dir, read_to_string};
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::faults;
use crate::wait::on_this_machine;

/// Variable with the name of the test, set in the process that runs its body.
const MARKER: &str = "CCM_TESTKIT_ISOLATED";
/// Maximum running time of a body. It is longer than the limit of [`wait_until`](crate::wait_until).
const LIMIT: Duration = Duration::from_secs(180);
/// Maximum time for which the output may stay open after the end of the process that ran the body.
const OUTPUT_LIMIT: Duration = Duration::from_secs(60);

/// Runs the body of the current test alone in its own process.
///
/// # Panics
///
/// If the body panics, hangs, or leaves a child behind, or if this thread is not that of a test.
pub fn isolated(body: impl FnOnce()) {
    isolated_with_setup("", body);
}

/// Runs a body as [`isolated`] does, in a process that starts after `setup`: shell commands that prepare the
/// inherited state, such as `umask 077`.
///
/// # Panics
///
/// If the test fails.
pub fn isolated_with_setup(setup: &str, body: impl FnOnce()) {
    let test = &test_name();
    if env::var_os(MARKER).is_some_and(|marker| marker == **test) {
        run_body(test, body);
        return;
    }
    let (status, output) = run_again(setup, test);
    let failure = match status {
        None => format!("was killed after {:?}", on_this_machine(LIMIT)),
        Some(status) if !status.success() => match status.signal() {
            Some(signal) => format!("was ended by signal {signal}"),
            None => "failed".to_owned(),
        },
        Some(_) if !output.contains(&end_marker(test)) => "did not run: is this its thread?".to_owned(),
        Some(_) => return,
    };
    panic!("`{test}`, alone in its process, {failure}\n--- its output\n{output}\n---");
}

/// Returns the name of the current test as its program lists it, which is the name of its thread.
pub(crate) fn test_name() -> String {
    let thread = thread::current();
    let name = thread.name().filter(|name| *name != "main");
    name.unwrap_or_else(|| panic!("this thread is not that of a test")).to_owned()
}

/// Runs the body and checks that it left no child. Children that it left are killed.
fn run_body(test: &str, body: impl FnOnce()) {
    let result = catch_unwind(AssertUnwindSafe(body));
    let children = children();
    for (pid, _) in &children {
        kill_with_descendants(*pid);
    }
    if let Err(panic) = result {
        resume_unwind(panic);
    }
    assert!(children.is_empty(), "the test left children behind: {children:?}");
    println_finished(test);
}

fn end_marker(test: &str) -> String {
    format!("isolated body of {test} finished")
}

#[expect(clippy::print_stdout, reason = "the other process reads this line")]
fn println_finished(test: &str) {
    println!("{}", end_marker(test));
}

/// Runs this test binary again with one test. The status is `None` if the process had to be killed.
fn run_again(preparation: &str, test: &str) -> (Option<ExitStatus>, String) {
    let binary =
        env::current_exe().unwrap_or_else(|error| panic!("this test binary can't be found: {error}"));
    let (mut reader, writer) = std::io::pipe().unwrap_or_else(|error| panic!("no pipe: {error}"));
    let stderr = writer.try_clone().unwrap_or_else(|error| panic!("no pipe: {error}"));
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", &format!("{preparation}\nexec \"$0\" \"$@\"")])
        .arg(binary)
        .args(["--exact", test, "--nocapture", "--include-ignored", "--test-threads=1"])
        .env(MARKER, test)
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(stderr);
    // A sweep of another test leaves this process alone.
    let mut child = faults::start(&mut command)
        .unwrap_or_else(|error| panic!("the test binary can't be run again: {error}"));
    // The command holds the writing ends of the pipe.
    drop(command);
    let pid = child.id();

    let (output_sender, output) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Output before an error is still shown.
        let _end = reader.read_to_end(&mut bytes);
        output_sender.send(String::from_utf8_lossy(&bytes).into_owned())
    });
    let (status_sender, status) = mpsc::channel();
    thread::spawn(move || {
        let status = child.wait();
        faults::remove_ended(pid);
        status_sender.send(status)
    });

    let status = match status.recv_timeout(on_this_machine(LIMIT)) {
        Ok(Ok(status)) => Some(status),
        Ok(Err(error)) => panic!("the test process was lost: {error}"),
        Err(_) => {
            kill_with_descendants(pid);
            None
        }
    };
    let output = output.recv_timeout(on_this_machine(OUTPUT_LIMIT));
    (status, output.unwrap_or_else(|_| "(something it left holds its output open)".to_owned()))
}

/// Kills a process and everything below it.
fn kill_with_descendants(pid: u32) {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (child, parent, _) in processes() {
        children.entry(parent).or_default().push(child);
    }
    let mut doomed = vec![pid];
    let mut seen = HashSet::new();
    while let Some(next) = doomed.pop() {
        if seen.insert(next) {
            doomed.extend(children.get(&next).into_iter().flatten());
        }
    }
    let numbers = seen.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    // The test fails anyway, so an error is ignored.
    let kill = format!("kill -KILL {numbers}");
    let _status = Command::new("/bin/sh").args(["-c", &kill]).stderr(Stdio::null()).status();
}

fn children() -> Vec<(u32, String)> {
    let us = std::process::id();
    let ours = processes().into_iter().filter(|(_, parent, _)| *parent == us);
    ours.map(|(pid, _, name)| (pid, name)).collect()
}

/// Returns the children of a process, including those that were not reaped.
pub(crate) fn children_of(parent: u32) -> impl Iterator<Item = u32> {
    processes().into_iter().filter(move |(_, its, _)| *its == parent).map(|(pid, ..)| pid)
}

/// Returns number, parent, and name with state of every process.
fn processes() -> Vec<(u32, u32, String)> {
    let entries = read_dir("/proc").into_iter().flatten().flatten();
    let rows = entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let row = read_to_string(entry.path().join("stat")).ok()?;
        let (head, tail) = row.rsplit_once(") ")?;
        let mut fields = tail.split(' ');
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let (_, name) = head.split_once('(')?;
        Some((pid, parent, format!("{name} {state}")))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a test that must fail, and returns its failure.
    fn failure(body: fn()) -> String {
        let result = catch_unwind(|| isolated(body));
        let payload = result.expect_err("the test should have failed");
        payload.downcast_ref::<String>().cloned().unwrap_or_default()
    }

    #[test]
    fn body_runs_alone_after_its_preparation() {
        isolated_with_setup("CCM_TESTKIT_PREPARED=yes; export CCM_TESTKIT_PREPARED", || {
            assert_eq!(env::var("CCM_TESTKIT_PREPARED").as_deref(), Ok("yes"));
        });
        assert!(env::var_os(MARKER).is_some() || env::var_os("CCM_TESTKIT_PREPARED").is_none());
    }

    #[test]
    fn failing_body_fails_with_its_output() {
        if env::var_os(MARKER).is_some() {
            isolated(|| panic!("so it goes"));
        }
        let failure = failure(|| {});
        assert!(failure.contains("so it goes"), "{failure}");
    }

    #[test]
    fn body_that_leaves_a_child_fails() {
        let leave = || drop(Command::new("true").spawn().expect("a child"));
        if env::var_os(MARKER).is_some() {
            isolated(leave);
        }
        let failure = failure(|| {});
        assert!(failure.contains("left children behind"), "{failure}");
    }

    #[test]
    fn thread_of_no_test_fails() {
        let thread = |name: &str| {
            let thread = thread::Builder::new().name(name.to_owned()).spawn(|| failure(|| {}));
            thread.expect("a thread").join().expect("a failure")
        };
        assert!(thread("no::such::test").contains("did not run"));
    }
}
