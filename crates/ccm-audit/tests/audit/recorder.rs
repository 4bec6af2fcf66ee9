//! What a recorder writes, and what it leaves out.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_audit::{
    Actor, AuditLog, AuditRecorder, AuditedCommand, AuditedMachine, AuditedOutcome, RecordedVerdict,
    RunStart, Trust, verify,
};
use ccm_host::state::Directory;
use ccm_host::{CapturedOutput, Command, Exit, Finished, StartError};
use ccm_model::{CheckStatus, sha256};
use ccm_redaction::Secrets;
use ccm_testkit::Scratch;
use serde_json::Value;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn recorder(scratch: &Scratch) -> AuditRecorder {
    let directory = Directory::open_private(&scratch.path().join("audit")).expect("a directory");
    let machine = AuditedMachine { id: "m".to_owned(), boot: "b".to_owned() };
    let (log, _) = AuditLog::create(directory, machine, now()).expect("a log");
    let secrets = Secrets::new();
    secrets.add(["s3cr3t-value".to_owned()]);
    AuditRecorder::new(log, secrets)
}

fn lines(scratch: &Scratch) -> Vec<Value> {
    let text = fs::read_to_string(scratch.path().join("audit/audit-000001.jsonl")).expect("the log");
    text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect()
}

fn finished(stdout: &[u8], dropped: u64) -> Finished {
    Finished {
        exit: Exit::Code(3),
        stdout: CapturedOutput { head: stdout.to_vec(), tail: Vec::new(), dropped },
        stderr: CapturedOutput::default(),
        unredacted: None,
        duration: Duration::from_millis(7),
        left_running: Vec::new(),
        unkillable: Vec::new(),
        enforced: None,
        reached: Vec::new(),
        container: None,
    }
}

fn audited<'a>(command: &'a Command, verdict: &'a RecordedVerdict) -> AuditedCommand<'a> {
    AuditedCommand {
        intent: None,
        run: "r1",
        purpose: "command",
        resource: Some("exec#a"),
        by: None,
        user: None,
        command,
        verdict,
    }
}

#[test]
fn a_run_is_recorded_without_output_environment_input_or_secrets() {
    let scratch = Scratch::new();
    let mut recorder = recorder(&scratch);
    let command = Command {
        args: vec!["-p".into(), "s3cr3t-value".into()],
        environment: vec![("TOKEN".to_owned(), "of-the-environment".to_owned())],
        stdin: Some("of-standard-input".into()),
        ..Command::new("/bin/login")
    };
    let verdict = RecordedVerdict {
        verdict: "allow".to_owned(),
        rule: Some("s3cr3t-value".to_owned()),
        approval: None,
    };
    let by = Actor { user: "ada".to_owned(), uid: 7, sudo_user: None, unit: None };
    let start = RunStart {
        run: "r1",
        manifest: "/site-s3cr3t-value.yaml",
        sha256: sha256(b"x"),
        policy: None,
        source: None,
        noop: false,
        by,
    };
    recorder.begin_run(&start, now()).expect("a line");
    let intent = recorder.start(&audited(&command, &verdict), now()).expect("a line");
    recorder.finish(&intent, Ok(&finished(b"of-the-output", 0)), false, now()).expect("a line");
    recorder.change("r1", "file#/s3cr3t-value", &verdict, now()).expect("a line");
    let outcome = AuditedOutcome {
        resource: "file#/x",
        outcome: "failed",
        error: Some("s3cr3t-value is bad"),
        checks: vec![("web of s3cr3t-value", CheckStatus::Critical)],
    };
    recorder.resource("r1", &outcome, now()).expect("a line");
    recorder.refuse(&audited(&command, &verdict), "no s3cr3t-value", now()).expect("a line");
    recorder.approval(&intent, "used", Some("bob"), None, now()).expect("a line");
    let sealed = recorder.end_run("r1", 4, (1, 1), now()).expect("a seal");
    let lines = lines(&scratch);
    let text = format!("{lines:?}");
    for hidden in ["s3cr3t-value", "of-the-environment", "of-standard-input", "of-the-output", "TOKEN"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    let types: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).skip(2).collect();
    let expected =
        ["run_begun", "intent", "finished", "change", "resource", "refused", "approval", "run_ended", "seal"];
    assert_eq!(types, expected);
    assert_eq!(lines[3]["argv"], serde_json::json!(["/bin/login", "-p", "[redacted]"]));
    assert_eq!((&lines[3]["verdict"], &lines[3]["rule"]), (&"allow".into(), &"[redacted]".into()));
    assert_eq!(lines[4]["outcome"], "exit code 3");
    let checks = serde_json::json!([{"name": "web of [redacted]", "status": "critical"}]);
    assert_eq!(lines[6]["checks"], checks);
    assert_eq!(lines[4]["stdout"]["sha256"], *sha256(b"of-the-output"));
    assert_eq!(recorder.log().sealed(), Some(&sealed));
    let trust = Trust { first_key: None, checkpoints: vec![sealed], ..Trust::default() };
    assert_eq!(verify(recorder.log().directory(), &trust).expect("a log").findings, []);
}

