//! Plans: made in noop, approved, and applied as they are or not at all.

#![allow(clippy::panic, reason = "a test ends with its first error")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use ccm_model::{FailureKind, Outcome};
use ccm_runtime::plan::{
    PLAN_NAMESPACE, PlanCheckError, PlanDifference, PlanDocument, PlanError, PlannedOutcome, ReadPlan,
};
use ccm_runtime::{
    BeginError, Config, LoadedManifest, PolicySource, RunMode, RunOptions, Session, SigningKey,
};
use ccm_testkit::Scratch;

use crate::{block_on, config, manifest_of, outcomes, read};

/// Returns a session that handles plans.
fn session(scratch: &Scratch) -> Session {
    Session::open(Config { handles_plans: true, ..config(scratch) })
}

/// Returns a session that handles plans under a policy of these sections, and makes the key of an approver.
fn governed(scratch: &Scratch, sections: &str) -> Session {
    let key = scratch.path().join("key");
    if !key.exists() {
        let keygen = ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"];
        let made = Command::new("ssh-keygen").args(keygen).arg(&key).status().expect("ssh-keygen");
        assert!(made.success());
        let public = std::fs::read_to_string(key.with_extension("pub")).expect("a key");
        scratch.write("etc/approvers", format!("alice {public}"));
    }
    let rules = "rules: [{name: touches, match: {program: touch}, ask: true}]\n";
    scratch.write("etc/policy.yaml", format!("ccm_policy: 1\n{sections}{rules}"));
    for (name, mode) in [("etc/policy.yaml", 0o644), ("etc/approvers", 0o644), ("etc", 0o755)] {
        let path = scratch.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    }
    let directory = scratch.path().canonicalize().expect("a path").join("etc");
    let policy = PolicySource::Directory(directory);
    Session::open(Config { policy, handles_plans: true, ..config(scratch) })
}

/// Makes a plan of a manifest, writes it and reads it again.
fn plan_of(session: &Session, manifest: &Path, path: &Path) -> ReadPlan {
    let input = read(session, manifest);
    let loaded = session.load(&input).expect("a valid manifest");
    let plan = block_on(session.plan_now(&[&loaded], &RunOptions::default())).expect("a plan");
    session.write_plan(&plan, path).expect("a plan that is written");
    session.read_plan(path).expect("a plan")
}

/// Checks a plan and applies it.
fn follow(session: &Session, manifest: &Path, plan: &ReadPlan) -> Result<Vec<Outcome>, PlanCheckError> {
    let input = read(session, manifest);
    let loaded = session.load(&input).expect("a valid manifest");
    block_on(async {
        let options = following(plan);
        session.check_plan(plan, &[&loaded], &options).await?;
        Ok(applied(&loaded, options).await)
    })
}

fn following(plan: &ReadPlan) -> RunOptions {
    RunOptions { plan: Some(Arc::new(plan.clone())), ..RunOptions::default() }
}

async fn applied(manifest: &LoadedManifest<'_>, options: RunOptions) -> Vec<Outcome> {
    outcomes(manifest, RunMode::Apply, options).await.expect("a run").0
}

fn refused(session: &Session, manifest: &Path, plan: &ReadPlan) -> Vec<&'static str> {
    match follow(session, manifest, plan) {
        Err(PlanCheckError::Refused(differences)) => differences.iter().map(PlanDifference::name).collect(),
        other => panic!("{other:?}"),
    }
}

fn path(scratch: &Scratch) -> PathBuf {
    scratch.path().join("web.plan")
}

/// Returns a manifest of a file with this content.
fn file(scratch: &Scratch, content: &str) -> PathBuf {
    manifest_of(scratch, &format!("    - file: [{{{}: {{content: '{content}'}}}}]\n", scratch.at("made")))
}

#[test]
fn a_plan_is_applied_once() {
    let scratch = Scratch::new();
    let (session, manifest) = (session(&scratch), file(&scratch, "one"));
    let plan = plan_of(&session, &manifest, &path(&scratch));
    let mode = std::fs::metadata(path(&scratch)).expect("a plan").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!scratch.has("made"));
    assert_eq!(follow(&session, &manifest, &plan).expect("a run"), [Outcome::Changed]);
    assert!(scratch.has("made"));
    assert_eq!(refused(&session, &manifest, &plan), ["used", "resource"]);
    std::fs::remove_file(scratch.path().join("made")).expect("a file");
    assert_eq!(refused(&session, &manifest, &plan), ["used"]);
}

