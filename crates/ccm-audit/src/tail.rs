//! End of a log, read without the rest.

use crate::checkpoint::Checkpoint;
use crate::entry::{AuditEntry, FORMAT};
use crate::error::KeyError;
use crate::key::PublicKey;
use crate::line::{Line, LinePosition, hash};
use crate::seal::{OpenIntent, Seal};

/// End of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    pub machine: String,
    pub position: LinePosition,
    /// Key of the next seal.
    pub key: PublicKey,
    /// Number of seals.
    pub seals: u64,
    /// Intents that have not ended.
    pub open: Vec<OpenIntent>,
    /// Lines that no seal covers yet.
    pub unsealed: u64,
}

/// Bytes behind the last complete line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Torn {
    pub bytes: u64,
    pub sha256: String,
}

/// Reason why nobody can write behind the end of a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TailError {
    /// A line is not one of the log.
    #[error("line {line} is not a line of an audit log")]
    NotALine {
        /// Number of the line in its file, from the first that was read.
        line: u64,
    },
    /// A line does not continue the one before it.
    #[error("line {line} does not continue the line before it")]
    Broken {
        /// Number of the line in the log.
        line: u64,
    },
    /// The log was written by a newer ccm.
    #[error("it was written by a newer ccm (format {found}; this ccm reads format {known})")]
    Newer {
        /// Format of the log.
        found: u32,
        /// Newest format that this ccm reads.
        known: u32,
    },
    /// A key in the log can't be read.
    #[error("the key in line {line} can't be read")]
    Key {
        /// Number of the line.
        line: u64,
        /// Error of the key.
        source: KeyError,
    },
}

impl Tail {
    /// Returns the end of the log, for a copy that lies elsewhere.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            machine: self.machine.clone(),
            seals: self.seals,
            line: self.position.line,
            head: self.position.head.clone(),
            next: self.key.to_string(),
        }
    }

    /// Reads the end of the newest file. `is_whole` says that the bytes begin where the file does; else the first
    /// line may be incomplete. Returns `None` if more of the file has to be read.
    pub(crate) fn read(bytes: &[u8], is_whole: bool) -> Result<Option<(Self, Option<Torn>)>, TailError> {
        let (lines, torn) = split(bytes, is_whole);
        let decoded = lines.iter().map(|bytes| Line::decode(bytes).ok());
        let mut decoded: Vec<Option<Line>> = decoded.collect();
        let mut lines = lines;
        let mut torn_from = torn.map_or(bytes.len(), |torn| bytes.len() - torn.len());
        // After a power cut the last line can have an end and still be incomplete.
        if decoded.len() > 1 && decoded.last().is_some_and(Option::is_none) {
            decoded.pop();
            torn_from -= lines.pop().map_or(0, |line| line.len() + 1);
        }
        let start = decoded.iter().rposition(|line| line.as_ref().is_some_and(|line| anchor(line).is_some()));
        let Some(start) = start else {
            if !is_whole {
                return Ok(None);
            }
            return Err(TailError::NotALine { line: 1 });
        };
        let first = decoded[start].as_ref().and_then(|line| Some((line, anchor(line)?)));
        let Some((first, anchor)) = first else { return Err(TailError::NotALine { line: 1 }) };
        let mut tail = Self::behind(first, anchor, lines[start])?;
        for (index, bytes) in lines.iter().enumerate().skip(start + 1) {
            let Some(line) = &decoded[index] else {
                return Err(TailError::NotALine { line: index as u64 + 1 });
            };
            tail.accept(line, bytes)?;
        }
        let torn = (torn_from < bytes.len())
            .then(|| Torn { bytes: (bytes.len() - torn_from) as u64, sha256: hash(&bytes[torn_from..]) });
        Ok(Some((tail, torn)))
    }

    fn behind(line: &Line, anchor: Anchor, bytes: &[u8]) -> Result<Self, TailError> {
        if let Some(found) = anchor.format.filter(|format| *format > FORMAT) {
            return Err(TailError::Newer { found, known: FORMAT });
        }
        let key = PublicKey::parse(&anchor.key);
        Ok(Self {
            machine: anchor.machine,
            position: LinePosition::after(line.line, bytes),
            key: key.map_err(|source| TailError::Key { line: line.line, source })?,
            seals: anchor.seals,
            open: anchor.open,
            unsealed: u64::from(!anchor.is_seal),
        })
    }

    /// Takes the next line, which is no seal.
    pub(crate) fn accept(&mut self, line: &Line, bytes: &[u8]) -> Result<(), TailError> {
        if line.line != self.position.line + 1 || line.prev != self.position.head {
            return Err(TailError::Broken { line: line.line });
        }
        match &line.entry {
            AuditEntry::Intent { intent, pid, started, .. } => {
                self.open.push(OpenIntent { intent: intent.clone(), pid: *pid, started: *started });
            }
            AuditEntry::Finished { intent, .. } | AuditEntry::Interrupted { intent } => {
                self.open.retain(|open| open.intent != *intent);
            }
            _ => {}
        }
        self.position = LinePosition::after(line.line, bytes);
        self.unsealed += 1;
        Ok(())
    }

    /// Takes a seal.
    pub(crate) fn accept_seal(&mut self, line: &Line, bytes: &[u8], seal: Seal) {
        self.position = LinePosition::after(line.line, bytes);
        self.key = seal.next;
        self.seals = seal.number;
        self.unsealed = 0;
    }
}

/// Line that says all that is needed to go on behind it.
struct Anchor {
    machine: String,
    key: String,
    seals: u64,
    open: Vec<OpenIntent>,
    is_seal: bool,
    format: Option<u32>,
}

fn anchor(line: &Line) -> Option<Anchor> {
    let anchor = |machine: &str, key: &str, seals, open, format| {
        let (machine, key) = (machine.to_owned(), key.to_owned());
        Anchor { machine, key, seals, open, is_seal: false, format }
    };
    match &line.entry {
        AuditEntry::LogBegun { format, machine, key } => {
            Some(anchor(machine, key, 0, Vec::new(), Some(*format)))
        }
        AuditEntry::SegmentBegun { machine, key, seals, open, .. } => {
            let open = open.iter().filter_map(|open| OpenIntent::parse(open)).collect();
            Some(anchor(machine, key, *seals, open, None))
        }
        AuditEntry::Seal { statement, .. } => {
            let seal = Seal::parse(statement)?;
            let next = seal.next.to_string();
            Some(Anchor { is_seal: true, ..anchor(&seal.machine, &next, seal.number, seal.open, None) })
        }
        _ => None,
    }
}

/// Returns the complete lines, without their ends, and what follows the last end.
fn split(bytes: &[u8], is_whole: bool) -> (Vec<&[u8]>, Option<&[u8]>) {
    let mut parts: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let rest = parts.pop().filter(|rest| !rest.is_empty());
    if !is_whole && !parts.is_empty() {
        parts.remove(0);
    }
    (parts, rest)
}
