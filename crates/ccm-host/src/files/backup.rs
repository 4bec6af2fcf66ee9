//! Keeping old content before it is replaced or removed.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, SeekFrom, seek};

use super::content::Readable;
use super::look::open_regular;
use super::walk::Place;
use super::write::{Filling, put};
use super::{Attributes, FileError, Step, content};
use crate::command::Cancellation;

/// How much of a path the name of its backup shows.
const SLUG: usize = 120;

/// Copies a file into `backups` below a directory. One that is not there is not copied.
pub(super) fn back_up(
    path: &Path,
    state: &Path,
    at: SystemTime,
    cancellation: &Cancellation,
) -> Result<PathBuf, FileError> {
    let directory = state.join("backups");
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.map_err(|error| FileError::step(&directory, Step::Create, error))?;
    let place = Place::find(path)?;
    let entry = place.entry.as_ref().filter(|entry| entry.kind() == FileType::RegularFile);
    let entry = entry.ok_or_else(|| FileError::Changed(path.to_owned()))?;
    let unread = |error: std::io::Error| FileError::step(path, Step::Read, error);
    let file = open_regular(&place, entry)?;
    let readable = |file| Readable { file, path, expected: None };
    let first = readable(file.try_clone().map_err(unread)?);
    let sha256 = content::read(first, cancellation, 0, |_| Ok(()))?.sha256;
    seek(&file, SeekFrom::Start(0)).map_err(|error| unread(error.into()))?;
    let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let kept = directory.join(format!("{}.{}.{seconds}", slug(path), &sha256[..12]));
    let private = Attributes { mode: Some(0o600), ..Attributes::default() };
    put(&kept, Filling::File(readable(file)), private, cancellation)?;
    Ok(kept)
}

/// The end of a path as part of a file's name.
fn slug(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => character,
        _ => '-',
    };
    let characters: Vec<char> = text.trim_start_matches('/').chars().map(plain).collect();
    characters[characters.len().saturating_sub(SLUG)..].iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_short_and_plain() {
        assert_eq!(slug(Path::new("/etc/app/site a.conf")), "etc-app-site-a.conf");
        assert_eq!(slug(Path::new(&format!("/{}", "ä/".repeat(200)))).len(), SLUG);
    }
}
