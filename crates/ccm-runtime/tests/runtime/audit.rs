//! Runs in the audit log.

#![allow(clippy::panic, reason = "a test ends with its first error")]

use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_model::{FailureKind, Outcome, sha256};
use ccm_runtime::audit::Trust;
use ccm_runtime::{
    AuditSource, BeginError, Config, ExitCode, GovernanceNotice, Notice, PolicySource, RunMode, RunOptions,
    Session,
};
use ccm_testkit::Scratch;
use serde_json::Value;

use crate::{block_on, config, manifest_of, outcomes, read, run, session};

const REQUIRED: &str = "audit: {required: true}\n";

/// Writes a policy of these sections, and returns a session that obeys it.
fn governed(scratch: &Scratch, sections: &str) -> Session {
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    scratch.write("etc/policy.yaml", format!("ccm_policy: 1\n{sections}"));
    let directory = scratch.path().canonicalize().expect("a path").join("etc");
    mode(&directory.join("policy.yaml"), 0o644);
    mode(&directory, 0o755);
    Session::open(Config { policy: PolicySource::Directory(directory), ..config(scratch) })
}

/// Session whose notices are kept.
fn noticing(session: Session) -> (Session, Rc<RefCell<Vec<String>>>) {
    let notices = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&notices);
    let session = session.on_notice(move |notice| match notice {
        Notice::Governance(GovernanceNotice::Audit(problem)) => kept.borrow_mut().push(problem.to_string()),
        Notice::Governance(GovernanceNotice::SealNotForwarded(failure)) => {
            kept.borrow_mut().push(failure.to_string());
        }
        _ => {}
    });
    (session, notices)
}

fn log_path(scratch: &Scratch) -> PathBuf {
    scratch.path().join("audit/audit-000001.jsonl")
}

fn lines(scratch: &Scratch) -> Vec<Value> {
    let text = std::fs::read_to_string(log_path(scratch)).expect("the log");
    text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect()
}

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["type"].as_str()).collect()
}

/// Returns the lines behind the first seal.
fn of_runs(scratch: &Scratch) -> Vec<Value> {
    lines(scratch).split_off(2)
}

fn is_intact(session: &Session) -> bool {
    session.governance().verify_audit(None, &Trust::default()).expect("a log").findings.is_empty()
}

/// Returns a manifest with a file, and an exec with a guard that makes another one.
fn work(scratch: &Scratch) -> PathBuf {
    let (made, file) = (scratch.at("made"), scratch.at("file"));
    let exec = format!(
        "    - exec: [{{'touch {made}': {{cwd: /, onlyif: 'true', creates: {made}, environment: [A=of-the-environment]}}}}]\n"
    );
    manifest_of(scratch, &format!("    - file: [{{{file}: {{content: of-the-file}}}}]\n{exec}"))
}

fn begin_error(session: &Session, manifest: &Path, mode: RunMode) -> BeginError {
    let input = read(session, manifest);
    let loaded = session.load(&input).expect("a manifest");
    block_on(loaded.begin(mode, RunOptions::default())).err().expect("an error")
}

#[test]
fn a_run_is_recorded_from_its_beginning_to_a_seal() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let made = session.governance().init_audit().expect("a log");
    let manifest = work(&scratch);
    let (_, report) = run(&session, &manifest, RunMode::Apply);
    assert_eq!(report.record.code, ExitCode::Success);
    let recorded = of_runs(&scratch);
    let expected = [
        "run_begun",
        "change",
        "resource",
        "intent",
        "finished",
        "intent",
        "finished",
        "resource",
        "run_ended",
        "seal",
    ];
    assert_eq!(types(&recorded), expected);
    let begun = &recorded[0];
    assert_eq!(begun["run"], *report.identity.run_id);
    assert_eq!(begun["sha256"], *sha256(&std::fs::read(&manifest).expect("a manifest")));
    assert_eq!((&begun["noop"], &begun["policy"]), (&Value::Null, &Value::Null));
    assert!(begun["by"]["uid"].is_number(), "{begun}");
    let file = format!("file#{}", scratch.at("file"));
    assert_eq!((&recorded[1]["resource"], &recorded[1]["verdict"]), (&file.into(), &"none".into()));
    let (guard, command) = (&recorded[3], &recorded[5]);
    assert_eq!((&guard["purpose"], &command["purpose"]), (&"guard".into(), &"command".into()));
    assert!(command["argv"][0].as_str().is_some_and(|program| program.ends_with("/touch")), "{command}");
    assert_eq!((&command["argv"][1], &command["cwd"]), (&scratch.at("made").into(), &"/".into()));
    assert_eq!(recorded[6]["intent"], command["intent"]);
    assert_eq!(
        (&recorded[6]["outcome"], &recorded[6]["stdout"]["bytes"]),
        (&"exit code 0".into(), &0.into())
    );
    assert_eq!((&recorded[7]["outcome"], &recorded[8]["changed"]), (&"changed".into(), &2.into()));
    let text = std::fs::read_to_string(log_path(&scratch)).expect("the log");
    assert!(!text.contains("of-the-environment") && !text.contains("of-the-file"), "{text}");
    let trust = Trust { first_key: Some(made.key), checkpoints: Vec::new(), ..Trust::default() };
    assert_eq!(session.governance().verify_audit(None, &trust).expect("a log").findings, []);
    // Nothing is left to change, and noop leaves nothing.
    run(&session, &manifest, RunMode::Plan);
    assert_eq!(of_runs(&scratch).len(), recorded.len());
    run(&session, &manifest, RunMode::Apply);
    assert_eq!(types(&of_runs(&scratch))[recorded.len()..], ["run_begun", "run_ended", "seal"]);
}