#[test]
fn one_of_two_uses_at_once_wins() {
    let scratch = Scratch::new();
    let manifest = file(&scratch, "one");
    let plan = plan_of(&session(&scratch), &manifest, &path(&scratch));
    let (first, second) = (session(&scratch), session(&scratch));
    let (first_input, second_input) = (read(&first, &manifest), read(&second, &manifest));
    let one = first.load(&first_input).expect("a valid manifest");
    let other = second.load(&second_input).expect("a valid manifest");
    let results = block_on(async {
        let (one, other) = ([&one], [&other]);
        let options = following(&plan);
        tokio::join!(first.check_plan(&plan, &one, &options), second.check_plan(&plan, &other, &options))
    });
    let won = [&results.0, &results.1].iter().filter(|result| result.is_ok()).count();
    assert_eq!(won, 1, "{results:?}");
    let lost = results.0.err().or(results.1.err());
    assert!(matches!(lost, Some(PlanCheckError::Refused(found)) if found == [PlanDifference::Used]));
}

#[test]
fn a_plan_holds_for_its_manifest_data_facts_and_state() {
    let scratch = Scratch::new();
    scratch.write("made", "old");
    let session = session(&scratch);
    let manifest = file(&scratch, "one");
    let plan = plan_of(&session, &manifest, &path(&scratch));
    // One byte of the state.
    scratch.write("made", "olD");
    assert_eq!(refused(&session, &manifest, &plan), ["resource"]);
    scratch.write("made", "old");
    // The manifest, and with it the change.
    let manifest = file(&scratch, "two");
    assert_eq!(refused(&session, &manifest, &plan), ["file", "resource"]);
    let text = std::fs::read_to_string(&manifest).expect("a manifest");
    std::fs::write(&manifest, text.replace("'two'", "'one'") + "# a comment\n").expect("a manifest");
    assert_eq!(refused(&session, &manifest, &plan), ["file"]);
    let with_more = text.replace("'two'", "'one'")
        + &format!("    - file: [{{{}: {{content: x}}}}]\n", scratch.at("more"));
    std::fs::write(&manifest, with_more).expect("a manifest");
    assert_eq!(refused(&session, &manifest, &plan), ["file", "resource"]);
    std::fs::write(&manifest, text.replace("'two'", "'one'")).expect("a manifest");
    assert_eq!(follow(&session, &manifest, &plan).expect("a run"), [Outcome::Changed]);
}

#[test]
fn an_edited_plan_and_one_of_another_key_are_refused() {
    let (scratch, elsewhere) = (Scratch::new(), Scratch::new());
    let (session, manifest) = (session(&scratch), file(&scratch, "one"));
    let plan = plan_of(&session, &manifest, &path(&scratch));
    let document = PlanDocument { expires: "2999-01-01T00:00:00Z".to_owned(), ..plan.document.clone() };
    let edited = ReadPlan { text: document.text().into(), document, ..plan.clone() };
    assert_eq!(refused(&session, &manifest, &edited), ["edited"]);
    // A blank is enough.
    let text = plan.text.replacen("{\n", "{ \n", 1);
    assert_eq!(refused(&session, &manifest, &ReadPlan { text: text.into(), ..plan.clone() }), ["edited"]);
    let other = self::session(&elsewhere);
    assert_eq!(refused(&other, &manifest, &plan), ["key"]);
    assert!(!scratch.has("made"));
}

