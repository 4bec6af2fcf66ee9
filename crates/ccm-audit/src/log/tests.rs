#![expect(clippy::disallowed_methods, reason = "tests change the files of the log themselves")]

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use ccm_testkit::usual_or_long;
use tempfile::TempDir;

use super::*;
use crate::entry::{Actor, RecordedVerdict};
use crate::export::export;
use crate::findings::FindingKind;
use crate::reading::seals_from;
use crate::verification::{LogVerification, NextKeyCheck, Trust, verify};

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn directory(&self) -> Directory {
        Directory::open_private(&self.0.path().join("audit")).expect("a directory")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("audit").join(name)
    }

    fn create(&self) -> (AuditLog, PublicKey) {
        AuditLog::create(self.directory(), machine(), at(0)).expect("a log")
    }

    fn open(&self) -> Result<AuditLog, OpenError> {
        AuditLog::open(self.directory(), machine(), at(1000))
    }

    fn verify(&self, trust: &Trust) -> LogVerification {
        verify(&self.directory(), trust).expect("files that can be read")
    }

    fn findings(&self) -> Vec<FindingKind> {
        self.verify(&Trust::default()).findings.into_iter().map(|finding| finding.kind).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path(&segment::name(1))).expect("the first file")
    }

    fn write(&self, bytes: &[u8]) {
        fs::write(self.path(&segment::name(1)), bytes).expect("a file");
    }
}

fn machine() -> AuditedMachine {
    AuditedMachine { id: "m-1".to_owned(), boot: "b-1".to_owned() }
}

fn at(second: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + second)
}

fn begun(run: &str) -> AuditEntry {
    AuditEntry::RunBegun {
        run: run.to_owned(),
        manifest: "/etc/ccm/site.yaml".to_owned(),
        sha256: "0a".repeat(32),
        policy: None,
        source: None,
        noop: false,
        by: Actor { user: "root".to_owned(), uid: 0, sudo_user: None, unit: None },
    }
}

fn ended(run: &str) -> AuditEntry {
    AuditEntry::RunEnded { run: run.to_owned(), exit_code: 0, changed: 1, failed: 0 }
}

fn intent(name: &str, pid: i32, started: u64) -> AuditEntry {
    AuditEntry::Intent {
        intent: name.to_owned(),
        run: "r".to_owned(),
        purpose: "command".to_owned(),
        resource: None,
        by: None,
        argv: vec!["true".to_owned()],
        cwd: "/".to_owned(),
        user: "root".to_owned(),
        image: None,
        verdict: RecordedVerdict::none(),
        pid,
        started,
    }
}

