//! A program's own gate.

use ccm_model::{FailureKind, Outcome};
use ccm_runtime::{
    ChangeRequest, CommandRequest, Config, Gate, RunMode, RunOptions, Session, Verdict, spawn,
};
use ccm_testkit::Scratch;

use crate::{config, manifest_of, run};

/// Gate that allows changes of files and denies everything else.
struct FilesOnly;

impl Gate for FilesOnly {
    async fn before_command(&self, _: &CommandRequest<'_>) -> Verdict {
        Verdict::Deny { reason: "no commands here".to_owned(), hints: Vec::new() }
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        match &*request.resource.id().type_name {
            "file" => Verdict::Allow,
            _ => Verdict::Deny { reason: "files only".to_owned(), hints: Vec::new() },
        }
    }
}

fn gated(scratch: &Scratch) -> Config {
    Config { gate: Box::new(FilesOnly), ..config(scratch) }
}

fn manifest(scratch: &Scratch) -> std::path::PathBuf {
    let (made, touched) = (scratch.at("made"), scratch.at("touched"));
    manifest_of(
        scratch,
        &format!(
            "    - file: [{{{made}: {{content: text}}}}]\n    - exec: [{{'/bin/touch {touched}': {{cwd: /}}}}]\n"
        ),
    )
}

/// Returns the kind of a failure and its first line.
fn failure(outcome: &Outcome) -> Option<(FailureKind, &str)> {
    match outcome {
        Outcome::Failed(failure) => Some((failure.kind, failure.chain.first()?)),
        _ => None,
    }
}

#[test]
fn gate_of_the_configuration_decides_on_a_run() {
    let scratch = Scratch::new();
    let manifest = manifest(&scratch);
    let (outcomes, _) = run(&Session::open(gated(&scratch)), &manifest, RunMode::Apply);
    assert_eq!(outcomes[0], Outcome::Changed);
    let denied = failure(&outcomes[1]).expect("a refusal");
    assert_eq!(denied.0, FailureKind::Denied);
    assert!(denied.1.contains("files only"), "{}", denied.1);
    assert!(scratch.read("made").is_some() && scratch.read("touched").is_none());
}

#[test]
fn noop_shows_the_refusal_of_the_gate() {
    let scratch = Scratch::new();
    let manifest = manifest(&scratch);
    let (outcomes, _) = run(&Session::open(gated(&scratch)), &manifest, RunMode::Plan);
    assert!(matches!(outcomes[0], Outcome::WouldChange { .. }), "{outcomes:?}");
    assert_eq!(failure(&outcomes[1]).map(|denied| denied.0), Some(FailureKind::Denied));
    assert_eq!(scratch.read("made"), None);
}

#[test]
fn gate_goes_with_the_session_to_a_thread() {
    let scratch = Scratch::new();
    let manifest = manifest(&scratch);
    let job = spawn(gated(&scratch), async move |session| {
        let input = crate::read(&session, &manifest);
        let loaded = session.load(&input).expect("a manifest without errors");
        crate::outcomes(&loaded, RunMode::Apply, RunOptions::default()).await.expect("a run").0
    });
    let outcomes = crate::block_on(job.expect("a thread")).expect("the outcomes");
    assert_eq!(failure(&outcomes[1]).map(|denied| denied.0), Some(FailureKind::Denied));
}
