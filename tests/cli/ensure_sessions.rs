//! Sessions: calls of `ccm ensure` that share outcomes and pending refreshes.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ccm_testkit::{Called, Ccm, Scratch, needs_root, shell, wait_until};
use insta::assert_snapshot;
use serde_json::Value;

use crate::ccm;
use crate::ensure::ensure;
use crate::expect::expect_error;

/// Begins a session, and returns its directory.
fn begin(scratch: &Scratch) -> PathBuf {
    let path = scratch.path().join("session");
    let called = ccm(scratch, &["session", "new", "--directory", "session"]).run();
    assert_eq!(
        (called.code, &*called.stdout),
        (0, "export CCM_SESSION_STORE=[dir]/session\n"),
        "{}",
        called.shown()
    );
    path
}

/// Prepares a call in the session.
fn call(scratch: &Scratch, words: &[&str]) -> Ccm {
    ensure(scratch, words).variable("CCM_SESSION_STORE", &scratch.at("session"))
}

fn run(scratch: &Scratch, words: &[&str]) -> Called {
    call(scratch, words).run()
}

/// Returns the report of the session.
fn report(scratch: &Scratch) -> Value {
    let called = ccm(scratch, &["session", "report", "--json", "--session", "session"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    serde_json::from_str(&called.stdout).expect("JSON")
}

/// Words of an exec that notes each of its refreshes.
fn refreshed<'w>(note: &'w str, subscribes: &'w str) -> [&'w str; 8] {
    ["exec", note, "--provider", "shell", "--refresh-only", "--alias", "app", subscribes]
}

#[test]
fn calls_share_outcomes_and_refreshes() {
    let scratch = Scratch::new();
    begin(&scratch);
    let (conf, note) = (scratch.at("conf"), format!("echo x >> {}", scratch.at("refreshes")));
    let subscribes = format!("--subscribe=file#{conf}");
    let app = refreshed(&note, &subscribes);
    let refreshes = || scratch.read("refreshes").map_or(0, |text| text.lines().count());
    let early = run(&scratch, &app);
    assert_eq!(early.code, 1, "{}", early.shown());
    assert!(
        early.stderr.contains("unknown resource") && early.stderr.contains("ccm session report"),
        "{}",
        early.shown()
    );
    for (content, expected) in [("1", 1), ("1", 1), ("2", 2)] {
        assert_eq!(run(&scratch, &["file", &conf, "--content", content]).code, 0);
        let found = run(&scratch, &app);
        assert_eq!((found.code, refreshes(), &*found.stderr), (0, expected, ""), "{}", found.shown());
    }
    // The change of one call is not lost when a later call changes nothing.
    assert_eq!(run(&scratch, &["file", &conf, "--content", "3"]).code, 0);
    assert_eq!(run(&scratch, &["file", &conf, "--content", "3"]).code, 0);
    let pending = report(&scratch);
    assert_eq!(pending["pending_refreshes"].as_array().map(Vec::len), Some(1), "{pending}");
    let planned = run(&scratch, &[&["--noop"], &app[..]].concat());
    assert!(planned.stdout.contains("would run") && refreshes() == 2, "{}", planned.shown());
    assert_eq!((run(&scratch, &app).code, refreshes()), (0, 3));
    assert_eq!((run(&scratch, &app).code, refreshes()), (0, 3));
    let misspelt = run(&scratch, &["exec", "true", "--require", "exec#ap"]);
    assert!(
        misspelt.code == 1 && misspelt.stderr.contains("did you mean `exec#app`?"),
        "{}",
        misspelt.shown()
    );
    assert_eq!(run(&scratch, &["exec", "true", "--require", "exec#app"]).code, 0);
}

#[test]
fn a_failure_skips_what_requires_it_until_it_succeeds() {
    let scratch = Scratch::new();
    begin(&scratch);
    let (made, go) = (scratch.at("made"), scratch.at("go"));
    let test = format!("test -e {go}");
    let dependent = ["file", &made, "--require", "exec#first"];
    let first = ["exec", &test, "--alias", "first"];
    assert_eq!(run(&scratch, &first).code, 4);
    let skipped = run(&scratch, &dependent);
    assert!(skipped.code == 4 && skipped.stdout.contains("1 dependency failed"), "{}", skipped.shown());
    assert!(!scratch.has("made"));
    let reported =
        ccm(&scratch, &["session", "report"]).variable("CCM_SESSION_STORE", &scratch.at("session")).run();
    assert_snapshot!("session_report", reported.shown());
    // One that was skipped did not succeed either.
    let third = run(&scratch, &["exec", "true", "--require", &format!("file#{made}")]);
    assert_eq!(third.code, 4, "{}", third.shown());
    scratch.write("go", "");
    assert_eq!(run(&scratch, &first).code, 0);
    assert_eq!((run(&scratch, &dependent).code, scratch.has("made")), (0, true));
}

#[test]
fn noop_calls_see_each_other_and_real_ones_do_not_see_them() {
    let scratch = Scratch::new();
    begin(&scratch);
    let (conf, note) = (scratch.at("conf"), format!("touch {}", scratch.at("refreshed")));
    let subscribes = format!("--subscribe=file#{conf}");
    let app = refreshed(&note, &subscribes);
    assert_eq!(run(&scratch, &["--noop", "file", &conf, "--content", "1"]).code, 0);
    let planned = run(&scratch, &[&["--noop"], &app[..]].concat());
    assert!(planned.code == 0 && planned.stdout.contains("would run"), "{}", planned.shown());
    let real = run(&scratch, &app);
    assert!(real.code == 1 && real.stderr.contains("unknown resource"), "{}", real.shown());
    assert!(!scratch.has("refreshed") && !scratch.has("conf"));
}

#[test]
fn a_killed_call_counts_as_a_change_and_as_a_failure() {
    let scratch = Scratch::new();
    begin(&scratch);
    let waits = format!("echo $$ > {}; exec sleep 1000", scratch.at("begun"));
    let mut running = call(&scratch, &["exec", &waits, "--provider", "shell", "--alias", "job"]).start();
    wait_until("the command runs", || scratch.read("begun").is_some_and(|text| text.ends_with('\n')));
    running.signal("KILL");
    drop(running.take_stdout());
    drop(running);
    let pid = scratch.read("begun").expect("its number");
    shell(&format!("kill {} || true", pid.trim()), scratch.path());
    let found = report(&scratch);
    assert_eq!(found["resources"][0]["outcome"], "interrupted", "{found}");
    let id = format!("exec#{waits}");
    let skipped = run(&scratch, &["exec", "true", "--require", &id]);
    assert!(skipped.code == 4 && skipped.stdout.contains("1 dependency failed"), "{}", skipped.shown());
}

#[test]
fn parallel_calls_lose_nothing() {
    let scratch = Scratch::new();
    begin(&scratch);
    let names: Vec<String> = (0..12).map(|number| scratch.at(&format!("file-{number}"))).collect();
    let running: Vec<_> = names
        .iter()
        .map(|name| call(&scratch, &["--lock-wait", "5m", "file", name, "--content", "x"]).start())
        .collect();
    for one in running {
        let called = one.finish();
        assert_eq!(called.code, 0, "{}", called.shown());
    }
    let found = report(&scratch);
    let resources = found["resources"].as_array().expect("a list");
    assert_eq!(resources.len(), names.len(), "{found}");
    assert!(resources.iter().all(|resource| resource["outcome"] == "changed"), "{found}");
}

#[test]
fn a_call_of_a_command_of_the_session_does_not_wait_for_itself() {
    let scratch = Scratch::new();
    begin(&scratch);
    let inner = format!(
        "CCM_SESSION_STORE={} {} ensure --state-dir {} exec true",
        scratch.at("session"),
        env!("CARGO_BIN_EXE_ccm"),
        scratch.at("other-state"),
    );
    let called = run(&scratch, &["exec", &inner, "--provider", "shell"]);
    assert!(called.code == 4 && called.stdout.contains("started by a command"), "{}", called.shown());
}

#[test]
fn a_directory_that_is_no_private_one_is_refused() {
    let scratch = Scratch::new();
    let directory = begin(&scratch);
    let refused = |what: &str| {
        let called = run(&scratch, &["exec", "touch made"]);
        expect_error(&called, 1, "", &[what, "nothing was run"], &["ccm session new"]);
        assert!(!scratch.has("made"));
        let report = ccm(&scratch, &["session", "report", "--session", "session"]).run();
        assert!(report.code == 1 && report.stderr.contains(what), "{}", report.shown());
    };
    let mode =
        |mode: u32| std::fs::set_permissions(&directory, PermissionsExt::from_mode(mode)).expect("a mode");
    mode(0o777);
    refused("can be written by others");
    mode(0o700);
    std::fs::write(directory.join("outcomes.json"), "{").expect("a file");
    refused("can't be read");
    std::fs::rename(&directory, scratch.path().join("moved")).expect("another name");
    refused("does not exist");
    symlink("moved", &directory).expect("a link");
    refused("no directory that a session could be in");
    std::fs::remove_file(&directory).expect("no link");
    std::fs::write(&directory, "").expect("a file");
    refused("no directory that a session could be in");
    let again = ccm(&scratch, &["session", "new", "--directory", "moved"]).run();
    expect_error(&again, 1, "", &["exists already"], &["does not exist yet"]);
}

#[test]
fn a_directory_of_a_stranger_is_refused() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    begin(&scratch);
    shell("chown 65534 session", scratch.path());
    let called = run(&scratch, &["exec", "touch made"]);
    expect_error(
        &called,
        1,
        "",
        &["belongs to another user (uid 65534)", "nothing was run"],
        &["ccm session new"],
    );
}