#[test]
fn a_sensitive_command_leaves_its_program_and_its_exit() {
    let scratch = Scratch::new();
    let mut recorder = recorder(&scratch);
    let command = Command { args: vec!["private".into()], sensitive: true, ..Command::new("/bin/x") };
    let verdict = RecordedVerdict::none();
    let intent = recorder.start(&audited(&command, &verdict), now()).expect("a line");
    recorder.finish_and_seal(&intent, Ok(&finished(b"private", 0)), true, now()).expect("a seal");
    let error = StartError::NotFound { name: "private".to_owned(), path: "/bin".to_owned() };
    let intent = recorder.start(&audited(&command, &verdict), now()).expect("a line");
    recorder.finish(&intent, Err(&error), true, now()).expect("a line");
    let lines = lines(&scratch);
    assert!(!format!("{lines:?}").contains("private"), "{lines:?}");
    assert_eq!(lines[2]["argv"], serde_json::json!(["/bin/x", "[redacted]"]));
    assert_eq!((&lines[3]["outcome"], &lines[3]["stdout"]), (&"exit code 3".into(), &Value::Null));
    assert_eq!(lines[6]["outcome"], "not started");
}

#[test]
fn huge_commands_and_outputs_leave_short_lines() {
    let scratch = Scratch::new();
    let mut recorder = recorder(&scratch);
    let args = vec!["x".repeat(100 << 10).into(), "y".repeat(100 << 10).into(), "z".repeat(1 << 20).into()];
    let command = Command { args, ..Command::new("/bin/x") };
    let verdict = RecordedVerdict::none();
    let intent = recorder.start(&audited(&command, &verdict), now()).expect("a line");
    recorder.finish(&intent, Ok(&finished(b"x", 9)), false, now()).expect("a line");
    let lines = lines(&scratch);
    let of_y = format!("[102400 bytes, sha256:{}]", sha256("y".repeat(100 << 10).as_bytes()));
    assert_eq!((&lines[2]["argv"][2], &lines[2]["argv"][3]), (&of_y.into(), &"[1 more arguments]".into()));
    assert_eq!(lines[3]["stdout"], serde_json::json!({"bytes": 10}));
}

#[test]
fn an_id_that_a_seal_could_not_hold_is_replaced() {
    let scratch = Scratch::new();
    let mut recorder = recorder(&scratch);
    let (command, verdict) = (Command::new("/bin/x"), RecordedVerdict::none());
    for id in ["", "a b", "a@1.2", "a\nb", &"x".repeat(65)] {
        let audited = AuditedCommand { intent: Some(id), ..audited(&command, &verdict) };
        assert_ne!(recorder.start(&audited, now()).expect("a line"), id);
    }
    let audited = AuditedCommand { intent: Some("01JD-7.x_Y"), ..audited(&command, &verdict) };
    assert_eq!(recorder.start(&audited, now()).expect("a line"), "01JD-7.x_Y");
    let sealed = recorder.seal(now()).expect("a seal");
    let trust = Trust { first_key: None, checkpoints: vec![sealed], ..Trust::default() };
    assert_eq!(verify(recorder.log().directory(), &trust).expect("a log").findings, []);
}
