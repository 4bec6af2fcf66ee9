//! Changes of a large log, at random places.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_audit::{AuditEntry, AuditLog, AuditedMachine, PublicKey, Trust, verify};
use ccm_host::state::Directory;
use ccm_testkit::Scratch;

const RUNS: usize = 300;
const FILE: &str = "audit/audit-000001.jsonl";

fn now(run: usize) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + run as u64)
}

struct LargeLog {
    scratch: Scratch,
    whole: Vec<u8>,
    trust: Trust,
}

impl LargeLog {
    fn new() -> Self {
        let scratch = Scratch::in_memory();
        let directory = Directory::open_private(&scratch.path().join("audit")).expect("a directory");
        let machine = AuditedMachine { id: "m".to_owned(), boot: "b".to_owned() };
        let (mut log, first_key): (_, PublicKey) =
            AuditLog::create(directory, machine, now(0)).expect("a log");
        for run in 0..RUNS {
            for line in 0..run % 4 {
                let (run, resource) = (run.to_string(), format!("file#/etc/{line}"));
                let entry = AuditEntry::Resource {
                    run,
                    resource,
                    outcome: "changed".to_owned(),
                    error: None,
                    checks: Vec::new(),
                };
                log.append(entry, now(run_of(&log))).expect("a line");
            }
            let ended = AuditEntry::RunEnded { run: run.to_string(), exit_code: 0, changed: 0, failed: 0 };
            log.append_and_seal(ended, now(run_of(&log))).expect("a seal");
        }
        let trust =
            Trust { first_key: Some(first_key), checkpoints: vec![log.checkpoint()], ..Trust::default() };
        let whole = fs::read(scratch.path().join(FILE)).expect("the log");
        Self { scratch, whole, trust }
    }

    fn is_intact(&self, content: &[u8]) -> bool {
        fs::write(self.scratch.path().join(FILE), content).expect("a file");
        let directory = Directory::open(&self.scratch.path().join("audit")).expect("a directory");
        verify(&directory.expect("a log"), &self.trust).expect("a log").is_intact()
    }
}

fn run_of(log: &AuditLog) -> usize {
    usize::try_from(log.checkpoint().line).unwrap_or_default()
}

/// Numbers that are the same in each run of the test.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap_or_default()
    }
}

#[test]
fn a_large_log_that_was_changed_anywhere_is_noticed() {
    let log = LargeLog::new();
    assert!(log.is_intact(&log.whole));
    let lines: Vec<&[u8]> = log.whole.split_inclusive(|byte| *byte == b'\n').collect();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for round in 0..60 {
        let (first, second) = (numbers.below(lines.len() - 1), numbers.below(lines.len() - 1));
        let mut changed = log.whole.clone();
        let what = match round % 5 {
            0 => {
                let at = numbers.below(changed.len() - 1);
                changed[at] ^= 1 << numbers.below(8);
                format!("byte {at}")
            }
            1 => {
                let mut without = lines.clone();
                without.remove(first);
                changed = without.concat();
                format!("without line {first}")
            }
            2 => {
                let mut exchanged = lines.clone();
                exchanged.swap(first, second);
                if first == second {
                    continue;
                }
                changed = exchanged.concat();
                format!("lines {first} and {second} exchanged")
            }
            3 => {
                let mut inserted = lines.clone();
                inserted.insert(first, lines[second]);
                changed = inserted.concat();
                format!("line {second} again at {first}")
            }
            _ => {
                let length = numbers.below(changed.len());
                changed.truncate(length);
                format!("cut to {length}")
            }
        };
        assert!(!log.is_intact(&changed), "{what}");
    }
}

#[test]
fn a_log_without_its_end_looks_whole_without_an_outside_copy() {
    let log = LargeLog::new();
    let lines: Vec<&[u8]> = log.whole.split_inclusive(|byte| *byte == b'\n').collect();
    let cut = lines[..lines.len() / 2].concat();
    assert!(!log.is_intact(&cut), "the checkpoint shows it");
    fs::remove_file(log.scratch.path().join("audit/key")).expect("a key");
    let directory = Directory::open(&log.scratch.path().join("audit")).expect("a directory");
    let directory = directory.expect("a log");
    let alone = verify(&directory, &Trust { checkpoints: Vec::new(), ..log.trust.clone() });
    assert!(alone.expect("a log").is_intact(), "nothing on the machine can show it");
}