#[test]
fn a_session_is_begun_and_removed() {
    let scratch = Scratch::new();
    let temporary = scratch.path().join("with blank");
    std::fs::create_dir(&temporary).expect("a directory");
    let variable = temporary.to_str().expect("a path");
    let begun = ccm(&scratch, &["session", "new"]).variable("TMPDIR", variable).run();
    let line = begun.stdout.strip_prefix("export CCM_SESSION_STORE='[dir]/with blank/ccm-session-");
    assert!(line.is_some_and(|line| line.ends_with("'\n")), "{}", begun.shown());
    let names: Vec<_> = std::fs::read_dir(&temporary).expect("a directory").flatten().collect();
    let [session] = &names[..] else { panic!("one directory") };
    let mode = session.metadata().expect("its mode").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let path = session.path();
    let store = path.to_str().expect("a path");
    let called = ensure(&scratch, &["exec", "true"]).variable("CCM_SESSION_STORE", store).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let removed =
        ccm(&scratch, &["session", "report", "--remove"]).variable("CCM_SESSION_STORE", store).run();
    assert!(removed.code == 0 && removed.stdout.starts_with("changed  exec#true\n"), "{}", removed.shown());
    assert!(!path.exists());
    let without = ccm(&scratch, &["session", "report"]).run();
    expect_error(&without, 64, "", &["there is no session"], &["--session DIR"]);
}

#[test]
fn a_directory_with_other_files_is_not_removed() {
    let scratch = Scratch::new();
    begin(&scratch);
    scratch.write("session/precious", "");
    let kept = ccm(&scratch, &["session", "report", "--remove", "--session", "session"]).run();
    assert!(kept.code == 1 && kept.stderr.contains("can't be removed"), "{}", kept.shown());
    assert!(Path::new(&scratch.at("session/precious")).exists());
}

#[test]
fn a_directory_of_mktemp_is_a_session() {
    let scratch = Scratch::new();
    shell("mkdir -m 700 session", scratch.path());
    assert_eq!(run(&scratch, &["exec", "true", "--alias", "first"]).code, 0);
    assert_eq!(
        run(&scratch, &["exec", "touch made", "--cwd", &scratch.at(""), "--require", "exec#first"]).code,
        0
    );
    assert!(scratch.has("made"));
}
