//! Second runs that verify that a manifest is idempotent.

use ccm_runtime::{ExitCode, RunMode, RunOptions, VerificationError};
use ccm_testkit::Scratch;

use crate::{block_on, manifest_of, read, session};

/// Applies a manifest and verifies it. Returns the exit code, the names of what changed again, and the
/// advice.
fn verify(scratch: &Scratch, resources: &str) -> Result<(ExitCode, Vec<String>, usize), VerificationError> {
    let session = session(scratch);
    let input = read(&session, &manifest_of(scratch, resources));
    let manifest = session.load(&input).expect("a manifest without errors");
    block_on(async {
        let mut run = manifest.begin(RunMode::Apply, RunOptions::default()).await.expect("a run");
        let mut ignore = |_: ccm_runtime::Emitted<'_>| {};
        let summary = run.apply(&mut ignore).await;
        let code = ExitCode::of(&summary, true);
        let first = run.identity().run_id.clone();
        let verification = run.verify_idempotent(&summary, code, &mut ignore).await?;
        assert!(run.identity().run_id > first);
        assert!(verification.first.is_recorded);
        let end = run.end(&verification.summary, verification.code).await;
        assert_eq!(session.history().expect("a history").runs().len(), 2);
        assert_eq!(verification.is_verified(), verification.is_idempotent());
        let names = verification.changed_again.iter().map(|changed| changed.id.to_string()).collect();
        Ok((end.code, names, verification.advice.len()))
    })
}

#[test]
fn a_second_run_changes_nothing_or_names_what_it_changed() {
    let scratch = Scratch::new();
    let file = format!("    - file: [{{{}: {{content: x}}}}]\n", scratch.at("a"));
    assert_eq!(verify(&scratch, &file).expect("a second run"), (ExitCode::Changes, vec![], 0));
    let scratch = Scratch::new();
    let exec = "    - exec: [{always: {command: 'true'}}]\n";
    let expected = (ExitCode::ChangesAndFailures, vec!["exec#always".to_owned()], 1);
    assert_eq!(verify(&scratch, exec).expect("a second run"), expected);
}

#[test]
fn a_run_that_failed_or_whose_manifest_broke_is_not_verified() {
    let scratch = Scratch::new();
    let failed = verify(&scratch, "    - exec: [{fails: {command: 'false'}}]\n");
    assert!(matches!(failed, Err(VerificationError::NotSuccessful)), "{failed:?}");
    let scratch = Scratch::new();
    let breaks = "    - exec: [{breaks: {provider: shell, command: 'echo x > DIR/manifest.yaml'}}]\n"
        .replace("DIR", &scratch.path().display().to_string());
    let broken = verify(&scratch, &breaks);
    assert!(matches!(broken, Err(VerificationError::Manifest(_))), "{broken:?}");
}