/// Makes a log of three runs, each with a seal.
fn three_runs() -> (Place, AuditLog, PublicKey) {
    let place = Place::new();
    let (mut log, key) = place.create();
    for run in 1..=3 {
        log.append(begun(&run.to_string()), at(run)).expect("a line");
        log.append_and_seal(ended(&run.to_string()), at(run)).expect("a seal");
    }
    (place, log, key)
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

#[test]
fn an_untouched_log_is_intact() {
    let (place, log, key) = three_runs();
    let trust =
        Trust { first_key: Some(key.clone()), checkpoints: vec![log.checkpoint()], ..Trust::default() };
    let result = place.verify(&trust);
    assert_eq!(result.findings, []);
    assert_eq!((result.lines, result.seals, result.sealed, result.files), (11, 4, 11, 1));
    assert_eq!(result.first_key, Some(key));
    drop(log);
    let mut log = place.open().expect("the log goes on");
    log.append(begun("4"), at(2000)).expect("a line");
    let result = place.verify(&trust);
    assert_eq!((result.lines, result.seals, result.sealed), (12, 4, 11));
    assert_eq!(place.findings(), [FindingKind::Unsealed { lines: 1 }]);
}

#[test]
fn every_changed_byte_is_noticed() {
    let (place, _, _) = three_runs();
    let whole = place.bytes();
    for index in (0..whole.len()).step_by(usual_or_long(5, 1)) {
        let mut changed = whole.clone();
        changed[index] ^= 1;
        place.write(&changed);
        let result = place.verify(&Trust::default());
        // The end of the last line is no part of it.
        let is_last = index + 1 == whole.len();
        assert!(!result.is_intact() || is_last && !result.findings.is_empty(), "byte {index}");
    }
}

#[test]
fn a_log_that_was_cut_off_anywhere_is_noticed_or_refused() {
    let (place, log, _) = three_runs();
    let trust = Trust { first_key: None, checkpoints: vec![log.checkpoint()], ..Trust::default() };
    drop(log);
    let whole = place.bytes();
    for length in (0..whole.len()).step_by(usual_or_long(7, 1)) {
        place.write(&whole[..length]);
        let result = place.verify(&trust);
        assert!(!result.is_intact(), "{length} bytes");
        let key = fs::read(place.path(KEY)).expect("a key");
        let opened = place.open();
        assert!(opened.is_err(), "{length} bytes: {opened:?}");
        assert_eq!(fs::read(place.path(KEY)).expect("a key"), key);
        fs::create_dir_all(place.path("")).expect("a directory");
    }
    place.write(&whole);
    place.open().expect("the whole log");
}

#[test]
fn lines_that_were_removed_repeated_or_exchanged_are_noticed() {
    let (place, _, _) = three_runs();
    let whole = place.bytes();
    let lines = lines(&whole);
    for first in 0..lines.len() {
        let mut removed = lines.clone();
        removed.remove(first);
        place.write(&removed.concat());
        assert!(!place.verify(&Trust::default()).is_intact(), "without line {first}");
        let mut repeated = lines.clone();
        repeated.insert(first, lines[first]);
        place.write(&repeated.concat());
        assert!(!place.verify(&Trust::default()).is_intact(), "line {first} twice");
        for second in first + 1..lines.len() {
            let mut exchanged = lines.clone();
            exchanged.swap(first, second);
            place.write(&exchanged.concat());
            assert!(!place.verify(&Trust::default()).is_intact(), "lines {first} and {second} exchanged");
        }
    }
}

#[test]
fn a_log_that_was_written_anew_needs_the_destroyed_keys() {
    let (place, log, key) = three_runs();
    let checkpoint = log.checkpoint();
    drop(log);
    fs::remove_dir_all(place.path("")).expect("the log leaves");
    let (mut forged, _) = place.create();
    for _ in 0..5 {
        forged.append_and_seal(begun("forged"), at(1)).expect("a seal");
    }
    let trust = Trust { first_key: Some(key), checkpoints: vec![checkpoint], ..Trust::default() };
    let kinds: Vec<_> = place.verify(&trust).findings.into_iter().map(|finding| finding.kind).collect();
    assert!(matches!(
        kinds[..],
        [FindingKind::OtherFirstKey { .. }, FindingKind::OtherThanCheckpoint { line: 11 }]
    ));
}

#[test]
fn a_seal_by_another_key_is_named() {
    let (place, mut log, _) = three_runs();
    let old = fs::read(place.path(KEY)).expect("a key");
    log.append_and_seal(begun("4"), at(4)).expect("a seal");
    // Somebody kept the key and cuts the log back to it.
    fs::write(place.path(KEY), &old).expect("a key");
    let sealed = log.write_seal(None, at(5));
    sealed.expect("a seal by an old key");
    assert_eq!(place.findings(), [FindingKind::OldKey { number: 6 }]);
    let stranger = SealKey::from_seed(&[9; 32]).expect("a key").file().expect("its file");
    fs::write(place.path(KEY), stranger.as_ref()).expect("a key");
    log.write_seal(None, at(6)).expect("a seal by a strange key");
    let wrong = FindingKind::WrongSeal { number: 7 };
    assert_eq!(place.findings(), [FindingKind::OldKey { number: 6 }, wrong]);
}

#[test]
fn a_kill_at_any_point_of_a_write_leaves_a_log_that_goes_on() {
    let (place, mut log, _) = three_runs();
    let before = place.bytes();
    let old_key = fs::read(place.path(KEY)).expect("a key");
    log.append_and_seal(begun("4"), at(4)).expect("a seal");
    drop(log);
    let after = place.bytes();
    let new_key = fs::read(place.path(KEY)).expect("a key");
    let goes_on = |what: &str| {
        let mut log = place.open().unwrap_or_else(|error| panic!("{what}: {error:?}"));
        log.append_and_seal(ended("5"), at(2000)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(place.findings(), [], "{what}");
        assert!(!place.path(NEXT_KEY).exists(), "{what}");
    };
    for length in (before.len()..after.len()).step_by(usual_or_long(3, 1)) {
        // The key after the seal is written, the line is not yet.
        place.write(&after[..length]);
        fs::write(place.path(KEY), &old_key).expect("a key");
        fs::write(place.path(NEXT_KEY), &new_key).expect("a key");
        goes_on(&format!("{length} bytes"));
    }
    // The seal is written, the key is not renamed.
    place.write(&after);
    fs::write(place.path(KEY), &old_key).expect("a key");
    fs::write(place.path(NEXT_KEY), &new_key).expect("a key");
    goes_on("with both keys");
    // The new key is incomplete.
    place.write(&before);
    fs::write(place.path(KEY), &old_key).expect("a key");
    fs::write(place.path(NEXT_KEY), &new_key[..20]).expect("a key");
    goes_on("with half a key");
}

#[test]
fn an_incomplete_line_is_cut_off_and_recorded() {
    let (place, log, _) = three_runs();
    drop(log);
    let mut bytes = place.bytes();
    bytes.extend_from_slice(b"{\"line\":12,\"ti");
    place.write(&bytes);
    assert_eq!(place.findings(), [FindingKind::Torn { bytes: 14 }]);
    drop(place.open().expect("a log"));
    assert_eq!(place.findings(), [FindingKind::Unsealed { lines: 1 }]);
    let bytes = place.bytes();
    let last = Line::decode(lines(&bytes).last().expect("lines").trim_ascii_end()).expect("a line");
    assert!(matches!(last.entry, AuditEntry::Repaired { bytes: 14, .. }), "{last:?}");
}

#[test]
fn commands_without_an_end_are_recorded_as_interrupted() {
    let place = Place::new();
    let (mut log, _) = place.create();
    let own = i32::try_from(std::process::id()).expect("a number");
    let started = process_start(own).expect("this process runs");
    log.append(intent("runs", own, started), at(1)).expect("a line");
    log.append(intent("recycled", own, started + 1), at(1)).expect("a line");
    log.append(intent("ended", own, started + 1), at(1)).expect("a line");
    let outcome = "exit code 0".to_owned();
    let finished = AuditEntry::Finished {
        intent: "ended".to_owned(),
        outcome,
        duration_ms: 1,
        stdout: None,
        stderr: None,
    };
    log.append_and_seal(finished, at(2)).expect("a seal");
    drop(log);
    let log = place.open().expect("a log");
    let open: Vec<&str> = log.tail.open.iter().map(|open| &*open.intent).collect();
    assert_eq!(open, ["runs"]);
    let text = String::from_utf8(place.bytes()).expect("text");
    assert!(text.ends_with("\"type\":\"interrupted\",\"intent\":\"recycled\"}\n"), "{text}");
}

#[test]
fn several_programs_write_one_log() {
    let (place, mut first, _) = three_runs();
    let mut second = place.open().expect("a log");
    for run in 0..5 {
        first.append(begun(&format!("a{run}")), at(10 + run)).expect("a line");
        second.append_and_seal(begun(&format!("b{run}")), at(10 + run)).expect("a seal");
        first.append_and_seal(ended(&format!("a{run}")), at(10 + run)).expect("a seal");
    }
    assert_eq!(place.findings(), []);
    assert_eq!(place.verify(&Trust::default()).lines, 11 + 5 * 5);
}

#[test]
fn a_full_file_is_continued_in_a_new_one_and_the_oldest_leaves() {
    let place = Place::new();
    let (mut log, key) = place.create();
    (log.max_segment, log.kept_segments) = (4 << 10, 3);
    let mut checkpoints = Vec::new();
    for run in 0..40 {
        log.append_and_seal(begun(&run.to_string()), at(run)).expect("a seal");
        checkpoints.push(log.checkpoint());
    }
    drop(log);
    let names = place.directory().names().expect("names");
    let segments = segment::numbers(names.iter().map(String::as_str));
    assert!(segments.len() == 3 && segments[0] > 3, "{segments:?}");
    assert_eq!(place.findings(), []);
    let first = FindingKind::FirstKeyRetired;
    let with_key = place.verify(&Trust { first_key: Some(key), checkpoints: Vec::new(), ..Trust::default() });
    assert_eq!(with_key.findings.iter().map(|finding| &finding.kind).collect::<Vec<_>>(), [&first]);
    let checked = |checkpoint: &Checkpoint| {
        let trust = Trust { first_key: None, checkpoints: vec![checkpoint.clone()], ..Trust::default() };
        place.verify(&trust).findings.into_iter().map(|finding| finding.kind).collect::<Vec<_>>()
    };
    assert_eq!(checked(&checkpoints[39]), []);
    let line = checkpoints[0].line;
    assert_eq!(checked(&checkpoints[0]), [FindingKind::CheckpointRetired { line }]);
    // Seals that were missed are found in all files that are kept.
    let newest = checkpoints[39].seals;
    let seals = seals_from(&place.directory(), newest - 8, 100).expect("seals");
    let numbers: Vec<u64> = seals.iter().map(|seal| seal.seals).collect();
    assert_eq!(numbers, (newest - 8..=newest).collect::<Vec<_>>());
    assert!(checkpoints[30..].iter().filter(|known| seals.contains(known)).count() > 2);
    assert_eq!(seals_from(&place.directory(), 1, 3).expect("seals").len(), 3);
    let copy = Directory::open_private(&place.0.path().join("copy")).expect("a directory");
    let exported = export(&place.directory(), &copy, NextKeyCheck::Required).expect("a copy");
    assert_eq!((exported.has_compared_key, exported.findings), (true, vec![]));
    let first_kept = fs::read_to_string(place.0.path().join("copy/first-key.pub")).expect("a key");
    assert!(PublicKey::parse(&first_kept).is_ok_and(|key| Some(&key) != with_key.first_key.as_ref()));
    // A file in the middle leaves without a word.
    fs::remove_file(place.path(&segment::name(segments[1]))).expect("a file");
    let missing = FindingKind::MissingSegments { from: segments[1], to: segments[1] };
    assert!(place.findings().contains(&missing));
    // The oldest one, too.
    fs::remove_file(place.path(&segment::name(segments[0]))).expect("a file");
    assert!(matches!(place.findings()[..], [FindingKind::MissingSegments { .. }, ..]));
}

#[test]
fn a_new_file_without_a_line_is_begun_again() {
    let (place, log, _) = three_runs();
    drop(log);
    fs::write(place.path(&segment::name(2)), "{\"li").expect("a file");
    place.open().expect("a log").append_and_seal(begun("4"), at(2000)).expect("a seal");
    assert_eq!(place.findings(), []);
    assert!(!place.path(&segment::name(2)).exists());
}

#[test]
fn what_can_not_be_continued_is_refused_by_name() {
    let place = Place::new();
    assert!(matches!(place.open(), Err(OpenError::Missing { .. })));
    let (log, _) = place.create();
    drop(log);
    let created = AuditLog::create(place.directory(), machine(), at(0));
    assert!(matches!(created, Err(OpenError::Exists { .. })));
    let other = AuditedMachine { id: "m-2".to_owned(), ..machine() };
    let opened = AuditLog::open(place.directory(), other, at(0));
    assert!(matches!(opened, Err(OpenError::OtherMachine { found, .. }) if found == "m-1"));
    let key = fs::read(place.path(KEY)).expect("a key");
    fs::write(place.path(KEY), "no key").expect("a file");
    assert!(matches!(place.open(), Err(OpenError::Audit(AuditError::Key { .. }))));
    fs::remove_file(place.path(KEY)).expect("a file");
    assert!(matches!(place.open(), Err(OpenError::KeyMissing { .. })));
    fs::write(place.path(KEY), key).expect("a file");
    let newer = String::from_utf8(place.bytes()).expect("text").replace("\"format\":1", "\"format\":2");
    place.write(lines(newer.as_bytes())[0]);
    let opened = place.open();
    assert!(
        matches!(opened, Err(OpenError::Tail { source: TailError::Newer { found: 2, known: 1 }, .. })),
        "{opened:?}"
    );
}

#[test]
fn a_log_whose_key_is_missing_or_unusable_is_no_verified_log() {
    let (place, log, _) = three_runs();
    drop(log);
    let found = |next_key| {
        let result = place.verify(&Trust { next_key, ..Trust::default() });
        let kinds: Vec<_> = result.findings.iter().map(|finding| finding.kind.clone()).collect();
        (result.is_intact(), result.has_compared_key, kinds)
    };
    let (required, if_present, chain) =
        (NextKeyCheck::Required, NextKeyCheck::IfPresent, NextKeyCheck::Skipped);
    assert_eq!(found(required), (true, true, vec![]));
    assert_eq!(found(chain), (true, false, vec![]));
    // Cut back to the seal before: the key shows it, and without the key nothing does.
    let whole = place.bytes();
    place.write(&lines(&whole)[..8].concat());
    assert_eq!(found(required), (false, true, vec![FindingKind::CutBack]));
    // The copy has no key, so an export says it of the log.
    let copy = Directory::open_private(&place.0.path().join("copy")).expect("a directory");
    let exported = export(&place.directory(), &copy, required).expect("a copy");
    assert!(!exported.is_intact() && exported.findings[0].kind == FindingKind::CutBack);
    let copy = place.0.path().join("copy");
    assert!(copy.join("checkpoint.json").exists() && !copy.join(KEY).exists());
    fs::remove_file(place.path(KEY)).expect("a file");
    assert_eq!(found(required), (false, false, vec![FindingKind::KeyMissing]));
    assert_eq!(found(if_present), (true, false, vec![]));
    assert_eq!(found(chain), (true, false, vec![]));
    for rubbish in [&b"no key"[..], b"", b"\xff"] {
        fs::write(place.path(KEY), rubbish).expect("a file");
        for next_key in [required, if_present] {
            let (is_intact, has_compared_key, kinds) = found(next_key);
            assert!(!is_intact && !has_compared_key);
            assert!(matches!(&kinds[..], [FindingKind::KeyUnusable { .. }]), "{kinds:?}");
        }
        assert_eq!(found(chain), (true, false, vec![]));
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_before_it_is_written() {
    let (place, mut log, _) = three_runs();
    let before = place.bytes();
    let refused = log.append(begun(&"x".repeat(MAX_LINE)), at(5));
    assert!(matches!(refused, Err(OpenError::Audit(AuditError::TooLong { .. }))));
    assert_eq!(place.bytes(), before);
}

#[test]
fn a_file_that_is_wrong_everywhere_is_verified_in_bounded_memory() {
    let (place, log, _) = three_runs();
    drop(log);
    let mut bytes = place.bytes();
    bytes.extend_from_slice("nothing\n".repeat(5000).as_bytes());
    place.write(&bytes);
    let found = place.verify(&Trust::default());
    assert_eq!((found.findings.len(), found.omitted), (1000, 4000));
    assert!(!found.is_intact());
}
