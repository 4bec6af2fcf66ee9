//! Copies for an auditor, who verifies them with OpenSSH and sha256sum alone.

use std::io::{self, Read, Write as _};

use ccm_host::state::Directory;

use crate::entry::AuditEntry;
use crate::error::AuditError;
use crate::reading::{AuditLine, read_log, segment_numbers};
use crate::segment;
use crate::verification::{LogVerification, NextKeyCheck, Trust, verify};

/// Directory with the statement and the signature of each seal.
const SEALS: &str = "seals";
/// File with the public key of the first seal in the copy, as the log has it.
const KEY: &str = "first-key.pub";
/// File with the end of the copied log.
const CHECKPOINT: &str = "checkpoint.json";

/// Copies a log into an empty directory: its files, each seal as a statement and a signature, the first public key and
/// a checkpoint. Returns the verification of the copy, or that of the log if the log is not intact: the key of the next
/// seal, which shows that the log was not cut back, is not copied.
pub fn export(
    directory: &Directory,
    target: &Directory,
    next_key: NextKeyCheck,
) -> Result<LogVerification, AuditError> {
    let log = verify(directory, &Trust { next_key, ..Trust::default() })?;
    let read =
        |name: &str, source| AuditError::File { path: directory.path().join(name), verb: "read", source };
    let written =
        |name: &str, source| AuditError::File { path: target.path().join(name), verb: "written", source };
    for number in segment_numbers(directory)? {
        let name = segment::name(number);
        let mut file = directory.read(&name).map_err(|error| read(&name, error))?;
        copy(&mut file, target, &name).map_err(|error| written(&name, error))?;
    }
    // The log may have grown meanwhile. The seals are those of the copy.
    let seals = target.make(SEALS).map_err(|error| written(SEALS, error))?;
    let mut first_key = None;
    let mut number: u64 = 0;
    let mut result = Ok(());
    read_log(target, &mut |line| {
        let AuditLine::Line(_, line) = line else { return };
        match &line.entry {
            AuditEntry::LogBegun { key, .. } => first_key = first_key.take().or(Some(key.clone())),
            AuditEntry::SegmentBegun { key, seals, .. } if first_key.is_none() => {
                (first_key, number) = (Some(key.clone()), *seals);
            }
            AuditEntry::Seal { statement, signature } if result.is_ok() => {
                number += 1;
                let name = format!("{number:08}");
                result = write(&seals, &name, statement)
                    .and_then(|()| write(&seals, &format!("{name}.sig"), signature))
                    .map_err(|error| written(SEALS, error));
            }
            _ => {}
        }
    })?;
    result?;
    let key = format!("{}\n", first_key.unwrap_or_default());
    write(target, KEY, &key).map_err(|error| written(KEY, error))?;
    let verification = verify(target, &Trust::default())?;
    if let Some(end) = &verification.end {
        let line = format!("{}\n", end.to_line());
        write(target, CHECKPOINT, &line).map_err(|error| written(CHECKPOINT, error))?;
    }
    target.sync().map_err(|error| written("", error))?;
    if !log.is_intact() {
        return Ok(log);
    }
    Ok(LogVerification { has_compared_key: log.has_compared_key, ..verification })
}

fn copy(file: &mut impl Read, target: &Directory, name: &str) -> io::Result<()> {
    let mut copy = target.create(name)?;
    io::copy(file, &mut copy)?;
    copy.sync()
}

fn write(directory: &Directory, name: &str, text: &str) -> io::Result<()> {
    directory.create(name)?.write_all(text.as_bytes())
}
