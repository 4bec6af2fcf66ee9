//! Verification of a whole log.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use ccm_host::state::Directory;
use ccm_model::{error_layers, parse_timestamp};

use crate::checkpoint::Checkpoint;
use crate::entry::{AuditEntry, FORMAT};
use crate::error::AuditError;
use crate::findings::{AuditFinding, FindingKind};
use crate::key::PublicKey;
use crate::line::{Line, LinePosition, hash};
use crate::log::{KEY, NEXT_KEY, read_key};
use crate::reading::{RawLine, for_each_line, segment_numbers};
use crate::seal::Seal;
use crate::segment;

/// Maximum number of findings that are kept.
const MAX_FINDINGS: usize = 1000;
/// Number of findings up to which a wrong seal is compared with all older keys.
const MAX_SEARCHES: usize = 20;

/// Copies that were kept outside, to compare the log with.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// Key of the first seal.
    pub first_key: Option<PublicKey>,
    /// Ends of the log at earlier moments.
    pub checkpoints: Vec<Checkpoint>,
    /// Part of the key of the next seal in the verification.
    pub next_key: NextKeyCheck,
}

/// Part of the key of the next seal in a verification. The key shows that the log was not cut back to an older seal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextKeyCheck {
    /// The key has to be there, as in the log of a machine.
    Required,
    /// The key is compared if it is there. A copy need not have it.
    #[default]
    IfPresent,
    /// Only the chain of lines and seals is verified.
    Skipped,
}

/// Result of a verification.
#[derive(Clone, Debug, Default)]
pub struct LogVerification {
    /// Number of lines that were read.
    pub lines: u64,
    /// Number of seals that were verified.
    pub seals: u64,
    /// Number of files.
    pub files: u64,
    /// Number of the last line that a valid seal covers.
    pub sealed: u64,
    /// Key that the log says its first seal has.
    pub first_key: Option<PublicKey>,
    /// Time of the last line.
    pub last_time: Option<String>,
    /// End of the log.
    pub end: Option<Checkpoint>,
    /// The key of the next seal was compared with the end of the log.
    pub has_compared_key: bool,
    /// Errors and notes in the order of the log: the first thousand.
    pub findings: Vec<AuditFinding>,
    /// Number of further things that are wrong.
    pub omitted: u64,
}

impl LogVerification {
    /// Returns `true` if nobody has changed the log, as far as the log itself and what was kept outside can tell.
    pub fn is_intact(&self) -> bool {
        self.omitted == 0 && self.findings.iter().all(|finding| finding.kind.is_note())
    }
}

/// Verifies a log from its first to its last line, in constant memory. The key of the next seal has to fit the end of the
/// log, unless it may be missing.
pub fn verify(directory: &Directory, trust: &Trust) -> Result<LogVerification, AuditError> {
    /// A run may seal the log between the reading of its end and that of the key.
    const ATTEMPTS: usize = 3;
    let mut verification = verify_lines(directory, trust)?;
    if trust.next_key == NextKeyCheck::Skipped {
        return Ok(verification);
    }
    let mut found = compare_key(directory, verification.end.as_ref());
    for _ in 1..ATTEMPTS {
        if matches!(found, Ok(()) | Err(KeyMismatch::Missing)) {
            break;
        }
        verification = verify_lines(directory, trust)?;
        found = compare_key(directory, verification.end.as_ref());
    }
    verification.has_compared_key = matches!(found, Ok(()) | Err(KeyMismatch::CutBack));
    let kind = match found {
        Err(KeyMismatch::CutBack) => FindingKind::CutBack,
        Err(KeyMismatch::Missing) if trust.next_key == NextKeyCheck::Required => FindingKind::KeyMissing,
        Err(KeyMismatch::Unusable(reason)) => FindingKind::KeyUnusable { reason },
        Ok(()) | Err(KeyMismatch::Missing) => return Ok(verification),
    };
    verification.findings.push(AuditFinding { file: KEY.to_owned(), row: 1, kind });
    Ok(verification)
}

/// Difference between the key of the next seal and the end of a log.
enum KeyMismatch {
    Missing,
    Unusable(String),
    CutBack,
}

