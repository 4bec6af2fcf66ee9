//! Sessions in one process, one after another and side by side.

use std::path::{Path, PathBuf};
use std::thread;

use ccm_model::Outcome;
use ccm_runtime::{
    BeginError, ExitCode, GivenFacts, GivenValues, ManifestSource, RunMode, RunOptions, Session,
};
use ccm_testkit::Scratch;

use crate::{block_on, manifest, manifest_of, outcomes, read, run, session};

#[test]
fn a_manifest_is_planned_applied_and_recorded() {
    let scratch = Scratch::new();
    let manifest = manifest(&scratch, "x");
    let session = session(&scratch);
    let (planned, report) = run(&session, &manifest, RunMode::Plan);
    assert!(matches!(&*planned, [Outcome::WouldChange { .. }]), "{planned:?}");
    assert!(!report.record.is_recorded);
    assert_eq!(scratch.names(), ["manifest.yaml"]);
    let (applied, report) = run(&session, &manifest, RunMode::Apply);
    assert_eq!(applied, [Outcome::Changed]);
    assert_eq!(ExitCode::of(&report.summary, true), ExitCode::Changes);
    let (again, _) = run(&session, &manifest, RunMode::Apply);
    assert_eq!(again, [Outcome::Unchanged]);
    let status = session.status().expect("a status");
    let runs: Vec<_> = status.history.runs().iter().map(|run| run.id.clone()).collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert_eq!(runs.last(), Some(&report.identity.run_id));
    assert!(status.pending.ledgers.is_empty() && !status.pending.is_locked);
}

#[test]
fn what_keeps_a_manifest_from_a_run_is_an_error() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let missing =
        session.read(ManifestSource::File(scratch.path().join("no.yaml")), &GivenValues::default(), 1 << 20);
    assert_eq!(
        missing.err().map(|error| error.to_string()),
        Some(format!("manifest {} can't be read", scratch.at("no.yaml")))
    );
    scratch.write("wrong.yaml", "ccm: {resources: [{file: [{/x: {contnt: a}}]}]}\n");
    let input = read(&session, &scratch.path().join("wrong.yaml"));
    let errors = session.load(&input).expect_err("an error");
    assert_eq!((errors.to_string(), errors.diagnostics.len()), ("1 error".to_owned(), 1));
    scratch.write("state", "in the way");
    let input = read(&session, &manifest(&scratch, "x"));
    let begun = block_on(async {
        let manifest = session.load(&input).expect("a manifest without errors");
        manifest.begin(RunMode::Apply, RunOptions::default()).await.map(|_| ())
    });
    assert!(matches!(begun, Err(BeginError::State(_))), "{begun:?}");
}

#[test]
fn sessions_one_after_another_see_nothing_of_each_other() {
    let (first, second) = (Scratch::new(), Scratch::new());
    first.write(
        "manifest.yaml",
        format!(
            "data:\n  # @sensitive\n  password: correct horse battery\n\
             ccm: {{resources: [{{file: [{{{}: {{content: x}}}}]}}]}}\n",
            first.at("made")
        ),
    );
    let manifest_of_second = manifest(&second, "correct horse battery");
    let one = session(&first);
    let input = read(&one, &first.path().join("manifest.yaml"));
    one.load(&input).map(drop).expect("a manifest without errors");
    assert_eq!(one.secrets().redact("correct horse battery"), "[redacted]");
    let two = session(&second);
    assert_eq!(two.secrets().redact("correct horse battery"), "correct horse battery");
    assert_eq!(run(&two, &manifest_of_second, RunMode::Apply).0, [Outcome::Changed]);
    assert_eq!(one.status().expect("a status").history.runs().len(), 0);
    assert_eq!(two.status().expect("a status").history.runs().len(), 1);
}

/// Writes a manifest of a file and of an exec that a change of the file triggers. The exec fails as long as
/// `ready` is missing, prints the secrets of two sessions, and names the machine.
fn manifest_with_exec(scratch: &Scratch, content: &str) -> PathBuf {
    let resources = "    - file: [{DIR/made: {content: 'CONTENT'}}]\n    \
        - exec: [{reload: {command: 'test -e DIR/ready', subscribe: ['file#DIR/made'], refresh_only: true}}]\n    \
        - exec: [{say: {provider: shell, command: 'echo password-0 password-1 {{ Facts.role }} $$ >> DIR/said; \
        echo password-0 password-1'}}]\n";
    let directory = scratch.path().display().to_string();
    manifest_of(scratch, &resources.replace("DIR", &directory).replace("CONTENT", content))
}

