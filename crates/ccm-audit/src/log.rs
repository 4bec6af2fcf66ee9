//! Writing the log.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::SystemTime;

use ccm_host::state::{Directory, WriteLock};
use ccm_host::{process_start, random_secret};
use ccm_model::display_timestamp;

use crate::checkpoint::Checkpoint;
use crate::entry::{AuditEntry, FORMAT};
use crate::error::{AuditError, KeyError};
use crate::key::{PublicKey, SealKey};
use crate::line::{Line, LinePosition, MAX_LINE};
use crate::seal::{OpenIntent, Seal};
use crate::segment;
use crate::tail::{Tail, TailError, Torn};

/// File with the key of the next seal.
pub(crate) const KEY: &str = "key";
/// File with the key that takes its place after the seal.
pub(crate) const NEXT_KEY: &str = "key.next";
/// File whose lock writers take.
const LOCK: &str = "lock";
/// Size at which the log goes on in a new file.
const MAX_SEGMENT: u64 = 16 << 20;
/// Number of files that are kept.
const KEPT_SEGMENTS: usize = 64;
/// Size of the end of a file that is read first.
const USUAL_TAIL: u64 = 64 << 10;

/// Machine that writes a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedMachine {
    /// Id of the machine.
    pub id: String,
    /// Id of the boot.
    pub boot: String,
}

