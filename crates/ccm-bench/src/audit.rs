//! The audit log: verification of a large one, and the cost of recording a command.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_audit::{
    AuditEntry, AuditLog, AuditRecorder, AuditedCommand, AuditedMachine, RecordedVerdict, Trust, verify,
};
use ccm_host::state::Directory;
use ccm_host::{CapturedOutput, Command, Exit, Finished};
use ccm_redaction::Secrets;
use ccm_testkit::Scratch;

use crate::measure::{number_within, time};

const SEALS: usize = 1_000;
const LINES: usize = 100_000;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// Makes a log in memory, so that no disk is measured.
fn log(scratch: &Scratch) -> AuditLog {
    let directory = Directory::open_private(&scratch.path().join("audit")).expect("a directory");
    let machine = AuditedMachine { id: "m".to_owned(), boot: "b".to_owned() };
    AuditLog::create(directory, machine, now()).expect("a log").0
}

/// Measures the verification, and a command from its intent to a seal.
pub(crate) fn measure() {
    let scratch = Scratch::in_memory();
    let mut large = log(&scratch);
    let changed = |number: usize| AuditEntry::Resource {
        run: "01981e6c-9a5d-7c31-8a52-0d2f6f1f7a10".to_owned(),
        resource: format!("file#/etc/service/{number}.conf"),
        outcome: "changed".to_owned(),
        error: None,
        checks: Vec::new(),
    };
    for number in 0..SEALS - 1 {
        for line in 0..LINES / SEALS - 2 {
            large.append(changed(line), now()).expect("a line");
        }
        large.append_and_seal(changed(number), now()).expect("a seal");
    }
    let seconds = time(5, || {
        let found = verify(large.directory(), &Trust::default()).expect("a log");
        assert!(found.is_intact() && found.seals == SEALS as u64, "{found:?}");
        found.lines
    });
    number_within("audit: verify 100,000 lines, 1000 seals", seconds.as_secs_f64() * 1e3, "ms", 1_000.0);

    let scratch = Scratch::in_memory();
    let mut rounds = AuditedRounds::new(&scratch);
    let unsealed = time(201, || rounds.record());
    number_within("audit: record a command", unsealed.as_secs_f64() * 1e6, "µs", 1_000.0);
    let sealed = time(201, || rounds.record_and_seal());
    number_within("audit: record a command with a seal", sealed.as_secs_f64() * 1e6, "µs", 1_000.0);
}

/// Log that the same command is recorded in again and again.
pub(crate) struct AuditedRounds {
    recorder: AuditRecorder,
    command: Command,
    finished: Finished,
}

impl AuditedRounds {
    pub(crate) fn new(scratch: &Scratch) -> Self {
        Self {
            recorder: AuditRecorder::new(log(scratch), Secrets::new()),
            command: Command {
                args: vec!["restart".into(), "nginx".into()],
                ..Command::new("/usr/bin/systemctl")
            },
            finished: Finished {
                exit: Exit::Code(0),
                stdout: CapturedOutput { head: vec![b'x'; 4096], ..CapturedOutput::default() },
                stderr: CapturedOutput::default(),
                unredacted: None,
                duration: Duration::ZERO,
                left_running: Vec::new(),
                unkillable: Vec::new(),
                enforced: None,
                reached: Vec::new(),
                container: None,
            },
        }
    }

    fn start(&mut self) -> String {
        let verdict = RecordedVerdict::none();
        let audited = AuditedCommand {
            intent: None,
            run: "call",
            purpose: "exec",
            resource: None,
            by: None,
            user: Some("root"),
            command: &self.command,
            verdict: &verdict,
        };
        self.recorder.start(&audited, now()).expect("a line")
    }

    /// Records the start and the end of the command.
    pub(crate) fn record(&mut self) {
        let intent = self.start();
        self.recorder.finish(&intent, Ok(&self.finished), false, now()).expect("a line");
    }

    fn record_and_seal(&mut self) {
        let intent = self.start();
        self.recorder.finish_and_seal(&intent, Ok(&self.finished), false, now()).expect("a seal");
    }
}
