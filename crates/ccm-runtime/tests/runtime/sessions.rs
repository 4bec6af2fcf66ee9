//! Sessions in one process, one after another and side by side.

use std::thread;

use ccm_model::Outcome;
use ccm_runtime::{BeginError, ExitCode, Mode, RunOptions, Source, Values};
use ccm_testkit::Scratch;

use crate::{block_on, manifest, read, run, session};

#[test]
fn a_manifest_is_planned_applied_and_recorded() {
    let scratch = Scratch::new();
    let manifest = manifest(&scratch, "x");
    let session = session(&scratch);
    let (planned, report) = run(&session, &manifest, Mode::Plan);
    assert!(matches!(&*planned, [Outcome::WouldChange { .. }]), "{planned:?}");
    assert!(!report.record.is_recorded);
    assert_eq!(scratch.names(), ["manifest.yaml"]);
    let (applied, report) = run(&session, &manifest, Mode::Apply);
    assert_eq!(applied, [Outcome::Changed]);
    assert_eq!(ExitCode::of(&report.summary, true), ExitCode::Changes);
    let (again, _) = run(&session, &manifest, Mode::Apply);
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
    let missing = session.read(Source::File(scratch.path().join("no.yaml")), &Values::default(), 1 << 20);
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
        manifest.begin(Mode::Apply, RunOptions::default()).await.map(|_| ())
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
    assert_eq!(run(&two, &manifest_of_second, Mode::Apply).0, [Outcome::Changed]);
    assert_eq!(one.status().expect("a status").history.runs().len(), 0);
    assert_eq!(two.status().expect("a status").history.runs().len(), 1);
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
            let (outcomes, report) = run(&session, &manifest, Mode::Apply);
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