/// Compares the key of the next seal with that which the log ends with.
fn compare_key(directory: &Directory, end: Option<&Checkpoint>) -> Result<(), KeyMismatch> {
    let read = |name| match directory.size(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => read_key(directory, name).map(|key| Some(key.public().to_string())),
    };
    let key = read(KEY).map_err(|error| KeyMismatch::Unusable(error_layers(&error).join(": ")))?;
    let key = key.ok_or(KeyMismatch::Missing)?;
    // A log without an end has errors of its own.
    let Some(end) = end else { return Ok(()) };
    let is_next = |key: &String| *key == end.next;
    if is_next(&key) || read(NEXT_KEY).ok().flatten().is_some_and(|next| is_next(&next)) {
        return Ok(());
    }
    Err(KeyMismatch::CutBack)
}

fn verify_lines(directory: &Directory, trust: &Trust) -> Result<LogVerification, AuditError> {
    let failed =
        |name: &str, source| AuditError::File { path: directory.path().join(name), verb: "read", source };
    let segments = segment_numbers(directory)?;
    let mut chain = LogChain::new(trust);
    for (index, number) in segments.iter().enumerate() {
        let name = segment::name(*number);
        let file = directory.read(&name).map_err(|error| failed(&name, error))?;
        let before = if index == 0 { 0 } else { segments[index - 1] };
        chain.begin_file(name.clone(), *number, before);
        let is_last = index + 1 == segments.len();
        for_each_line(file, |line| chain.accept(line, is_last)).map_err(|error| failed(&name, error))?;
    }
    Ok(chain.end(segments.len() as u64))
}

/// Verification on its way through a log.
struct LogChain<'t> {
    trust: &'t Trust,
    result: LogVerification,
    file: String,
    segment: u32,
    /// Row in the file.
    row: u64,
    position: Option<LinePosition>,
    machine: Option<String>,
    /// Key of the next seal; `None` if the seal before it could not be read.
    key: Option<PublicKey>,
    /// Keys that were destroyed.
    old_keys: Vec<PublicKey>,
    seals: u64,
    unsealed: u64,
    time: String,
    boot: String,
    /// First line of the first file, if that is not the first of the log.
    first_kept: Option<FirstKept>,
    /// Retired files and their last hashes.
    retired: BTreeMap<u32, String>,
    /// Checkpoints whose lines were not reached yet, by line.
    checkpoints: BTreeMap<u64, Vec<&'t Checkpoint>>,
}

/// Returns `true` if the clock was set back. Programs that write side by side look at it before they have their turn.
fn is_set_back(before: &str, now: &str) -> bool {
    const TURN: Duration = Duration::from_secs(5);
    match (parse_timestamp(before), parse_timestamp(now)) {
        (Some(before), Some(now)) => before.duration_since(now).is_ok_and(|back| back > TURN),
        _ => true,
    }
}

/// First line of a log whose first files were retired.
struct FirstKept {
    segment: u32,
    line: u64,
    prev: String,
    file: String,
}

impl<'t> LogChain<'t> {
    fn new(trust: &'t Trust) -> Self {
        let mut checkpoints: BTreeMap<u64, Vec<&Checkpoint>> = BTreeMap::new();
        for checkpoint in &trust.checkpoints {
            checkpoints.entry(checkpoint.line).or_default().push(checkpoint);
        }
        Self {
            trust,
            result: LogVerification::default(),
            file: String::new(),
            segment: 0,
            row: 0,
            position: None,
            machine: None,
            key: None,
            old_keys: Vec::new(),
            seals: 0,
            unsealed: 0,
            time: String::new(),
            boot: String::new(),
            first_kept: None,
            retired: BTreeMap::new(),
            checkpoints,
        }
    }

    fn find(&mut self, kind: FindingKind) {
        if self.result.findings.len() >= MAX_FINDINGS {
            self.result.omitted += u64::from(!kind.is_note());
            return;
        }
        self.result.findings.push(AuditFinding { file: self.file.clone(), row: self.row, kind });
    }

