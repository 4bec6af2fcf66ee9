//! Runs under a policy of the operator.

#![allow(clippy::panic, reason = "a test ends with its first error")]

use std::cell::RefCell;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_host::TrustError;
use ccm_model::{FailureKind, Outcome};
use ccm_runtime::{
    BeginError, Config, ExitCode, GovernanceNotice, Notice, PolicyError, PolicySource, RunMode, RunOptions,
    Session, ValidationError, ValidationExtent,
};
use ccm_testkit::Scratch;

use crate::{block_on, config, manifest_of, outcomes, read, run};

/// Writes a policy of these sections, and returns a session that obeys it.
pub(crate) fn governed(scratch: &Scratch, sections: &str) -> Session {
    scratch.write("etc/policy.yaml", format!("ccm_policy: 1\n{sections}"));
    set_mode(&scratch.path().join("etc/policy.yaml"), 0o644);
    set_mode(&scratch.path().join("etc"), 0o755);
    Session::open(Config { policy: PolicySource::Directory(directory(scratch)), ..config(scratch) })
}

pub(crate) fn directory(scratch: &Scratch) -> PathBuf {
    scratch.path().canonicalize().expect("a path").join("etc")
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

/// Returns a manifest with an exec that makes a file, guarded by `true`.
fn touching(scratch: &Scratch) -> PathBuf {
    let made = scratch.at("made");
    manifest_of(scratch, &format!("    - exec: [{{'touch {made}': {{cwd: /, onlyif: 'true'}}}}]\n"))
}

pub(crate) fn failure(outcome: &Outcome) -> (FailureKind, String) {
    match outcome {
        Outcome::Failed(failure) => (failure.kind, failure.chain.join(": ")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_that_nothing_is_against_runs() {
    let scratch = Scratch::new();
    let session = governed(&scratch, "rules: [{match: {program: rm}, deny: true}]\n");
    let (outcomes, report) = run(&session, &touching(&scratch), RunMode::Apply);
    assert_eq!((&outcomes[0], report.record.code), (&Outcome::Changed, ExitCode::Success));
}

#[test]
fn a_denial_that_is_known_early_is_an_error_of_the_manifest() {
    let scratch = Scratch::new();
    let session = governed(
        &scratch,
        "rules:\n  - {name: no touch, match: {program: touch}, deny: true, say: write a file resource}\n",
    );
    let manifest = touching(&scratch);
    let input = read(&session, &manifest);
    let errors = session.load(&input).expect_err("a denied command");
    let text = errors.text();
    assert!(text.contains("the policy denies this command") && text.contains("rule \"no touch\""), "{text}");
    assert!(text.contains("hint: write a file resource"), "{text}");
    // The manifest's line, and the rule's.
    let [found] = &*errors.diagnostics else { panic!("{text}") };
    let files: Vec<&str> = found
        .labels
        .iter()
        .filter_map(|label| errors.texts.locate(label.span))
        .map(|(name, _)| name.rsplit('/').next().unwrap_or_default())
        .collect();
    assert_eq!(files, ["manifest.yaml", "policy.yaml"]);
    let validation = session.validate(&input, ValidationExtent::Everything);
    assert!(matches!(validation, Err(ValidationError::Manifest(_))), "{validation:?}");
    // A guard is a command too.
    let session = governed(&scratch, "rules: [{match: {program: 'true'}, deny: final}]\n");
    assert!(session.load(&read(&session, &manifest)).is_err());
}

#[test]
fn commands_that_others_run_later_are_judged() {
    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS";
    let scratch = Scratch::new();
    let session = governed(&scratch, "rules: [{match: {program: forbidden}, deny: final}]\n");
    let key =
        |options: &str| format!("authorized_key: [{{k: {{user: ada, key: {KEY}, options: ['{options}']}}}}]");
    for resource in [
        "cron: [{c1: {command: forbidden /x, minute: 5}}]",
        "cron: [{c1: {command: 'cd /srv && env forbidden', special: daily, user: ada}}]",
        "cron: [{c1: {command: 'date +%F | xargs forbidden', special: daily, provider: crontab}}]",
        "cron: [{c1: {command: x, special: daily, environment: {SHELL: /usr/bin/forbidden}}}]",
        "timer: [{t1: {command: /usr/bin/forbidden /x, every: 30m}}]",
        "timer: [{t1: {command: sh -c 'forbidden x', on_calendar: daily, user: ada}}]",
        "user: [{ada: {shell: /usr/bin/forbidden}}]",
        &key("command=\"forbidden x\""),
        &key("command=\"sh -c \\\"exec forbidden\\\"\""),
        "file: [{/srv/x: {content: x, validate: forbidden %s}}]",
    ] {
        let manifest = manifest_of(&scratch, &format!("    - {resource}\n"));
        let input = read(&session, &manifest);
        let errors = session.load(&input).expect_err(resource).text();
        assert!(errors.contains("the policy denies this command"), "{resource}: {errors}");
    }
    for resource in [
        "cron: [{c1: {command: echo forbidden, minute: 5}}]",
        "cron: [{c1: {ensure: absent, command: forbidden, minute: 5}}]",
        "timer: [{t1: {command: echo forbidden, every: 30m}}]",
        "user: [{forbidden: {shell: /bin/sh}}]",
        &key("from=\"forbidden\""),
    ] {
        let manifest = manifest_of(&scratch, &format!("    - {resource}\n"));
        let loaded = session.load(&read(&session, &manifest)).map(drop);
        assert!(loaded.is_ok(), "{resource}: {}", loaded.expect_err("errors").text());
    }
}

#[test]
fn a_job_of_cron_that_needs_an_approval_is_not_written() {
    let scratch = Scratch::new();
    let manifest = manifest_of(&scratch, "    - cron: [{ccm-test-job: {command: touch /x, minute: 5}}]\n");
    for (rule, expected) in [
        ("{match: {program: touch}, ask: true}", FailureKind::ApprovalRequired),
        ("{match: {program: touch}, when: \"caller.kind == 'apply'\", deny: true}", FailureKind::Denied),
    ] {
        let session = governed(&scratch, &format!("rules: [{rule}]\n"));
        let (outcomes, _) = run(&session, &manifest, RunMode::Plan);
        assert_eq!(failure(&outcomes[0]).0, expected, "{outcomes:?}");
    }
}

#[test]
fn a_question_without_approval_fails_the_resource() {
    let scratch = Scratch::new();
    let sections = "approval: {groups: {ops: [ada, bob]}}\nrules: [{name: touches, match: {program: touch}, ask: {approvers: ops, count: 2}}]\n";
    let session = governed(&scratch, sections);
    let manifest = touching(&scratch);
    for mode in [RunMode::Apply, RunMode::Plan] {
        let (outcomes, report) = run(&session, &manifest, mode);
        let (kind, text) = failure(&outcomes[0]);
        assert_eq!(kind, FailureKind::ApprovalRequired, "{mode:?} {text}");
        assert!(text.contains("rule \"touches\""), "{text}");
        let Outcome::Failed(failure) = &outcomes[0] else { unreachable!() };
        // Without a file of approvers, nobody could do what another hint says.
        let [hint] = &failure.hints[..] else { unreachable!("{failure:?}") };
        assert!(!failure.changed && hint.starts_with("write a line for each approver to "), "{failure:?}");
        assert_eq!(report.record.code, ExitCode::Failures);
    }
    assert!(scratch.read("made").is_none());
    let validation = session.validate(&read(&session, &manifest), ValidationExtent::Everything);
    assert!(validation.is_ok());
}

#[test]
fn a_guard_that_needs_an_approval_is_not_run() {
    let scratch = Scratch::new();
    let session = governed(&scratch, "rules: [{match: {program: 'true'}, ask: true}]\n");
    let (outcomes, _) = run(&session, &touching(&scratch), RunMode::Apply);
    assert_eq!(failure(&outcomes[0]).0, FailureKind::ApprovalRequired);
    assert!(scratch.read("made").is_none());
}

#[test]
fn a_condition_is_decided_when_the_resource_is_reached() {
    let scratch = Scratch::new();
    let session = governed(
        &scratch,
        "rules: [{match: {program: touch}, when: \"caller.kind == 'apply'\", deny: true}]\n",
    );
    let (outcomes, _) = run(&session, &touching(&scratch), RunMode::Apply);
    assert_eq!(failure(&outcomes[0]).0, FailureKind::Denied);
    let other = governed(
        &scratch,
        "rules: [{match: {program: touch}, when: \"caller.kind == 'tool'\", deny: true}]\n",
    );
    assert_eq!(run(&other, &touching(&scratch), RunMode::Apply).0[0], Outcome::Changed);
}

#[test]
fn changes_of_resources_are_judged_by_their_effects() {
    let scratch = Scratch::new();
    let etc = directory(&scratch).parent().expect("a directory").join("conf");
    let rule = format!("rules: [{{match: {{effect: write, path: {}/**}}, deny: true}}]\n", etc.display());
    let session = governed(&scratch, &rule);
    let manifest = manifest_of(
        &scratch,
        &format!(
            "    - file: [{{{0}/conf: {{ensure: directory}}}}, {{{0}/free: {{content: x}}}}]\n",
            scratch.path().canonicalize().expect("a path").display()
        ),
    );
    let (outcomes, _) = run(&session, &manifest, RunMode::Apply);
    assert_eq!(failure(&outcomes[0]).0, FailureKind::Denied);
    assert_eq!(outcomes[1], Outcome::Changed);
    assert!(scratch.read("free").is_some());
}

#[test]
fn audit_reports_and_refuses_nothing() {
    let scratch = Scratch::new();
    let reported = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&reported);
    let sections =
        "callers: {apply: {guard: audit}}\nrules: [{name: no touch, match: {program: touch}, deny: true}]\n";
    let session = governed(&scratch, sections).on_notice(move |notice| {
        if let Notice::Governance(GovernanceNotice::Policy { resource, verdict, reason }) = notice {
            kept.borrow_mut().push(format!("{resource} {verdict} {reason}"));
        }
    });
    let (outcomes, _) = run(&session, &touching(&scratch), RunMode::Apply);
    assert_eq!(outcomes[0], Outcome::Changed);
    let reported = reported.borrow();
    let [line] = &**reported else { panic!("{reported:?}") };
    assert!(line.contains(" deny `touch ") && line.contains("rule \"no touch\""), "{line}");
}

#[test]
fn arguments_of_a_sensitive_command_are_not_in_the_reason() {
    let scratch = Scratch::new();
    let session = governed(&scratch, "rules: [{match: {program: touch}, ask: true}]\n");
    let manifest = manifest_of(
        &scratch,
        "    - exec: [{once: {command: touch /nonexistent/hunter2, cwd: /, sensitive: true}}]\n",
    );
    let (outcomes, _) = run(&session, &manifest, RunMode::Apply);
    assert!(!format!("{:?}", outcomes[0]).contains("hunter2"), "{outcomes:?}");
}

#[test]
fn variables_that_a_manifest_sets_are_judged() {
    let scratch = Scratch::new();
    let session = governed(&scratch, "guard: {variables: ask}\n");
    let made = scratch.at("made");
    for (variable, is_allowed) in [("LD_PRELOAD=/x.so", false), ("GREETING=hello", true)] {
        let exec = format!("    - exec: [{{'touch {made}': {{cwd: /, environment: ['{variable}']}}}}]\n");
        let (outcomes, _) = run(&session, &manifest_of(&scratch, &exec), RunMode::Apply);
        assert_eq!(outcomes[0] == Outcome::Changed, is_allowed, "{variable} {outcomes:?}");
    }
}

fn begin_error(session: &Session, manifest: &Path) -> PolicyErrorKind {
    let input = read(session, manifest);
    let loaded = session.load(&input).expect("a manifest without errors");
    let error = block_on(outcomes(&loaded, RunMode::Apply, RunOptions::default())).expect_err("no run");
    let BeginError::Policy(error) = error else { panic!("{error:?}") };
    match &*error {
        PolicyError::Trust(TrustError::Link(_)) => PolicyErrorKind::Link,
        PolicyError::Trust(TrustError::Writable { .. }) => PolicyErrorKind::Writable,
        PolicyError::Trust(TrustError::NotReadable { .. }) => PolicyErrorKind::NotReadable,
        PolicyError::Trust(TrustError::TooLong { .. }) => PolicyErrorKind::TooLong,
        PolicyError::Errors(_) => PolicyErrorKind::Errors,
        other => panic!("{other:?}"),
    }
}

#[derive(Debug, PartialEq)]
enum PolicyErrorKind {
    Link,
    Writable,
    NotReadable,
    TooLong,
    Errors,
}

#[test]
fn nothing_runs_under_a_policy_that_cannot_be_used() {
    let scratch = Scratch::new();
    let path = scratch.path().join("etc/policy.yaml");
    let manifest = touching(&scratch);
    let session = || governed(&scratch, "");
    let writable = session();
    set_mode(&path, 0o666);
    assert_eq!(begin_error(&writable, &manifest), PolicyErrorKind::Writable);
    let private = session();
    set_mode(&path, 0o600);
    assert_eq!(begin_error(&private, &manifest), PolicyErrorKind::NotReadable);
    let long = session();
    std::fs::write(&path, "#".repeat(2 << 20)).expect("a file");
    assert_eq!(begin_error(&long, &manifest), PolicyErrorKind::TooLong);
    let link = session();
    std::fs::rename(&path, scratch.path().join("etc/real.yaml")).expect("a file");
    symlink("real.yaml", &path).expect("a link");
    assert_eq!(begin_error(&link, &manifest), PolicyErrorKind::Link);
    std::fs::remove_file(&path).expect("a link");
    assert_eq!(begin_error(&governed(&scratch, "rulez: []\n"), &manifest), PolicyErrorKind::Errors);
    assert!(scratch.read("made").is_none());
}

#[test]
fn a_further_file_is_read() {
    let scratch = Scratch::new();
    let session = governed(&scratch, "");
    scratch.write(
        "etc/policy.d/no-touch.yaml",
        "ccm_policy: 1\nrules: [{match: {program: touch}, ask: true}]\n",
    );
    set_mode(&scratch.path().join("etc/policy.d"), 0o755);
    set_mode(&scratch.path().join("etc/policy.d/no-touch.yaml"), 0o644);
    let (outcomes, _) = run(&session, &touching(&scratch), RunMode::Apply);
    assert_eq!(failure(&outcomes[0]).0, FailureKind::ApprovalRequired);
}
