//! Seals that are handed on.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_audit::{
    AuditLog, AuditRecorder, AuditedMachine, Checkpoint, ForwardDoors, ForwardFailure, SEAL_MESSAGE_ID,
    SealReceiver, Trust, verify,
};
use ccm_host::SystemRunner;
use ccm_host::state::Directory;
use ccm_redaction::Secrets;
use ccm_testkit::Scratch;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn recorder(scratch: &Scratch) -> AuditRecorder {
    let directory = Directory::open_private(&scratch.path().join("audit")).expect("a directory");
    let machine = AuditedMachine { id: "m".to_owned(), boot: "b".to_owned() };
    let (log, _) = AuditLog::create(directory, machine, now()).expect("a log");
    AuditRecorder::new(log, Secrets::new())
}

fn forward(recorder: &mut AuditRecorder, receivers: &[SealReceiver], journal: &Path) -> Vec<ForwardFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let runner = SystemRunner::new().expect("a runner");
    let doors = ForwardDoors { journal, ..ForwardDoors::new(&runner, &runner) };
    runtime.block_on(recorder.forward(receivers, doors, now()))
}

fn checkpoints(text: &str) -> Vec<Checkpoint> {
    Checkpoint::parse_lines(text).expect("checkpoints")
}

#[test]
fn each_receiver_gets_a_line_that_verifies_the_log() {
    let scratch = Scratch::new();
    let mut recorder = recorder(&scratch);
    let socket = scratch.path().join("socket");
    let journal = UnixDatagram::bind(&socket).expect("a socket");
    let (file, by_command) = (scratch.path().join("seals"), scratch.path().join("by-command"));
    let script = format!("cat >> {}", by_command.display());
    let receivers = [
        SealReceiver::Journal,
        SealReceiver::File(file.clone()),
        SealReceiver::Command(vec!["sh".to_owned(), "-c".to_owned(), script]),
    ];
    assert_eq!(forward(&mut recorder, &receivers, &socket), [], "no seal of this process yet");
    let mut sealed = Vec::new();
    for _ in 0..2 {
        sealed.push(recorder.seal(now()).expect("a seal"));
        assert_eq!(forward(&mut recorder, &receivers, &socket), []);
    }
    let lines = fs::read_to_string(&file).expect("a file");
    assert_eq!(checkpoints(&lines), sealed);
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    assert_eq!(checkpoints(&fs::read_to_string(&by_command).expect("a file")), sealed);
    let mut received = vec![0; 4096];
    let length = journal.recv(&mut received).expect("a message");
    let message = String::from_utf8_lossy(&received[..length]).into_owned();
    assert!(message.contains(&format!("MESSAGE_ID={SEAL_MESSAGE_ID}\n")), "{message}");
    let line = message.lines().find_map(|line| line.strip_prefix("MESSAGE=")).expect("a message");
    assert_eq!(checkpoints(line), sealed[..1]);
    let trust = Trust { first_key: None, checkpoints: sealed, ..Trust::default() };
    assert_eq!(verify(recorder.log().directory(), &trust).expect("a log").findings, []);
}

#[test]
fn what_a_receiver_misses_is_recorded_and_handed_on_with_the_next_seal() {
    let scratch = Scratch::new();
    let mut recorder = recorder(&scratch);
    let file = scratch.path().join("far/seals");
    let receivers = [SealReceiver::File(file.clone()), SealReceiver::Command(vec!["false".to_owned()])];
    let mut sealed = Vec::new();
    for number in 2..5 {
        sealed.push(recorder.seal(now()).expect("a seal"));
        let failures = forward(&mut recorder, &receivers, Path::new("/nonexistent"));
        assert_eq!(failures.len(), 2, "{failures:?}");
        assert_eq!((failures[0].seal, failures[1].seal), (2, 2), "seal {number}");
        assert_eq!(failures[1].reason, "exit code 1");
    }
    let log = fs::read_to_string(scratch.path().join("audit/audit-000001.jsonl")).expect("the log");
    assert_eq!(log.matches("\"type\":\"forward_failed\"").count(), 6, "{log}");
    fs::create_dir(scratch.path().join("far")).expect("a directory");
    sealed.push(recorder.seal(now()).expect("a seal"));
    assert_eq!(forward(&mut recorder, &receivers[..1], Path::new("/nonexistent")), []);
    assert_eq!(checkpoints(&fs::read_to_string(&file).expect("a file")), sealed);
}

#[test]
fn a_receiver_that_is_not_safe_is_refused() {
    let scratch = Scratch::new();
    let mut recorder = recorder(&scratch);
    scratch.write("open", "");
    fs::set_permissions(scratch.path().join("open"), fs::Permissions::from_mode(0o666)).expect("a mode");
    std::os::unix::fs::symlink("open", scratch.path().join("link")).expect("a link");
    let receivers = ["open", "link", "audit"].map(|name| SealReceiver::File(scratch.path().join(name)));
    recorder.seal(now()).expect("a seal");
    let failures = forward(&mut recorder, &receivers, Path::new("/nonexistent"));
    assert_eq!(failures.len(), 3, "{failures:?}");
    let missing = [SealReceiver::Command(vec!["no-such-program".to_owned()])];
    let failures = forward(&mut recorder, &missing, Path::new("/nonexistent"));
    assert!(failures[0].reason.contains("not found in PATH"), "{failures:?}");
}