#[test]
fn a_machine_without_a_log_runs_as_ever() {
    let scratch = Scratch::new();
    let (session, notices) = noticing(session(&scratch));
    let (_, report) = run(&session, &work(&scratch), RunMode::Apply);
    assert_eq!((report.record.code, scratch.has("audit")), (ExitCode::Success, false));
    assert!(notices.borrow().is_empty());
    // The home of a service is no directory.
    let audit = AuditSource::Directory("/dev/null/.local/state/ccm/audit".into());
    let (session, notices) = noticing(Session::open(Config { audit, ..config(&scratch) }));
    let (_, report) = run(&session, &work(&scratch), RunMode::Apply);
    assert_eq!(report.record.code, ExitCode::Success, "{notices:?}");
    assert!(notices.borrow().is_empty(), "{notices:?}");
}

#[test]
fn a_required_record_is_a_condition_of_every_run() {
    let scratch = Scratch::new();
    let session = governed(&scratch, REQUIRED);
    let manifest = work(&scratch);
    for mode in [RunMode::Apply, RunMode::Plan] {
        let error = begin_error(&session, &manifest, mode);
        assert!(matches!(error, BeginError::Audit(_)), "{error:?}");
    }
    assert!(!scratch.has("made") && !scratch.has("file") && !scratch.has("audit"));
    session.governance().init_audit().expect("a log");
    run(&session, &manifest, RunMode::Plan);
    // What noop executes is the guard.
    let recorded = of_runs(&scratch);
    assert_eq!(types(&recorded), ["run_begun", "intent", "finished", "run_ended", "seal"]);
    assert_eq!((&recorded[0]["noop"], &recorded[1]["purpose"]), (&true.into(), &"guard".into()));
    let policy = scratch.path().canonicalize().expect("a path").join("etc/policy.yaml");
    let sum = sha256(&std::fs::read(&policy).expect("a policy"));
    let of_sums = sha256(format!("{sum}  {}\n", policy.display()).as_bytes());
    assert_eq!(recorded[0]["policy"], *of_sums);
    assert!(!scratch.has("made"));
    let (_, report) = run(&session, &manifest, RunMode::Apply);
    assert!(report.record.code == ExitCode::Success && scratch.has("made") && is_intact(&session));
}

#[test]
fn a_log_that_was_cut_back_stops_a_run_only_where_a_record_is_required() {
    let scratch = Scratch::new();
    let (session, notices) = noticing(session(&scratch));
    session.governance().init_audit().expect("a log");
    let before = std::fs::read(log_path(&scratch)).expect("the log");
    let manifest = work(&scratch);
    run(&session, &manifest, RunMode::Apply);
    std::fs::write(log_path(&scratch), &before).expect("the log");
    std::fs::remove_file(scratch.path().join("made")).expect("a file");
    let (outcomes, report) = run(&session, &manifest, RunMode::Apply);
    assert_eq!((&outcomes[1], report.record.code), (&Outcome::Changed, ExitCode::Failures));
    assert!(notices.borrow()[0].contains("it was cut back"), "{notices:?}");
    assert_eq!(std::fs::read(log_path(&scratch)).expect("the log"), before);
    let strict = governed(&scratch, REQUIRED);
    let error = begin_error(&strict, &manifest, RunMode::Apply);
    assert!(format!("{error:?}").contains("CutBack"), "{error:?}");
}

#[test]
fn what_the_policy_decides_is_recorded_with_its_rule() {
    let scratch = Scratch::new();
    let sections = "rules:\n  - {name: touches, match: {program: touch}, ask: true}\n";
    let session = governed(&scratch, sections);
    session.governance().init_audit().expect("a log");
    let (outcomes, _) = run(&session, &work(&scratch), RunMode::Apply);
    assert!(
        matches!(&outcomes[1], Outcome::Failed(failure) if failure.kind == FailureKind::ApprovalRequired)
    );
    let recorded = of_runs(&scratch);
    let refused = recorded.iter().find(|line| line["type"] == "refused").expect("a refusal");
    assert_eq!((&refused["verdict"], &refused["purpose"]), (&"ask".into(), &"command".into()));
    assert!(refused["rule"].as_str().is_some_and(|rule| rule.contains("rule \"touches\"")), "{refused}");
    let guard = recorded.iter().find(|line| line["purpose"] == "guard").expect("a guard");
    assert_eq!(guard["verdict"], "allow");
    let failed = recorded.iter().find(|line| line["outcome"] == "failed").expect("a resource");
    assert!(failed["error"].as_str().is_some_and(|error| error.contains("needs an approval")), "{failed}");
}