#[test]
fn small_secrets_can_not_be_guessed_from_a_plan() {
    const SECRET: &str = "4711";
    let scratch = Scratch::new();
    let pin = scratch.at("pin");
    let resources = format!(
        "    - file: [{{{pin}: {{content: '{{{{ Data.pin }}}}', sensitive: true, mode: '0600'}}}}]\n    \
         - exec: [{{'true': {{environment: {{PIN: '{{{{ Data.pin }}}}'}}}}}}]\n"
    );
    let text = format!("data:\n  # @sensitive\n  pin: '{SECRET}'\nccm:\n  resources:\n{resources}");
    scratch.write("manifest.yaml", text);
    scratch.write("pin", "0815");
    // The same manifest and state on two machines: each has a key of its own.
    let plans = ["one", "other"].map(|machine| {
        let state_directory = Some(scratch.path().join(machine));
        let session = Session::open(Config { state_directory, handles_plans: true, ..config(&scratch) });
        plan_of(&session, &scratch.path().join("manifest.yaml"), &path(&scratch))
    });
    let [one, other] = plans.each_ref().map(|plan| &plan.document.manifests[0]);
    assert_ne!(one.data, other.data);
    assert_eq!(one.resources.len(), other.resources.len());
    for (one, other) in one.resources.iter().zip(&other.resources) {
        assert_eq!(one.outcome, other.outcome);
        assert_ne!(one.state, other.state);
        assert_ne!(one.change, other.change);
    }
    for plan in &plans {
        let guesses =
            [SECRET.to_owned(), format!("'{SECRET}'"), format!("{SECRET}\n"), format!("PIN={SECRET}")];
        for guess in guesses {
            assert!(!plan.text.contains(&ccm_model::sha256(guess.as_bytes())), "{guess}: {}", plan.text);
        }
        assert!(
            !plan.text.contains(&format!("\"{SECRET}")) && !plan.text.contains("PIN=4711"),
            "{}",
            plan.text
        );
    }
}

#[test]
fn a_state_that_changes_between_the_check_and_the_turn_fails_its_resource() {
    let scratch = Scratch::new();
    scratch.write("made", "old");
    let session = session(&scratch);
    let [made, first] = ["made", "first"].map(|name| scratch.at(name));
    let manifest = manifest_of(
        &scratch,
        &format!("    - file:\n        - {first}: {{content: x}}\n        - {made}: {{content: new}}\n"),
    );
    let plan = plan_of(&session, &manifest, &path(&scratch));
    let input = read(&session, &manifest);
    let loaded = session.load(&input).expect("a valid manifest");
    let outcomes = block_on(async {
        session.check_plan(&plan, &[&loaded], &following(&plan)).await.expect("a plan that holds");
        scratch.write("made", "other");
        applied(&loaded, following(&plan)).await
    });
    assert_eq!(outcomes[0], Outcome::Changed);
    let Outcome::Failed(failure) = &outcomes[1] else { panic!("{outcomes:?}") };
    assert_eq!((failure.kind, failure.changed), (FailureKind::NotPlanned, false));
    assert_eq!(std::fs::read_to_string(scratch.path().join("made")).expect("a file"), "other");
}

#[test]
fn what_the_plan_itself_changes_is_no_difference() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    scratch.write("text", "x\n");
    let [directory, made, text] = ["directory", "directory/made", "text"].map(|name| scratch.at(name));
    let manifest = manifest_of(
        &scratch,
        &format!(
            "    - file:\n        - {directory}: {{ensure: directory}}\n        - {made}: {{content: \"a\\n\"}}\n    \
             - line:\n        - one: {{path: {text}, line: a}}\n        - two: {{path: {text}, line: b}}\n    - exec:\n        \
             - late: {{command: 'echo 5', capture: {{size: stdout.raw}}}}\n    - file:\n        \
             - {}: {{content: \"{{{{ Captures.late.size }}}}\"}}\n",
            scratch.at("late")
        ),
    );
    let input = read(&session, &manifest);
    if let Err(errors) = session.load(&input) {
        panic!("{}", errors.text());
    }
    let plan = plan_of(&session, &manifest, &path(&scratch));
    let resources = &plan.document.manifests[0].resources;
    assert!(resources.iter().all(|resource| resource.outcome == PlannedOutcome::Change), "{resources:#?}");
    let late =
        resources.iter().find(|resource| resource.id.ends_with("late") && resource.id.starts_with("file"));
    assert!(late.is_some_and(|late| late.open.is_some() && late.state.is_none()), "{late:?}");
    let outcomes = follow(&session, &manifest, &plan).expect("a run");
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Changed), "{outcomes:#?}");
}