    fn begin_file(&mut self, name: String, segment: u32, before: u32) {
        (self.file, self.segment, self.row) = (name, segment, 0);
        if before > 0 && segment > before + 1 {
            self.find(FindingKind::MissingSegments { from: before + 1, to: segment - 1 });
        }
    }

    fn accept(&mut self, raw: RawLine<'_>, is_last_file: bool) {
        self.row += 1;
        let bytes = match raw {
            RawLine::Whole(bytes) => bytes,
            RawLine::Rest(bytes) if is_last_file => return self.find(FindingKind::Torn { bytes }),
            RawLine::Rest(_) | RawLine::TooLong => return self.find(FindingKind::NotALine),
        };
        let Ok(line) = Line::decode(bytes) else { return self.find(FindingKind::NotALine) };
        self.result.lines += 1;
        let before = self.check_place(&line);
        if line.boot == self.boot && line.time < self.time && is_set_back(&self.time, &line.time) {
            self.find(FindingKind::ClockBack { from: self.time.clone(), to: line.time.clone() });
        }
        self.unsealed += 1;
        self.check_entry(&line, bytes, &before);
        let digest = hash(bytes);
        if let Some(known) = self.checkpoints.remove(&line.line)
            && known.iter().any(|checkpoint| checkpoint.head != digest)
        {
            self.find(FindingKind::OtherThanCheckpoint { line: line.line });
        }
        self.position = Some(LinePosition { line: line.line, head: digest });
        (self.time, self.boot) = (line.time, line.boot);
    }

    /// Compares a line with the end of the one before it. Returns the position that the line continues.
    fn check_place(&mut self, line: &Line) -> LinePosition {
        let Some(before) = self.position.take() else {
            let before = LinePosition { line: line.line.saturating_sub(1), head: line.prev.clone() };
            if self.segment == 1 && (before != LinePosition::start()) {
                self.find(FindingKind::NoBeginning);
            } else if self.segment > 1 {
                self.first_kept = Some(FirstKept {
                    segment: self.segment,
                    line: line.line,
                    prev: line.prev.clone(),
                    file: self.file.clone(),
                });
            }
            return before;
        };
        let expected = before.line + 1;
        if line.line > expected {
            self.find(FindingKind::Missing { from: expected, to: line.line - 1 });
        } else if line.line < expected {
            self.find(FindingKind::Reordered { expected, found: line.line });
        } else if line.prev != before.head {
            self.find(FindingKind::Changed { line: line.line });
        }
        before
    }

    fn check_entry(&mut self, line: &Line, bytes: &[u8], before: &LinePosition) {
        let begins = self.row == 1;
        match &line.entry {
            AuditEntry::LogBegun { format, machine, key } => {
                if !begins || self.segment != 1 {
                    self.find(FindingKind::NoSegment { segment: self.segment });
                    return;
                }
                if *format > FORMAT {
                    self.find(FindingKind::Newer { found: *format });
                }
                self.machine = Some(machine.clone());
                self.key = self.parsed(key);
                self.result.first_key.clone_from(&self.key);
                self.check_first_key();
            }
            AuditEntry::SegmentBegun { segment, machine, key, seals, .. } => {
                if !begins || *segment != self.segment {
                    self.find(FindingKind::NoSegment { segment: self.segment });
                    return;
                }
                self.check_machine(machine);
                // Only the first of the files that are kept says anything new.
                if self.machine.is_none() {
                    self.machine = Some(machine.clone());
                    self.key = self.parsed(key);
                    self.seals = *seals;
                    if self.trust.first_key.is_some() {
                        self.find(FindingKind::FirstKeyRetired);
                    }
                }
            }
            AuditEntry::Retired { segment, last, .. } => {
                self.retired.insert(*segment, last.clone());
            }
            AuditEntry::Seal { statement, signature } => {
                // No later line has the hash of the last seal, so that its spelling has to be the one that ccm writes.
                let is_as_written = line.encode().is_ok_and(|encoded| encoded == bytes);
                self.check_seal(line, before, statement, signature, is_as_written);
            }
            _ => {}
        }
        if begins && !matches!(line.entry, AuditEntry::LogBegun { .. } | AuditEntry::SegmentBegun { .. }) {
            self.find(FindingKind::NoSegment { segment: self.segment });
        }
    }

