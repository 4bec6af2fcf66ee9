//! An archive whose run is killed, or whose disk is full, at any call.

use std::fs;

use ccm_host::sha256;
use ccm_testkit::{Ccm, Fault, Scratch, TarFile, WebServer, needs_faults, sweep, tar};

use crate::case::words;
use crate::points::{check_each, selected};

const MANIFEST: &str = "
ccm:
  resources:
    - archive:
        - [dir]/app.tar:
            url: [url]
            extract_parent: [dir]/opt
            creates: [dir]/opt/bin/app
    - file:
        - [dir]/fetched: {source: [url], checksum: [sum], mode: 0640, backup: true}
    - exec:
        - after:
            command: cat opt/bin/app opt/share/data app.tar | cksum >> [dir]/after.log
            provider: shell
            cwd: [dir]
            refresh_only: true
            subscribe: [\"archive#[dir]/app.tar\"]
        - after-fetched:
            command: cksum < fetched >> [dir]/after-fetched.log
            provider: shell
            cwd: [dir]
            refresh_only: true
            subscribe: [\"file#[dir]/fetched\"]
";

fn archive() -> Vec<u8> {
    let data = b"data\n".repeat(100_000);
    tar(&[
        TarFile { path: "bin/app", mode: 0o755, content: b"new\n", link: None },
        TarFile { path: "share/data", mode: 0o644, content: &data, link: None },
        TarFile { path: "share/new/more", mode: 0o644, content: b"more\n", link: None },
    ])
}

/// A machine with an old version.
struct Machine {
    scratch: Scratch,
    server: WebServer,
}

impl Machine {
    fn new() -> Self {
        let scratch = Scratch::in_memory();
        let server = WebServer::of_file(archive());
        let directory = scratch.path().to_string_lossy().into_owned();
        let manifest = MANIFEST.replace("[dir]", &directory).replace("[url]", &server.url("/app.tar"));
        let manifest = manifest.replace("[sum]", &sha256(&archive()));
        scratch.write("manifest.yaml", manifest);
        scratch.write("opt/share/data", "old\n");
        scratch.write("opt/bin/other", "other\n");
        scratch.write("fetched", "old\n");
        Self { scratch, server }
    }

    fn apply(&self, options: &[&str]) -> Ccm {
        Ccm::new(env!("CARGO_BIN_EXE_ccm"), &self.scratch).args(&["apply", "manifest.yaml"]).args(options)
    }

    /// Each file is old or new, and the sign of completion comes after everything else.
    fn check_consistent(&self) -> Result<(), String> {
        let read = |name: &str| fs::read(self.scratch.path().join(name)).ok();
        let data = read("opt/share/data").unwrap_or_default();
        let is_new = data == b"data\n".repeat(100_000);
        let has_app = read("opt/bin/app").is_some_and(|app| app == b"new\n");
        let has_more = read("opt/share/new/more").is_some_and(|more| more == b"more\n");
        let is_whole = read("app.tar").is_none_or(|found| found == archive());
        if !is_new && data != b"old\n" {
            return Err(format!("a file is half done: {} bytes", data.len()));
        }
        if !read("fetched").is_some_and(|found| found == b"old\n" || found == archive()) {
            return Err("the downloaded file is half done".to_owned());
        }
        if has_app && !(is_new && has_more) {
            return Err("`creates` is there before the rest".to_owned());
        }
        if !is_whole || read("app.tar").is_some() && !has_app {
            return Err("the archive is there before what is in it".to_owned());
        }
        Ok(())
    }

    fn check_converges(&self) -> Result<(), String> {
        let second = self.apply(&[]).run();
        if second.code != 0 {
            return Err(format!("the next run failed: {}", second.shown()));
        }
        self.check_consistent()?;
        let third = self.apply(&["--detailed-exitcodes"]).run();
        if third.code != 0 {
            return Err(format!("the run after the next had something to do: {}", third.shown()));
        }
        let mut names: Vec<String> = ["", "opt"]
            .iter()
            .flat_map(|name| fs::read_dir(self.scratch.path().join(name)).expect("a directory"))
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter(|name| name.ends_with(".ccm-new"))
            .collect();
        if let Some(left) = names.pop() {
            return Err(format!("left behind: {left}"));
        }
        let log = self.scratch.read("after-fetched.log").unwrap_or_default();
        let expected = ccm_testkit::shell("cksum < fetched", self.scratch.path());
        if log.lines().last() != Some(expected.trim_end()) {
            return Err(format!("a refresh by the downloaded file is lost: {log}"));
        }
        let log = self.scratch.read("after.log").unwrap_or_default();
        let expected =
            ccm_testkit::shell("cat opt/bin/app opt/share/data app.tar | cksum", self.scratch.path());
        if log.lines().last() == Some(expected.trim_end()) && !self.server.requests().is_empty() {
            Ok(())
        } else {
            Err(format!("a refresh is lost: {log}"))
        }
    }
}

#[test]
fn an_archive_that_is_killed_anywhere_is_made_good_by_the_next_run() {
    if !needs_faults() {
        return;
    }
    let whole = Machine::new();
    let calls = whole.apply(&[]).run_with(Fault::None);
    assert_eq!(calls.called.code, 0, "{}", calls.called.shown());
    for name in ["mkdirat(", "fsync(", "renameat("] {
        assert!(calls.calls.iter().any(|call| call.starts_with(name)), "{name}: {:?}", calls.calls);
    }
    whole.check_consistent().and_then(|()| whole.check_converges()).expect("a run that is not killed");
    check_each(selected(&calls.calls, 6).into_iter().map(Fault::KillBefore), |fault| {
        let machine = Machine::new();
        let killed = machine.apply(&[]).run_with(fault);
        sweep();
        let Some(call) = killed.struck else { return Ok(()) };
        let at = |wrong: String| format!("{fault:?}, {call}: {wrong}");
        machine.check_consistent().and_then(|()| machine.check_converges()).map_err(at)
    });
}

#[test]
fn a_disk_that_fills_up_leaves_no_half_archive() {
    if !needs_faults() {
        return;
    }
    let fault = |call| Fault::NoSpace { call, lasting: true };
    let calls = Machine::new().apply(&[]).run_with(fault(usize::MAX)).calls;
    check_each(selected(&calls, 6).into_iter().map(fault), |fault| {
        let machine = Machine::new();
        let met = machine.apply(&[]).run_with(fault);
        sweep();
        let Some(call) = met.struck else { return Ok(()) };
        let at = |wrong: String| format!("{fault:?}, {call}: {wrong}\n{}", met.called.shown());
        if met.called.code == 0 || words(&met.called).contains("internal error") {
            return Err(at("nobody was told".to_owned()));
        }
        machine.check_consistent().and_then(|()| machine.check_converges()).map_err(at)
    });
}