/// Applies that manifest with the fact `role`, and returns the outcomes.
fn apply_with_exec(session: &Session, manifest: &Path, role: &str) -> Vec<Outcome> {
    let facts = GivenFacts { assignments: vec![format!("role={role}")], ..GivenFacts::default() };
    let values = GivenValues { facts, ..GivenValues::default() };
    let input =
        session.read(ManifestSource::File(manifest.to_owned()), &values, 1 << 20).expect("a manifest");
    let manifest = session.load(&input).expect("a manifest without errors");
    block_on(outcomes(&manifest, RunMode::Apply, RunOptions::default())).expect("a run").0
}

#[test]
fn pending_refreshes_and_facts_of_sessions_are_their_own() {
    let (first, second) = (Scratch::new(), Scratch::new());
    let (one, two) = (session(&first), session(&second));
    let manifests = [manifest_with_exec(&first, "x"), manifest_with_exec(&second, "x")];
    second.write("ready", "");
    // The refresh of the first session fails and stays pending; that of the second is done.
    let applied = apply_with_exec(&one, &manifests[0], "web");
    assert!(matches!(&*applied, [Outcome::Changed, Outcome::Failed(_), Outcome::Changed]), "{applied:?}");
    let applied = apply_with_exec(&two, &manifests[1], "db");
    assert_eq!(applied, [Outcome::Changed, Outcome::Refreshed, Outcome::Changed]);
    assert_eq!(one.pending().expect("the ledgers").ledgers.len(), 1);
    assert_eq!(two.pending().expect("the ledgers").ledgers.len(), 0);
    // A later session of the same state does it.
    first.write("ready", "");
    let applied = apply_with_exec(&session(&first), &manifests[0], "web");
    assert_eq!(applied, [Outcome::Unchanged, Outcome::Refreshed, Outcome::Changed]);
    assert!(one.pending().expect("the ledgers").ledgers.is_empty());
    assert!(first.read("said").is_some_and(|said| said.contains(" web ") && !said.contains(" db ")));
    assert!(second.read("said").is_some_and(|said| said.contains(" db ") && !said.contains(" web ")));
}

#[test]
fn sessions_with_execs_side_by_side_see_nothing_of_each_other() {
    const RUNS: usize = 5;
    let work = |number: usize| {
        let scratch = Scratch::new();
        scratch.write("ready", "");
        let session = session(&scratch);
        session.secrets().add([format!("password-{number}")]);
        for run in 0..RUNS {
            // The content is another one each time, so that each run has a refresh to do.
            let manifest = manifest_with_exec(&scratch, &run.to_string());
            let applied = apply_with_exec(&session, &manifest, &format!("role-{number}"));
            assert_eq!(applied, [Outcome::Changed, Outcome::Refreshed, Outcome::Changed]);
        }
        let said = scratch.read("said").unwrap_or_default();
        assert_eq!(said.matches(&format!(" role-{number} ")).count(), RUNS, "{said}");
        let history = session.history().expect("a history");
        assert_eq!(history.runs().len(), RUNS);
        let resource = history.resource(&history.runs()[0], "say").expect("the record").expect("the exec");
        resource.text(ccm_runtime::Screen::default())
    };
    let kept: Vec<String> = thread::scope(|scope| {
        let sessions = [0, 1].map(|number| scope.spawn(move || work(number)));
        sessions.map(|session| session.join().expect("a session")).into()
    });
    assert!(kept[0].contains("[redacted] password-1"), "{}", kept[0]);
    assert!(kept[1].contains("password-0 [redacted]"), "{}", kept[1]);
}

#[test]
fn sessions_side_by_side_see_nothing_of_each_other() {
    const RUNS: usize = 20;
    let work = |content: String| {
        let scratch = Scratch::new();
        let manifest = manifest(&scratch, &content);
        let session = session(&scratch);
        session.secrets().add([&*content]);
        for _ in 0..RUNS {
            let (outcomes, report) = run(&session, &manifest, RunMode::Apply);
            assert_eq!(outcomes.len(), 1);
            assert_eq!(report.identity.manifest, manifest.display().to_string());
        }
        assert_eq!(session.status().expect("a status").history.runs().len(), RUNS);
        session.secrets().redact("content of 0, content of 1").into_owned()
    };
    let shown: Vec<String> = thread::scope(|scope| {
        let sessions = [0, 1].map(|number| scope.spawn(move || work(format!("content of {number}"))));
        sessions.map(|session| session.join().expect("a session")).into()
    });
    assert_eq!(shown, ["[redacted], content of 1", "content of 0, [redacted]"]);
}
