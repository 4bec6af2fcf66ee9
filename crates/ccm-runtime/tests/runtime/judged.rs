//! Manifests that were judged before an earlier run, and are not judged again when they are loaded.

use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;

use ccm_model::{FailureKind, Outcome};
use ccm_runtime::{RunMode, Session, ValidationError, ValidationExtent};
use ccm_testkit::Scratch;

use crate::policy::{directory, failure, governed};
use crate::{manifest_of, read, run};

/// Rules that protect a directory of the test, and nothing else.
fn rules(scratch: &Scratch) -> String {
    format!(
        "rules: [{{name: guarded, match: {{path: '{}/guarded/**'}}, deny: true}}]\n",
        root(scratch).display()
    )
}

fn root(scratch: &Scratch) -> PathBuf {
    directory(scratch).parent().expect("a directory").to_owned()
}

/// Returns a session with directories, a link to the open one, and a manifest that makes a file through the link.
fn site(scratch: &Scratch) -> (Session, PathBuf) {
    let session = governed(scratch, &rules(scratch));
    scratch.write("open/x", "");
    scratch.write("guarded/x", "");
    point_to(scratch, "open");
    let made = root(scratch).join("link/made");
    let resources = format!("    - exec: [{{'touch {}': {{cwd: /}}}}]\n", made.display());
    (session, manifest_of(scratch, &resources))
}

fn point_to(scratch: &Scratch, target: &str) {
    let link = scratch.path().join("link");
    let _missing = std::fs::remove_file(&link);
    symlink(target, &link).expect("a link");
}

fn remembered(scratch: &Scratch) -> Vec<String> {
    let text = scratch.read("state/judged-manifests").unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Opens a session again: a session reads its policy once.
fn again(scratch: &Scratch) -> Session {
    governed(scratch, &rules(scratch))
}

#[test]
fn a_judged_manifest_is_remembered_once() {
    let scratch = Scratch::new();
    let (session, manifest) = site(&scratch);
    // Noop writes nothing.
    run(&session, &manifest, RunMode::Plan);
    assert!(scratch.read("state/judged-manifests").is_none());
    for _ in 0..2 {
        assert_eq!(run(&again(&scratch), &manifest, RunMode::Apply).0, [Outcome::Changed]);
        assert_eq!(remembered(&scratch).len(), 1);
    }
    let file = std::fs::metadata(scratch.path().join("state/judged-manifests")).expect("the file");
    assert_eq!(file.mode() & 0o7777, 0o600);
    // Another manifest, and another policy, are judged by themselves.
    let other =
        manifest_of(&scratch, &format!("    - exec: [{{'touch {}': {{cwd: /}}}}]\n", scratch.at("made")));
    run(&again(&scratch), &other, RunMode::Apply);
    let more = format!("{}# more\n", rules(&scratch));
    run(&governed(&scratch, &more), &other, RunMode::Apply);
    assert_eq!(remembered(&scratch).len(), 3);
}

#[test]
fn the_memory_is_bounded_and_survives_another_content() {
    let scratch = Scratch::new();
    let (session, manifest) = site(&scratch);
    let digest = |number: usize| format!("{number:064x}\n");
    let many: String = (0..100).map(digest).collect();
    for content in ["", "\n\n", "no digest\n", "\u{fffd}\0", &many, &"f".repeat(1 << 20)] {
        scratch.write("state/judged-manifests", content);
        assert_eq!(run(&again(&scratch), &manifest, RunMode::Apply).0, [Outcome::Changed]);
        let all = remembered(&scratch);
        assert!((1..=64).contains(&all.len()), "{all:?}");
        assert!(all.iter().all(|line| line.len() == 64), "{all:?}");
    }
    drop(session);
}

#[test]
fn a_stale_memory_lets_no_denied_command_run() {
    let scratch = Scratch::new();
    let (session, manifest) = site(&scratch);
    assert_eq!(run(&session, &manifest, RunMode::Apply).0, [Outcome::Changed]);
    // The same command is denied now. Nothing that the digest is made of has changed.
    point_to(&scratch, "guarded");
    let session = again(&scratch);
    for mode in [RunMode::Plan, RunMode::Apply] {
        let (outcomes, _) = run(&session, &manifest, mode);
        let (kind, text) = failure(&outcomes[0]);
        assert_eq!(kind, FailureKind::Denied, "{mode:?} {text}");
        assert!(text.contains("rule \"guarded\""), "{text}");
    }
    assert!(scratch.read("guarded/made").is_none());
    // Validation judges every time.
    let validation = session.validate(&read(&session, &manifest), ValidationExtent::Everything);
    assert!(matches!(validation, Err(ValidationError::Manifest(_))), "{validation:?}");
    // Without the memory, the denial is an error of the manifest again.
    std::fs::remove_file(scratch.path().join("state/judged-manifests")).expect("the file");
    let session = again(&scratch);
    assert!(session.load(&read(&session, &manifest)).is_err());
}

#[test]
fn what_is_denied_or_only_reported_is_not_remembered() {
    let scratch = Scratch::new();
    let (_, manifest) = site(&scratch);
    point_to(&scratch, "guarded");
    let session = again(&scratch);
    assert!(session.load(&read(&session, &manifest)).is_err());
    assert_eq!(remembered(&scratch), Vec::<String>::new());
    let audit = format!("callers: {{apply: {{guard: audit}}}}\n{}", rules(&scratch));
    assert_eq!(run(&governed(&scratch, &audit), &manifest, RunMode::Apply).0, [Outcome::Changed]);
    assert_eq!(remembered(&scratch), Vec::<String>::new());
}
