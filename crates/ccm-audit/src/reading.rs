//! Reading a log line by line, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

use ccm_host::state::Directory;

use crate::checkpoint::Checkpoint;
use crate::entry::AuditEntry;
use crate::error::AuditError;
use crate::line::{Line, MAX_LINE, hash};
use crate::seal::Seal;
use crate::segment;

/// Line of a file.
#[derive(Clone, Copy)]
pub(crate) enum RawLine<'a> {
    Whole(&'a [u8]),
    TooLong,
    /// Bytes behind the last end of a line.
    Rest(u64),
}

pub(crate) fn for_each_line(file: impl Read, mut take: impl FnMut(RawLine<'_>)) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(256 << 10, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = MAX_LINE as u64 + 1;
        reader.by_ref().take(limit).read_until(b'\n', &mut line)?;
        match line.split_last() {
            None => return Ok(()),
            Some((b'\n', line)) => take(RawLine::Whole(line)),
            Some(_) if line.len() as u64 == limit => {
                reader.skip_until(b'\n')?;
                take(RawLine::TooLong);
            }
            Some(_) => take(RawLine::Rest(line.len() as u64)),
        }
    }
}

/// Line of a log that is shown.
#[derive(Debug)]
pub enum AuditLine<'a> {
    /// Line as it stands in the file, and what it records.
    Line(&'a str, Box<Line>),
    /// Bytes that are no line of a log.
    Unreadable {
        /// Name of the file.
        file: &'a str,
        /// Number of the line in the file, from 1.
        row: u64,
    },
}

/// Reads all lines of a log, which is not verified, in their order.
pub fn read_log(directory: &Directory, take: &mut dyn FnMut(AuditLine<'_>)) -> Result<(), AuditError> {
    for number in segment_numbers(directory)? {
        let name = segment::name(number);
        let failed = |source| AuditError::File { path: directory.path().join(&name), verb: "read", source };
        let mut row = 0;
        let read = directory.read(&name).and_then(|file| {
            for_each_line(file, |raw| {
                row += 1;
                let text = match raw {
                    RawLine::Whole(bytes) => std::str::from_utf8(bytes).ok(),
                    RawLine::TooLong | RawLine::Rest(_) => None,
                };
                let line = text.and_then(|text| Some((text, Line::decode(text.as_bytes()).ok()?)));
                take(match line {
                    Some((text, line)) => AuditLine::Line(text, Box::new(line)),
                    None => AuditLine::Unreadable { file: &name, row },
                });
            })
        });
        read.map_err(failed)?;
    }
    Ok(())
}

/// Returns the numbers of the files of a log, in order.
pub(crate) fn segment_numbers(directory: &Directory) -> Result<Vec<u32>, AuditError> {
    let failed = |source| AuditError::File { path: directory.path().to_owned(), verb: "read", source };
    let names = directory.names().map_err(failed)?;
    Ok(segment::numbers(names.iter().map(String::as_str)))
}

/// Returns the ends of the log at seals, from the one with this number to the newest, the newest at most `limit`.
pub(crate) fn seals_from(
    directory: &Directory,
    first: u64,
    limit: usize,
) -> Result<Vec<Checkpoint>, AuditError> {
    let mut found: Vec<Checkpoint> = Vec::new();
    for number in segment_numbers(directory)?.into_iter().rev() {
        let name = segment::name(number);
        let failed = |source| AuditError::File { path: directory.path().join(&name), verb: "read", source };
        let mut here = Vec::new();
        let mut begins_before = false;
        for_each_line(directory.read(&name).map_err(failed)?, |raw| {
            let RawLine::Whole(bytes) = raw else { return };
            let Ok(line) = Line::decode(bytes) else { return };
            match &line.entry {
                AuditEntry::LogBegun { .. } => begins_before = true,
                AuditEntry::SegmentBegun { seals, .. } => begins_before = *seals < first,
                AuditEntry::Seal { statement, .. } => {
                    let Some(seal) = Seal::parse(statement).filter(|seal| seal.number >= first) else {
                        return;
                    };
                    here.push(Checkpoint {
                        machine: seal.machine,
                        seals: seal.number,
                        line: line.line,
                        head: hash(bytes),
                        next: seal.next.to_string(),
                    });
                }
                _ => {}
            }
        })
        .map_err(failed)?;
        here.append(&mut found);
        found = here;
        if begins_before || found.len() >= limit {
            break;
        }
    }
    found.drain(..found.len().saturating_sub(limit));
    Ok(found)
}
