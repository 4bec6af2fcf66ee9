//! Files that are written together by a run that is killed, whose disk fails, or that ends with the first failure.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use ccm_testkit::{Ccm, Fault, Scratch, needs_faults, sweep};

use crate::case::words;
use crate::points::{check_each, selected};

/// Number of files in each of two directories, every third of which exists with other content.
const FILES: usize = 4;

/// Machine with files to write in two directories, and a subscriber of some of them.
struct Machine(Scratch);

impl Machine {
    fn new(fail_on_error: bool) -> Self {
        let scratch = Scratch::in_memory();
        let mut files = String::new();
        let mut watched = Vec::new();
        for (position, name) in names().enumerate() {
            let path = scratch.at(&name);
            scratch.write(&format!("source/{position}"), content(&name));
            if position % 3 == 0 {
                scratch.write(&name, "old\n");
                watched.push(format!("\"file#{path}\""));
            } else {
                fs::create_dir_all(scratch.path().join(&name).parent().expect("a directory"))
                    .expect("a directory");
            }
            let content = match position % 2 {
                0 => format!("content: \"{}\"", content(&name).replace('\n', "\\n")),
                _ => format!("source: source/{position}"),
            };
            files += &format!("        - {path}: {{{content}, mode: \"0640\"}}\n");
        }
        let reload = format!(
            "        - cat a/* b/* | cksum >> reloaded: {{cwd: {}, provider: shell, refresh_only: true, subscribe: [{}]}}\n",
            scratch.path().display(),
            watched.join(", ")
        );
        let manifest = format!(
            "ccm:\n  fail_on_error: {fail_on_error}\n  resources:\n    - file:\n{files}    - exec:\n{reload}"
        );
        scratch.write("manifest.yaml", manifest);
        Self(scratch)
    }

    fn apply(&self, options: &[&str]) -> Ccm {
        Ccm::new(env!("CARGO_BIN_EXE_ccm"), &self.0).args(&["apply", "manifest.yaml"]).args(options)
    }

    /// Returns whether each file has its new content, in the order of the manifest. One that is neither old nor new is an
    /// error, and so is a temporary file where the run was not killed.
    fn written(&self, was_killed: bool) -> Result<Vec<bool>, String> {
        let is_new = |(position, name): (usize, String)| match self.0.read(&name) {
            None if position % 3 != 0 => Ok(false),
            Some(found) if found == "old\n" && position % 3 == 0 => Ok(false),
            Some(found) if found == content(&name) => Ok(true),
            found => Err(format!("{name} is half done: {found:?}")),
        };
        let written = names().enumerate().map(is_new).collect::<Result<Vec<bool>, String>>()?;
        let left = ["a", "b"].into_iter().flat_map(|directory| self.left_in(directory));
        match left.into_iter().next() {
            Some(left) if !was_killed => Err(format!("left behind: {}", left.display())),
            _ => Ok(written),
        }
    }

    fn left_in(&self, directory: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.path().join(directory)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| ccm_host::is_temp_path(path)).collect()
    }

    /// Runs again without a fault: everything is written, and the subscriber has seen the last of it.
    fn check_converges(&self) -> Result<(), String> {
        let next = self.apply(&[]).run();
        let written = self.written(false)?;
        let expected = ccm_testkit::shell("cat a/* b/* | cksum", self.0.path());
        let reloaded = self.0.read("reloaded").unwrap_or_default();
        let is_last = reloaded.lines().last() == Some(expected.trim_end());
        if next.code != 0 || written.contains(&false) || !is_last {
            return Err(format!("{written:?}, reloaded {reloaded:?}, the next run was\n{}", next.shown()));
        }
        let third = self.apply(&["--detailed-exitcodes"]).run();
        if third.code == 0 { Ok(()) } else { Err(format!("had something to do: {}", third.shown())) }
    }
}

/// Names of the files, in the order in which they are written.
fn names() -> impl Iterator<Item = String> {
    ["a", "b"].into_iter().flat_map(|directory| (0..FILES).map(move |number| format!("{directory}/{number}")))
}

fn content(name: &str) -> String {
    format!("{name}\n").repeat(300)
}

/// Returns the range of the calls from the first temporary file to the sync of the last directory.
fn of_batch(calls: &[String]) -> Range<usize> {
    let first = calls.iter().position(|call| call.contains(".ccm-new)")).expect("a temporary file");
    first..calls.iter().rposition(|call| call.ends_with("/b)")).expect("a directory") + 1
}

#[test]
fn killed_batch_leaves_whole_files_and_every_refresh() {
    if !needs_faults() {
        return;
    }
    let whole = Machine::new(false);
    let calls = whole.apply(&[]).run_with(Fault::None);
    assert_eq!(calls.called.code, 0, "{}", calls.called.shown());
    whole.check_converges().expect("a run that is not killed");
    let batch = of_batch(&calls.calls);
    let calls = &calls.calls[batch.clone()];
    let syncs = calls.iter().filter(|call| call.starts_with("fsync(")).count();
    assert_eq!(syncs, 2 * FILES + 2, "each file and directory is synced once: {calls:#?}");
    let points = selected(calls, 2).into_iter().map(|number| batch.start + number);
    check_each(points, |point| {
        let machine = Machine::new(false);
        let killed = machine.apply(&[]).run_with(Fault::KillBefore(point));
        sweep();
        let Some(call) = killed.struck else { return Ok(()) };
        let at = |wrong: String| format!("killed at {point}, {call}: {wrong}");
        machine.written(true).and_then(|_| machine.check_converges()).map_err(at)
    });
}

#[test]
fn nothing_is_renamed_after_a_failure_of_the_disk_that_ends_the_run() {
    type FaultAt = fn(usize) -> Fault;
    if !needs_faults() {
        return;
    }
    let faults: [(FaultAt, &str); 2] = [
        (|call| Fault::NoSpace { call, lasting: false }, "No space left on device"),
        (|call| Fault::SyncFails { call, lasting: false }, "Input/output error"),
    ];
    for (fault, error) in faults {
        let calls = Machine::new(true).apply(&[]).run_with(fault(usize::MAX)).calls;
        let of_files: Vec<usize> =
            (1..=calls.len()).filter(|call| calls[call - 1].contains(".ccm-new")).collect();
        assert!(of_files.len() >= 2 * FILES, "{calls:#?}");
        check_each(of_files, |point| {
            let machine = Machine::new(true);
            let met = machine.apply(&[]).run_with(fault(point));
            sweep();
            let Some(call) = met.struck else { return Ok(()) };
            let at = |wrong: String| format!("{error} at {point}, {call}: {wrong}\n{}", met.called.shown());
            let written = machine.written(false).map_err(at)?;
            let first = written.iter().position(|written| !written).unwrap_or(written.len());
            let said = words(&met.called);
            if written[first..].contains(&true) || met.called.code != 4 || !said.contains(error) {
                return Err(at(format!("written: {written:?}")));
            }
            machine.check_converges().map_err(at)
        });
    }
}
