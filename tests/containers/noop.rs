//! Noop starts nothing in a container.

use ccm_testkit::{FakeAnswer, FakeCommand, FakeEngine, Scratch};
use serde_json::json;

use crate::{REMOVED, apply, manifest};

/// Returns the requests that are not reads.
fn changes(engine: &FakeEngine) -> Vec<String> {
    engine.requests().into_iter().filter(|line| !line.starts_with("GET ")).collect()
}

#[test]
fn guards_in_a_container_are_unknown_in_noop() {
    let engine = FakeEngine::start(FakeCommand::default());
    let host = format!("unix://{}", engine.socket().display());
    let scratch = Scratch::new();
    let text = manifest(
        &host,
        REMOVED,
        &[
            "guarded: {command: touch x, unless: test -e x, executor: box}",
            "plain: {command: touch y, executor: box}",
        ],
    );
    let called = apply(&scratch, &text, &["--noop"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(
        called
            .stdout
            .contains("would run: touch x (`unless` `test -e x` runs in a container, and noop starts none)"),
        "{}",
        called.shown()
    );
    assert!(called.stdout.contains("would run: touch y"), "{}", called.shown());
    assert_eq!(changes(&engine), Vec::<String>::new());
    assert_eq!(called.stderr, "");
}

#[test]
fn noop_says_what_a_run_would_fail_with() {
    let engine = FakeEngine::start(FakeCommand::default());
    let host = format!("unix://{}", engine.socket().display());
    let missing = || FakeAnswer::Json(404, json!({"message": "No such image"}));
    engine.answer("GET /images", missing());
    let scratch = Scratch::new();
    let exec = ["plain: {command: touch y, executor: box}"];
    let called = apply(&scratch, &manifest(&host, REMOVED, &exec), &["--noop"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(
        called.stdout.contains("a run would fail now: the Engine could not look up the image"),
        "{}",
        called.shown()
    );
    // A run would pull this one.
    let called = apply(&scratch, &manifest(&host, ", auto_remove: true, pull: missing", &exec), &["--noop"]);
    assert!(!called.stdout.contains("would fail"), "{}", called.shown());
    let called = apply(&scratch, &manifest("unix:///nosuch/engine.sock", REMOVED, &exec), &["--noop"]);
    assert!(
        called.stdout.contains("the Engine at unix:///nosuch/engine.sock can't be reached"),
        "{}",
        called.shown()
    );
    assert_eq!(changes(&engine), Vec::<String>::new());
}