/// Returns a manifest of a command that asks.
fn touching(scratch: &Scratch) -> PathBuf {
    manifest_of(scratch, &format!("    - exec: [{{'touch {}': {{cwd: /}}}}]\n", scratch.at("made")))
}

fn sign(session: &Session, scratch: &Scratch, plan: &ReadPlan) -> ReadPlan {
    let key = SigningKey::File(scratch.path().join("key"));
    let signed = session.governance().sign(&key, PLAN_NAMESPACE, plan.text.as_bytes(), None);
    session.write_plan_signature(plan, &signed.expect("a signature").0).expect("a file");
    session.read_plan(&plan.path).expect("a plan")
}

#[test]
fn an_approved_plan_answers_the_questions_of_the_policy() {
    let scratch = Scratch::new();
    let session = governed(&scratch, "");
    let manifest = touching(&scratch);
    let plan = plan_of(&session, &manifest, &path(&scratch));
    let [resource] = &*plan.document.manifests[0].resources else { panic!("{plan:?}") };
    assert!(resource.needs_approval && resource.outcome == PlannedOutcome::Change, "{resource:?}");
    let outcomes = follow(&session, &manifest, &plan).expect("a run");
    let Outcome::Failed(failure) = &outcomes[0] else { panic!("{outcomes:?}") };
    assert_eq!(failure.kind, FailureKind::ApprovalRequired);
    // The failed run has used the plan up.
    let session = governed(&scratch, "");
    let plan = plan_of(&session, &manifest, &path(&scratch));
    let plan = sign(&session, &scratch, &plan);
    assert_eq!(plan.signature.approver(), Some("alice"));
    assert_eq!(follow(&session, &manifest, &plan).expect("a run"), [Outcome::Changed]);
    assert!(scratch.has("made"));
}

#[test]
fn a_new_plan_removes_the_signature_of_the_old_one_and_no_other_file() {
    let scratch = Scratch::new();
    let session = governed(&scratch, "");
    let manifest = touching(&scratch);
    let plan = plan_of(&session, &manifest, &path(&scratch));
    let signed = sign(&session, &scratch, &plan);
    let other = plan_of(&session, &manifest, &path(&scratch));
    assert!(other.signature.approver().is_none() && !scratch.has("web.plan.sig"));
    // A signature of another plan does not count.
    let key = SigningKey::File(scratch.path().join("key"));
    let signature = session.governance().sign(&key, PLAN_NAMESPACE, signed.text.as_bytes(), None);
    session.write_plan_signature(&other, &signature.expect("a signature").0).expect("a file");
    let read = session.read_plan(&other.path).expect("a plan");
    assert!(read.signature.approver().is_none());
    let refused = session.write_plan(&other.document, &manifest);
    assert!(matches!(refused, Err(PlanError::InTheWay(_))), "{refused:?}");
}

#[test]
fn a_policy_can_require_an_approved_plan() {
    let scratch = Scratch::new();
    let sections = "callers: {apply: {plan: required}}\n";
    let session = governed(&scratch, sections);
    let manifest = touching(&scratch);
    let input = read(&session, &manifest);
    let loaded = session.load(&input).expect("a valid manifest");
    let begin = |options| block_on(loaded.begin(RunMode::Apply, options)).map(drop);
    let required = |found: Result<(), BeginError>, expected| {
        let Err(BeginError::PlanRequired { by_policy: true, has_plan }) = found else { panic!("{found:?}") };
        assert_eq!(has_plan, expected);
    };
    required(begin(RunOptions::default()), false);
    // Noop is free.
    let plan = plan_of(&session, &manifest, &path(&scratch));
    required(begin(following(&plan)), true);
    let plan = sign(&session, &scratch, &plan);
    assert_eq!(follow(&session, &manifest, &plan).expect("a run"), [Outcome::Changed]);
    // So can the caller.
    let session = Session::open(Config { requires_plan: true, ..config(&scratch) });
    let input = read(&session, &manifest);
    let loaded = session.load(&input).expect("a valid manifest");
    let found = block_on(loaded.begin(RunMode::Apply, RunOptions::default())).map(drop);
    assert!(
        matches!(found, Err(BeginError::PlanRequired { by_policy: false, has_plan: false })),
        "{found:?}"
    );
}