    fn parsed(&mut self, key: &str) -> Option<PublicKey> {
        let key = PublicKey::parse(key).ok();
        if key.is_none() {
            self.find(FindingKind::NotALine);
        }
        key
    }

    fn check_first_key(&mut self) {
        let (Some(found), Some(given)) = (&self.key, &self.trust.first_key) else { return };
        if found != given {
            let found = found.fingerprint();
            self.find(FindingKind::OtherFirstKey { found });
        }
    }

    fn check_machine(&mut self, machine: &str) {
        if self.machine.as_deref().is_some_and(|known| known != machine) {
            self.find(FindingKind::OtherMachine { machine: machine.to_owned() });
        }
    }

    fn check_seal(
        &mut self,
        line: &Line,
        before: &LinePosition,
        statement: &str,
        signature: &str,
        is_as_written: bool,
    ) {
        let number = self.seals + 1;
        let Some(seal) = Seal::parse(statement) else { return self.find(FindingKind::NotALine) };
        self.check_machine(&seal.machine);
        let key = self.key.take();
        // Without the key of the seal before, which is reported there, nothing is known of this one.
        let is_signed = key.as_ref().is_some_and(|key| key.has_signed(statement, signature));
        if key.is_some() && !is_signed {
            // In a log that is wrong everywhere, this would take the square of its length.
            let is_searched = self.result.findings.len() < MAX_SEARCHES;
            let is_old =
                is_searched && self.old_keys.iter().rev().any(|key| key.has_signed(statement, signature));
            let kind =
                if is_old { FindingKind::OldKey { number } } else { FindingKind::WrongSeal { number } };
            self.find(kind);
        }
        let machine = self.machine.as_deref().unwrap_or_default();
        let fits = is_as_written && seal.is_in(line, before, machine, number);
        if is_signed && !fits {
            self.find(FindingKind::MisplacedSeal { number });
        }
        if is_signed && fits {
            self.result.seals += 1;
            if self.result.is_intact() {
                self.result.sealed = line.line;
            }
        }
        self.old_keys.extend(key);
        self.seals = seal.number;
        self.key = Some(seal.next);
        self.unsealed = 0;
    }

    fn end(mut self, files: u64) -> LogVerification {
        self.result.files = files;
        if let Some(first) = self.first_kept.take() {
            self.check_retired(&first);
        }
        let last = self.position.as_ref().map_or(0, |position| position.line);
        if self.unsealed > 0 {
            self.find(FindingKind::Unsealed { lines: self.unsealed });
        }
        for line in std::mem::take(&mut self.checkpoints).into_keys() {
            self.find(if line > last {
                FindingKind::CutOff { found: last, line }
            } else {
                FindingKind::CheckpointRetired { line }
            });
        }
        let machine = self.machine.clone().unwrap_or_default();
        if !machine.is_empty() && self.trust.checkpoints.iter().any(|known| known.machine != machine) {
            self.find(FindingKind::OtherMachine { machine: machine.clone() });
        }
        self.result.end = self.position.take().zip(self.key.take()).map(|(position, key)| Checkpoint {
            machine,
            seals: self.seals,
            line: position.line,
            head: position.head,
            next: key.to_string(),
        });
        self.result.last_time = Some(self.time).filter(|time| !time.is_empty());
        self.result
    }

    fn check_retired(&mut self, first: &FirstKept) {
        let missing = (1..first.segment).find(|segment| !self.retired.contains_key(segment));
        let place = |kind| AuditFinding { file: first.file.clone(), row: 1, kind };
        // The lines about the oldest of them may have left with the files that held them.
        let last = self.retired.get(&(first.segment - 1));
        let finding = match (missing, last) {
            (_, None) => FindingKind::MissingSegments { from: missing.unwrap_or(1), to: first.segment - 1 },
            (_, Some(last)) if *last != first.prev => {
                FindingKind::OtherRetired { line: first.line, segment: first.segment - 1 }
            }
            _ => return,
        };
        self.result.findings.insert(0, place(finding));
    }
}
