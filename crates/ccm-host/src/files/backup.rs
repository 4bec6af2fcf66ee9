//! Backups of files before they are replaced or removed.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, FileType, Mode, statat};
use rustix::io::Errno;

use serde::{Deserialize, Serialize};

use super::content::sha256;
use super::inspect::open_regular;
use super::resolve::ResolvedPath;
use super::write::{write_private, write_private_copy};
use super::{BackupName, FileError, FileStep};
use crate::command::Cancellation;

const SLUG: usize = 120;

/// Name of a backup whose file has a secret in its path.
const ANONYMOUS: &str = "secret-path";

/// Name of the directory for backups in the state directory.
pub const BACKUPS: &str = "backups";
/// End of the name of the file that describes a backup.
pub const BACKUP_METADATA_ENDING: &str = ".json";

/// Description of a backup, which the file beside the backup holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupMetadata {
    /// Path of the file; null if the path is not UTF-8.
    pub path: Option<String>,
    /// Owner of the file.
    pub uid: u32,
    /// Group of the file.
    pub gid: u32,
    /// Permissions of the file, with the special bits.
    pub mode: u32,
}

/// Returns the name of the backups of a path, without the time.
pub fn backup_stem(path: &Path) -> String {
    format!(
        "{}.{}",
        slug(path.to_string_lossy().trim_start_matches('/'), SLUG),
        &sha256(path.as_os_str().as_bytes())[..8]
    )
}

/// Copies a regular file to `backups` in the state directory.
pub(super) fn back_up(
    path: &Path,
    state: &Path,
    at: SystemTime,
    name: BackupName,
    cancellation: &Cancellation,
) -> Result<PathBuf, FileError> {
    let directory = state.join(BACKUPS);
    make(&directory, state)?;
    let resolved = ResolvedPath::find(path)?;
    let entry = resolved.entry.as_ref().filter(|entry| entry.kind() == FileType::RegularFile);
    let entry = entry.ok_or_else(|| FileError::Changed(path.to_owned()))?;
    let file = open_regular(&resolved, entry)?;
    let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // An incomplete copy of a killed run has a name that the next run finds again: only a complete copy is
    // named after the time. No part of the name depends on the content, which could be guessed from its sha256.
    let has_path = name == BackupName::Path;
    let name = match name {
        BackupName::Path => backup_stem(path),
        BackupName::Anonymous => ANONYMOUS.to_owned(),
    };
    let beside = ResolvedPath::find(&directory.join(&name))?;
    let complete = unused_name(&beside, format!("{name}.{seconds}"))?;
    write_private_copy(&beside, (file, path), complete.as_ref(), cancellation)?;
    if has_path {
        let metadata = BackupMetadata {
            path: path.to_str().map(str::to_owned),
            uid: entry.stat.st_uid,
            gid: entry.stat.st_gid,
            mode: entry.mode(),
        };
        describe(&beside, &complete, &metadata)?;
    }
    Ok(directory.join(complete))
}

/// Writes the description of a backup. A backup of a killed run may have none.
fn describe(beside: &ResolvedPath, name: &str, metadata: &BackupMetadata) -> Result<(), FileError> {
    let text = serde_json::to_vec(metadata);
    let text =
        text.map_err(|error| FileError::step(&beside.path, FileStep::Content, io::Error::from(error)))?;
    write_private(beside, &text, format!("{name}{BACKUP_METADATA_ENDING}").as_ref())
}

/// Returns the name, followed by a number if a backup of that name exists.
fn unused_name(beside: &ResolvedPath, name: String) -> Result<String, FileError> {
    let numbered = (2_u32..).map(|number| format!("{name}.{number}"));
    for candidate in std::iter::once(name.clone()).chain(numbered) {
        match statat(&beside.parent, &candidate, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => {}
            Err(Errno::NOENT) => return Ok(candidate),
            Err(error) => return Err(FileError::step(&beside.path, FileStep::Inspect, error)),
        }
    }
    Ok(name)
}

/// Makes the directory for backups if it is missing, and syncs it to the disk.
fn make(directory: &Path, state: &Path) -> Result<(), FileError> {
    let resolved = match ResolvedPath::find(directory) {
        Err(FileError::ParentMissing(_)) => {
            ResolvedPath::find_making_parents(state)?.make_directory(Mode::RWXU)?;
            ResolvedPath::find(directory)?
        }
        // The error names what could not be made.
        Err(FileError::NotADirectory { .. }) => {
            return Err(FileError::step(directory, FileStep::Create, Errno::NOTDIR));
        }
        found => found?,
    };
    resolved.make_directory(Mode::RWXU)
}

/// Returns the end of a text as part of a file name, in at most `max_length` characters.
pub fn slug(text: &str, max_length: usize) -> String {
    let plain = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => character,
        _ => '-',
    };
    let characters: Vec<char> = text.chars().map(plain).collect();
    characters[characters.len().saturating_sub(max_length)..].iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_short_and_plain() {
        assert_eq!(slug("etc/app/site a.conf", 120), "etc-app-site-a.conf");
        assert_eq!(slug(&"ä/".repeat(200), 40), "-".repeat(40));
    }
}