/// Error of opening a log. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no log.
    #[error("there is no audit log in {path:?}")]
    Missing {
        /// Path of the directory.
        path: PathBuf,
    },
    /// There is a log already.
    #[error("there is an audit log in {path:?} already")]
    Exists {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The end of the log can't be continued.
    #[error("audit log {path:?} can't be continued")]
    Tail {
        /// Path of the file.
        path: PathBuf,
        /// Error at the end.
        source: TailError,
    },
    /// The log is that of another machine.
    #[error("audit log {path:?} is that of another machine ({found})")]
    OtherMachine {
        /// Path of the directory.
        path: PathBuf,
        /// Id of the other machine.
        found: String,
    },
    /// The key does not belong to the end of the log: the log was cut back, or put back from a copy.
    #[error("audit log {path:?} ends before its key: it was cut back, or put back from a copy")]
    CutBack {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The key of the next seal is missing.
    #[error("the key {path:?} of the audit log is missing")]
    KeyMissing {
        /// Path of the key.
        path: PathBuf,
    },
    /// The log can't be read or written.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

/// Log that is open to write. Several programs may have it open: each line is written under a lock.
#[derive(Debug)]
pub struct AuditLog {
    directory: Directory,
    machine: AuditedMachine,
    segment: u32,
    size: u64,
    tail: Tail,
    /// End of the log at the last seal of this program.
    sealed: Option<Checkpoint>,
    max_segment: u64,
    kept_segments: usize,
}

impl AuditLog {
    /// Makes a log. Returns it and the public key of its first seal, which belongs into another place.
    pub fn create(
        directory: Directory,
        machine: AuditedMachine,
        now: SystemTime,
    ) -> Result<(Self, PublicKey), OpenError> {
        let lock = WriteLock::take(&directory, LOCK).map_err(failed(&directory, LOCK, "locked"))?;
        if !begun_segments(&directory)?.is_empty() {
            return Err(OpenError::Exists { path: directory.path().to_owned() });
        }
        let key = new_key(&directory)?;
        let public = key.public();
        write_key(&directory, NEXT_KEY, &key)?;
        let renamed = directory.rename(NEXT_KEY, KEY).and_then(|()| directory.sync());
        renamed.map_err(failed(&directory, KEY, "written"))?;
        let entry =
            AuditEntry::LogBegun { format: FORMAT, machine: machine.id.clone(), key: public.to_string() };
        let (line, bytes) = encode(&LinePosition::start(), now, &machine, entry)?;
        let tail = Tail {
            machine: machine.id.clone(),
            position: LinePosition::after(line.line, &bytes[..bytes.len() - 1]),
            key: public.clone(),
            seals: 0,
            open: Vec::new(),
            unsealed: 1,
        };
        let size = begin_segment(&directory, 1, &bytes)?;
        let (max_segment, kept_segments) = (MAX_SEGMENT, KEPT_SEGMENTS);
        let mut log =
            Self { directory, machine, segment: 1, size, tail, sealed: None, max_segment, kept_segments };
        log.write_seal(None, now)?;
        drop(lock);
        Ok((log, public))
    }

    /// Opens a log, and repairs what a killed program has left: an incomplete line, the change of the key, commands
    /// without an end.
    pub fn open(directory: Directory, machine: AuditedMachine, now: SystemTime) -> Result<Self, OpenError> {
        let lock = WriteLock::take(&directory, LOCK).map_err(failed(&directory, LOCK, "locked"))?;
        let (max_segment, kept_segments) = (MAX_SEGMENT, KEPT_SEGMENTS);
        let (segment, size, tail, torn) = read_tail(&directory)?;
        if tail.machine != machine.id {
            return Err(OpenError::OtherMachine { path: directory.path().to_owned(), found: tail.machine });
        }
        finish_key_change(&directory, &tail)?;
        let mut log =
            Self { directory, machine, segment, size, tail, sealed: None, max_segment, kept_segments };
        if let Some(torn) = torn {
            log.repair(&torn, now)?;
        }
        log.end_interrupted(now)?;
        drop(lock);
        Ok(log)
    }

    /// Appends an entry. It is on the disk when this returns.
    pub fn append(&mut self, entry: AuditEntry, now: SystemTime) -> Result<(), OpenError> {
        let lock = self.lock(now)?;
        self.write(entry, now)?;
        drop(lock);
        Ok(())
    }

    /// Appends an entry that is on the disk no later than the next one.
    pub fn append_with_next(&mut self, entry: AuditEntry, now: SystemTime) -> Result<(), OpenError> {
        let lock = self.lock(now)?;
        let (line, bytes) = encode(&self.tail.position, now, &self.machine, entry)?;
        self.write_bytes(&bytes, false)?;
        self.accept(&line, &bytes)?;
        drop(lock);
        Ok(())
    }

    /// Appends an entry and a seal, which signs everything up to here and destroys the key that signed it.
    pub fn append_and_seal(&mut self, entry: AuditEntry, now: SystemTime) -> Result<Checkpoint, OpenError> {
        self.seal_with(Some(entry), now)
    }

    /// Appends a seal.
    pub fn seal(&mut self, now: SystemTime) -> Result<Checkpoint, OpenError> {
        self.seal_with(None, now)
    }

    fn seal_with(&mut self, entry: Option<AuditEntry>, now: SystemTime) -> Result<Checkpoint, OpenError> {
        let lock = self.lock(now)?;
        // An earlier seal of this program may have failed in its last step.
        finish_key_change(&self.directory, &self.tail)?;
        self.write_seal(entry, now)?;
        let sealed = self.checkpoint();
        self.sealed = Some(sealed.clone());
        self.rotate(now)?;
        drop(lock);
        Ok(sealed)
    }

    /// Returns the directory of the log.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Returns the end of the log at the last seal that was written through this value.
    pub fn sealed(&self) -> Option<&Checkpoint> {
        self.sealed.as_ref()
    }

    /// Returns the end of the log, for a copy that lies elsewhere.
    pub fn checkpoint(&self) -> Checkpoint {
        self.tail.checkpoint()
    }

    /// Takes the lock, and reads what other programs have written meanwhile.
    fn lock(&mut self, now: SystemTime) -> Result<WriteLock, OpenError> {
        let directory = &self.directory;
        let lock = WriteLock::take(directory, LOCK).map_err(failed(directory, LOCK, "locked"))?;
        let name = segment::name(self.segment);
        let next = directory.size(&segment::name(self.segment + 1)).is_ok();
        let size = directory.size(&name).map_err(failed(directory, &name, "read"))?;
        if next || size != self.size {
            let (segment, size, tail, torn) = read_tail(directory)?;
            finish_key_change(directory, &tail)?;
            let goes_back = tail.position.line < self.tail.position.line;
            if goes_back || tail.machine != self.machine.id {
                return Err(AuditError::Changed { path: directory.path().join(name) }.into());
            }
            (self.segment, self.size, self.tail) = (segment, size, tail);
            if let Some(torn) = torn {
                self.repair(&torn, now)?;
            }
        }
        Ok(lock)
    }

    /// Cuts off an incomplete line, and records that.
    fn repair(&mut self, torn: &Torn, now: SystemTime) -> Result<(), AuditError> {
        let name = segment::name(self.segment);
        let file = self.directory.append(&name).map_err(failed(&self.directory, &name, "opened"))?;
        self.size -= torn.bytes;
        file.cut(self.size).map_err(failed(&self.directory, &name, "repaired"))?;
        self.write(AuditEntry::Repaired { bytes: torn.bytes, sha256: torn.sha256.clone() }, now)
    }

    /// Records the end of commands whose process is gone.
    fn end_interrupted(&mut self, now: SystemTime) -> Result<(), AuditError> {
        let is_gone = |open: &&OpenIntent| process_start(open.pid) != Some(open.started);
        let gone: Vec<String> =
            self.tail.open.iter().filter(is_gone).map(|open| open.intent.clone()).collect();
        gone.into_iter().try_for_each(|intent| self.write(AuditEntry::Interrupted { intent }, now))
    }

    fn write(&mut self, entry: AuditEntry, now: SystemTime) -> Result<(), AuditError> {
        let (line, bytes) = encode(&self.tail.position, now, &self.machine, entry)?;
        self.write_bytes(&bytes, true)?;
        self.accept(&line, &bytes)
    }

    fn accept(&mut self, line: &Line, bytes: &[u8]) -> Result<(), AuditError> {
        let path = || self.directory.path().join(segment::name(self.segment));
        let accepted = self.tail.accept(line, &bytes[..bytes.len() - 1]);
        accepted.map_err(|_| AuditError::Changed { path: path() })
    }

    fn write_bytes(&mut self, bytes: &[u8], is_synced: bool) -> Result<(), AuditError> {
        let name = segment::name(self.segment);
        let written = self.directory.append(&name).and_then(|mut file| {
            file.write_all(bytes)?;
            if is_synced { file.sync() } else { Ok(()) }
        });
        written.map_err(failed(&self.directory, &name, "written"))?;
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// Writes an entry and a seal at once. The key after the seal is on the disk before, so that a kill at any point
    /// leaves a key that goes on.
    fn write_seal(&mut self, entry: Option<AuditEntry>, now: SystemTime) -> Result<(), AuditError> {
        let key = read_key(&self.directory, KEY)?;
        let next = new_key(&self.directory)?;
        let mut tail = self.tail.clone();
        let mut written = Vec::new();
        if let Some(entry) = entry {
            let (line, bytes) = encode(&tail.position, now, &self.machine, entry)?;
            // The line continues the tail that it was made for.
            let _ = tail.accept(&line, &bytes[..bytes.len() - 1]);
            written = bytes;
        }
        let seal = Seal {
            machine: self.machine.id.clone(),
            number: tail.seals + 1,
            line: tail.position.line + 1,
            head: tail.position.head.clone(),
            time: display_timestamp(now, 2),
            boot: self.machine.boot.clone(),
            next: next.public(),
            open: tail.open.clone(),
        };
        let entry = seal.sign(&key).map_err(of_key(&self.directory, KEY))?;
        let (line, bytes) = encode(&tail.position, now, &self.machine, entry)?;
        tail.accept_seal(&line, &bytes[..bytes.len() - 1], seal);
        written.extend_from_slice(&bytes);
        write_key(&self.directory, NEXT_KEY, &next)?;
        self.write_bytes(&written, true)?;
        self.tail = tail;
        // Not synced: if a power cut undoes it, the next program finds `key.next`.
        self.directory.rename(NEXT_KEY, KEY).map_err(failed(&self.directory, KEY, "replaced"))
    }

    /// Goes on in a new file if this one is full, and lets the oldest one go.
    fn rotate(&mut self, now: SystemTime) -> Result<(), AuditError> {
        if self.size < self.max_segment {
            return Ok(());
        }
        let segment = self.segment + 1;
        let entry = AuditEntry::SegmentBegun {
            segment,
            machine: self.machine.id.clone(),
            key: self.tail.key.to_string(),
            seals: self.tail.seals,
            open: self.tail.open.iter().map(ToString::to_string).collect(),
        };
        let (line, bytes) = encode(&self.tail.position, now, &self.machine, entry)?;
        self.size = begin_segment(&self.directory, segment, &bytes)?;
        self.segment = segment;
        self.tail.position = LinePosition::after(line.line, &bytes[..bytes.len() - 1]);
        self.tail.unsealed = 1;
        self.retire(now)
    }

    fn retire(&mut self, now: SystemTime) -> Result<(), AuditError> {
        let segments = segments(&self.directory)?;
        let leaving = segments.len().saturating_sub(self.kept_segments);
        for oldest in &segments[..leaving] {
            let name = segment::name(*oldest);
            let (first, last) = self.ends(&name)?;
            let lines = (last.line + 1).saturating_sub(first);
            self.write_seal(Some(AuditEntry::Retired { segment: *oldest, lines, last: last.head }), now)?;
            self.directory.remove_file(&name).map_err(failed(&self.directory, &name, "removed"))?;
        }
        Ok(())
    }

    /// Returns the number of the first line of a file, and the position behind its last line.
    fn ends(&self, name: &str) -> Result<(u64, LinePosition), AuditError> {
        let bytes = self.directory.read_end(name, u64::MAX).map_err(failed(&self.directory, name, "read"))?;
        let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let number = |bytes: &[u8]| Line::decode(bytes).map(|line| line.line).unwrap_or_default();
        let first = lines.next().unwrap_or_default();
        let last = lines.next_back().unwrap_or(first);
        Ok((number(first), LinePosition::after(number(last), last)))
    }
}

/// Returns the line behind a position and its bytes, with their end.
fn encode(
    position: &LinePosition,
    now: SystemTime,
    machine: &AuditedMachine,
    entry: AuditEntry,
) -> Result<(Line, Vec<u8>), AuditError> {
    let line = Line::new(position, now, &machine.boot, entry);
    // Texts and numbers can always be written.
    let mut bytes = line.encode().unwrap_or_default();
    bytes.push(b'\n');
    if bytes.len() > MAX_LINE {
        return Err(AuditError::TooLong { length: bytes.len(), limit: MAX_LINE });
    }
    Ok((line, bytes))
}

fn begin_segment(directory: &Directory, segment: u32, bytes: &[u8]) -> Result<u64, AuditError> {
    let name = segment::name(segment);
    let written = directory.create(&name).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync()?;
        directory.sync()
    });
    written.map_err(failed(directory, &name, "written"))?;
    Ok(bytes.len() as u64)
}

/// Returns the end of a log by its last lines, in a time that does not depend on its length. What is before them is not
/// verified.
pub fn end_of_log(directory: &Directory) -> Result<Checkpoint, OpenError> {
    let (_, _, tail, _) = read_tail(directory)?;
    Ok(tail.checkpoint())
}

/// Reads where the log goes on: file, size, end and incomplete line.
fn read_tail(directory: &Directory) -> Result<(u32, u64, Tail, Option<Torn>), OpenError> {
    let Some(segment) = begun_segments(directory)?.pop() else {
        return Err(OpenError::Missing { path: directory.path().to_owned() });
    };
    let name = segment::name(segment);
    let size = directory.size(&name).map_err(failed(directory, &name, "read"))?;
    for length in [USUAL_TAIL, u64::MAX] {
        let bytes = directory.read_end(&name, length).map_err(failed(directory, &name, "read"))?;
        let is_whole = bytes.len() as u64 == size;
        let read = Tail::read(&bytes, is_whole);
        let read = read.map_err(|source| OpenError::Tail { path: directory.path().join(&name), source })?;
        if let Some((tail, torn)) = read {
            return Ok((segment, size, tail, torn));
        }
    }
    Err(AuditError::Changed { path: directory.path().join(&name) }.into())
}

/// Finishes the change of the key that a kill has interrupted.
fn finish_key_change(directory: &Directory, tail: &Tail) -> Result<(), OpenError> {
    let public = |name| read_key(directory, name).ok().map(|key| key.public());
    let has_next = directory.size(NEXT_KEY).is_ok();
    let key = public(KEY);
    if key.as_ref() == Some(&tail.key) {
        if has_next {
            // Its seal was not written.
            directory.remove_file(NEXT_KEY).map_err(failed(directory, NEXT_KEY, "removed"))?;
        }
        return Ok(());
    }
    if has_next && public(NEXT_KEY).as_ref() == Some(&tail.key) {
        return Ok(directory.rename(NEXT_KEY, KEY).map_err(failed(directory, KEY, "replaced"))?);
    }
    match directory.size(KEY) {
        Ok(_) if key.is_some() => Err(OpenError::CutBack { path: directory.path().to_owned() }),
        Ok(_) => Err(read_key(directory, KEY)
            .err()
            .map_or_else(|| OpenError::CutBack { path: directory.path().to_owned() }, OpenError::Audit)),
        Err(_) => Err(OpenError::KeyMissing { path: directory.path().join(KEY) }),
    }
}

/// Returns the numbers of the files. A newest one without a complete line is removed: the program that began it was
/// killed, and has not written anything else.
fn begun_segments(directory: &Directory) -> Result<Vec<u32>, AuditError> {
    let mut segments = segments(directory)?;
    if let Some(newest) = segments.last() {
        let name = segment::name(*newest);
        let size = directory.size(&name).map_err(failed(directory, &name, "read"))?;
        let is_begun = size > MAX_LINE as u64 || {
            let bytes = directory.read_end(&name, size).map_err(failed(directory, &name, "read"))?;
            bytes.contains(&b'\n')
        };
        if !is_begun {
            directory.remove_file(&name).map_err(failed(directory, &name, "removed"))?;
            segments.pop();
        }
    }
    Ok(segments)
}

fn segments(directory: &Directory) -> Result<Vec<u32>, AuditError> {
    let names = directory.names().map_err(failed(directory, "", "read"))?;
    Ok(segment::numbers(names.iter().map(String::as_str)))
}

fn new_key(directory: &Directory) -> Result<SealKey, AuditError> {
    let seed = random_secret().map_err(failed(directory, NEXT_KEY, "made"))?;
    SealKey::from_seed(&seed).map_err(of_key(directory, NEXT_KEY))
}

/// Writes a key into a file that does not exist yet, and syncs it.
fn write_key(directory: &Directory, name: &str, key: &SealKey) -> Result<(), AuditError> {
    let content = key.file().map_err(of_key(directory, name))?;
    let written = match directory.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => directory.create(name).and_then(|mut file| {
            file.write_all(content.as_ref())?;
            file.sync()?;
            directory.sync()
        }),
    };
    written.map_err(failed(directory, name, "written"))
}

pub(crate) fn read_key(directory: &Directory, name: &str) -> Result<SealKey, AuditError> {
    /// Larger than any key.
    const LIMIT: u64 = 16 << 10;
    let bytes = directory.read_end(name, LIMIT).map_err(failed(directory, name, "read"))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| KeyError::NoKey);
    text.and_then(SealKey::parse).map_err(of_key(directory, name))
}

fn failed(directory: &Directory, name: &str, verb: &'static str) -> impl Fn(io::Error) -> AuditError + use<> {
    let path = directory.path().join(name);
    move |source| AuditError::File { path: path.clone(), verb, source }
}

fn of_key(directory: &Directory, name: &str) -> impl Fn(KeyError) -> AuditError + use<> {
    let path = directory.path().join(name);
    move |source| AuditError::Key { path: path.clone(), source }
}

#[cfg(test)]
mod tests;