#[test]
fn sensitive_commands_and_secrets_do_not_reach_the_log() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    session.governance().init_audit().expect("a log");
    session.secrets().add(["s3cr3t-of-session".to_owned()]);
    let manifest = manifest_of(
        &scratch,
        "    - exec:\n      - private: {command: 'echo of-the-command', cwd: /, sensitive: true}\n      - 'echo s3cr3t-of-session': {cwd: /}\n",
    );
    let (_, report) = run(&session, &manifest, RunMode::Apply);
    assert_eq!(report.record.code, ExitCode::Success);
    let text = std::fs::read_to_string(log_path(&scratch)).expect("the log");
    assert!(!text.contains("of-the-command") && !text.contains("s3cr3t-of-session"), "{text}");
    let recorded = of_runs(&scratch);
    let ended: Vec<&Value> = recorded.iter().filter(|line| line["type"] == "finished").collect();
    assert_eq!((&ended[0]["stdout"], &ended[1]["stdout"]["bytes"]), (&Value::Null, &11.into()));
}

#[test]
fn seals_are_forwarded_as_the_policy_says() {
    let scratch = Scratch::new();
    let (file, far) = (scratch.at("seals"), scratch.at("far/seals"));
    let forward = format!("audit: {{forward: [{{file: {file}}}, {{file: {far}}}]}}\n");
    let (session, notices) = noticing(governed(&scratch, &forward));
    session.governance().init_audit().expect("a log");
    let (_, report) = run(&session, &work(&scratch), RunMode::Apply);
    assert_eq!(report.record.code, ExitCode::Success);
    let checkpoints = session.governance().read_checkpoints(Some(Path::new(&file))).expect("checkpoints");
    let trust = Trust { first_key: None, checkpoints, ..Trust::default() };
    let verified = session.governance().verify_audit(None, &trust).expect("a log");
    assert!(verified.is_intact() && verified.seals == 2, "{verified:?}");
    assert!(notices.borrow()[0].contains("seal 2 of the audit log could not be forwarded"), "{notices:?}");
    assert_eq!(lines(&scratch).last().expect("lines")["type"], "forward_failed");
}

#[test]
fn runs_side_by_side_share_a_log() {
    let scratch = Scratch::new();
    session(&scratch).governance().init_audit().expect("a log");
    let path = scratch.path().to_owned();
    let threads: Vec<_> = (0..3)
        .map(|number| {
            let path = path.clone();
            std::thread::spawn(move || {
                let session = Session::open(Config {
                    state_directory: Some(path.join(format!("state{number}"))),
                    audit: AuditSource::Directory(path.join("audit")),
                    ..Config::default()
                });
                let manifest = path.join(format!("{number}.yaml"));
                let text = "ccm:\n  resources:\n    - exec: [{'true': {cwd: /}}, {'echo a': {cwd: /}}]\n";
                std::fs::write(&manifest, text).expect("a manifest");
                for _ in 0..4 {
                    let input = read(&session, &manifest);
                    let loaded = session.load(&input).expect("a manifest");
                    let ran = block_on(outcomes(&loaded, RunMode::Apply, RunOptions::default()));
                    assert_eq!(ran.expect("a run").1.record.code, ExitCode::Success);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("a thread");
    }
    let session = session(&scratch);
    let recorded = of_runs(&scratch);
    assert_eq!(recorded.iter().filter(|line| line["type"] == "finished").count(), 24);
    assert!(is_intact(&session));
}

#[test]
fn a_log_that_breaks_in_the_middle_stops_what_comes_behind() {
    for required in [true, false] {
        let scratch = Scratch::new();
        let (session, notices) = noticing(governed(&scratch, if required { REQUIRED } else { "" }));
        session.governance().init_audit().expect("a log");
        let (log, gone) = (scratch.at("audit/audit-000001.jsonl"), scratch.at("gone"));
        let (file, made) = (scratch.at("file"), scratch.at("made"));
        let resources = format!(
            "    - exec: [{{'mv {log} {gone}': {{cwd: /}}}}]\n    - file: [{{{file}: {{content: x}}}}]\n    - exec: [{{'touch {made}': {{cwd: /, onlyif: 'true'}}}}]\n"
        );
        let (outcomes, report) = run(&session, &manifest_of(&scratch, &resources), RunMode::Apply);
        assert_eq!((&outcomes[0], report.record.code), (&Outcome::Changed, ExitCode::Failures));
        assert_eq!(notices.borrow().len(), 1, "one warning is enough: {notices:?}");
        assert_eq!((scratch.has("file"), scratch.has("made")), (!required, !required));
        for outcome in &outcomes[1..] {
            match outcome {
                Outcome::Failed(failure) if required => {
                    let text = failure.one_line();
                    assert!(!failure.changed && text.contains("the policy requires a record"), "{text}");
                    assert!(failure.hints[0].contains("ccm audit verify"), "{failure:?}");
                }
                outcome => assert_eq!((outcome, required), (&Outcome::Changed, false)),
            }
        }
    }
}
