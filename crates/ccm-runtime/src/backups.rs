//! Backups of files that runs replaced or removed.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_host::state::{Directory, Lock, LockError, LockHolder, StateError};
use ccm_host::{
    BACKUP_METADATA_ENDING, BACKUPS, BackupMetadata, BackupName, FileAttributes, FileError, FileInfo,
    FileKind, InspectOptions, NewContent, NewFile, absolute, backup_stem,
};

use crate::session::Session;

/// Name of the backups of files with a secret in their path.
const ANONYMOUS: &str = "secret-path";
/// Maximum size of a description that is read.
const MAX_METADATA_BYTES: u64 = 64 << 10;

/// Backup of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Original path; `None` if it is not recorded.
    pub path: Option<PathBuf>,
    /// Name of the backup in the directory of all backups.
    pub name: String,
    /// Time of the backup in seconds since 1970, and a number if there are several.
    pub version: String,
    /// Time of the backup.
    pub at: SystemTime,
    /// Size in bytes.
    pub size: u64,
    /// Beginning of the name, which all backups of the file have.
    stem: String,
    /// Number among the backups of one second.
    number: u32,
    attributes: FileAttributes,
}

/// Restored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Path of the file.
    pub path: PathBuf,
    /// Backup whose content it has now.
    pub backup: Backup,
    /// Backup of the content before; `None` if the file did not exist.
    pub kept: Option<PathBuf>,
}

/// Backups to remove: those that match every given limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneOptions {
    /// Keeps this number of the newest backups of each file.
    pub keep: Option<usize>,
    /// Keeps backups made at this time or later.
    pub before: Option<SystemTime>,
}

/// Error of reading, restoring or removing backups.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A run is going on.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Backups can't be read or removed.
    #[error("{path:?} can't be used")]
    Use {
        /// Directory of the backups, or a backup.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file has no backup.
    #[error("{path:?} has no backup")]
    Missing {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file has no backup of this version.
    #[error("{path:?} has no backup of version {version}")]
    NoVersion {
        /// Path of the file.
        path: PathBuf,
        /// Requested version.
        version: String,
        /// Versions that exist, the newest first.
        known: Vec<String>,
    },
    /// The path is a link or a directory.
    #[error("{path:?} is no regular file, so it can't be replaced by a backup")]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file can't be restored.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Session {
    /// Reads the backups, the newest first.
    pub fn backups(&self) -> Result<Vec<Backup>, BackupError> {
        let Some(state) = Directory::open(&self.state_path()?)? else { return Ok(Vec::new()) };
        self.backups_in(&state)
    }

    /// Reads the backups of one file, or all without a path, the newest first.
    pub fn backups_of(&self, path: Option<&Path>) -> Result<Vec<Backup>, BackupError> {
        let mut backups = self.backups()?;
        if let Some(path) = path {
            let path = absolute(path).map_err(|source| BackupError::Use { path: path.to_owned(), source })?;
            let stem = backup_stem(&path);
            backups.retain(|backup| backup.stem == stem);
        }
        Ok(backups)
    }

    fn backups_in(&self, state: &Directory) -> Result<Vec<Backup>, BackupError> {
        let path = state.path().join(BACKUPS);
        let failed = |source| BackupError::Use { path: path.clone(), source };
        let directory = match state.enter(BACKUPS) {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut backups = Vec::new();
        for name in directory.names().map_err(failed)? {
            let Some(parsed) = ParsedName::of(&name) else { continue };
            let found = self.doors.files.inspect(&path.join(&name), InspectOptions::default())?;
            // Another run may have removed the file. Links and directories are no backups.
            let is_file = |file: &FileInfo| !found.link && file.kind == FileKind::File;
            let Some(file) = found.target.as_ref().filter(|file| is_file(file)) else { continue };
            let metadata = metadata(&directory, &name);
            let (stem, version) = (parsed.stem.to_owned(), parsed.version.to_owned());
            backups.push(Backup {
                path: metadata.as_ref().and_then(|metadata| metadata.path.clone()).map(PathBuf::from),
                version,
                at: UNIX_EPOCH + Duration::from_secs(parsed.seconds),
                size: file.size,
                stem,
                number: parsed.number,
                attributes: metadata.as_ref().map(attributes).unwrap_or_default(),
                name,
            });
        }
        backups.sort_by(|one, other| {
            let key = |backup: &Backup| (backup.at, backup.number);
            key(other).cmp(&key(one)).then_with(|| one.name.cmp(&other.name))
        });
        Ok(backups)
    }

    /// Gives a file the content of a backup, the newest without a version, and backs up its content before. The
    /// file gets the owner, group and mode that are recorded with the backup.
    pub async fn restore_backup(&self, path: &Path, version: Option<&str>) -> Result<Restored, BackupError> {
        let path = absolute(path).map_err(|source| BackupError::Use { path: path.to_owned(), source })?;
        let (state, _lock) = self.lock_backups(&path).await?;
        let stem = backup_stem(&path);
        let mut backups = self.backups_in(&state)?;
        backups.retain(|backup| backup.stem == stem);
        let known: Vec<String> = backups.iter().map(|backup| backup.version.clone()).collect();
        let is_requested = |backup: &Backup| version.is_none_or(|version| backup.version == version);
        let Some(backup) = backups.into_iter().find(is_requested) else {
            return Err(match version {
                Some(version) if !known.is_empty() => {
                    BackupError::NoVersion { path, version: version.to_owned(), known }
                }
                _ => BackupError::Missing { path },
            });
        };
        let directory = state.path().join(BACKUPS);
        let source = directory.join(&backup.name);
        let trusted = state
            .only_ours(BACKUPS)
            .and_then(|()| state.enter(BACKUPS))
            .and_then(|directory| directory.only_ours(&backup.name));
        trusted.map_err(|cause| BackupError::Use { path: source.clone(), source: cause })?;
        let files = &*self.doors.files;
        let present = files.inspect(&path, InspectOptions::default())?;
        // A link would be replaced, and not the file that it leads to.
        if present.link || present.target.as_ref().is_some_and(|found| found.kind != FileKind::File) {
            return Err(BackupError::NotAFile { path });
        }
        let now = self.doors.clock.now();
        let kept = match present.target {
            Some(_) => Some(files.back_up(&path, state.path(), now, BackupName::Path)?),
            None => None,
        };
        let content = NewContent::CopyOf(&source);
        files.write(&path, &NewFile { content, attributes: backup.attributes })?;
        Ok(Restored { path, backup, kept })
    }

    /// Removes backups, and returns those that were removed.
    pub async fn prune_backups(&self, options: PruneOptions) -> Result<Vec<Backup>, BackupError> {
        let path = self.state_path()?;
        if Directory::open(&path)?.is_none() {
            return Ok(Vec::new());
        }
        let (state, _lock) = self.lock_backups(&path).await?;
        let removed = prunable(self.backups_in(&state)?, options);
        for backup in &removed {
            let failed = |source| BackupError::Use { path: path.join(BACKUPS).join(&backup.name), source };
            let directory = state.enter(BACKUPS).map_err(failed)?;
            directory.remove_file(&backup.name).map_err(failed)?;
            match directory.remove_file(&format!("{}{BACKUP_METADATA_ENDING}", backup.name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
        Ok(removed)
    }

    /// Opens the state directory and takes its lock, so that no run changes files meanwhile.
    async fn lock_backups(&self, path: &Path) -> Result<(Directory, Lock), BackupError> {
        let state_path = self.state_path()?;
        if Directory::open(&state_path)?.is_none() {
            return Err(BackupError::Missing { path: path.to_owned() });
        }
        let state = Directory::open_private(&state_path)?;
        let holder = LockHolder { manifest: "a backup".to_owned(), since: self.doors.clock.now() };
        let lock = Lock::take(&state, &holder, Duration::ZERO, &mut |_| {}).await?;
        Ok((state, lock))
    }
}

/// Returns the backups to remove, of backups that are sorted, the newest first.
fn prunable(backups: Vec<Backup>, options: PruneOptions) -> Vec<Backup> {
    let mut counts = std::collections::HashMap::<String, usize>::new();
    let is_removed = |backup: &Backup| {
        let count = counts.entry(backup.stem.clone()).or_default();
        *count += 1;
        options.keep.is_none_or(|keep| *count > keep)
            && options.before.is_none_or(|before| backup.at < before)
            && options != PruneOptions::default()
    };
    backups.into_iter().filter(is_removed).collect()
}

fn attributes(metadata: &BackupMetadata) -> FileAttributes {
    let &BackupMetadata { uid, gid, mode, .. } = metadata;
    FileAttributes { uid: Some(uid), gid: Some(gid), mode: Some(mode & 0o7777) }
}

/// Reads the description of a backup. Earlier versions wrote none, and one that others can write is ignored.
fn metadata(directory: &Directory, name: &str) -> Option<BackupMetadata> {
    let name = format!("{name}{BACKUP_METADATA_ENDING}");
    directory.only_ours(&name).ok()?;
    let mut bytes = Vec::new();
    directory.read(&name).ok()?.take(MAX_METADATA_BYTES).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Name of a backup: the stem, the time, and a number if the second has several backups.
#[derive(Debug, PartialEq, Eq)]
struct ParsedName<'n> {
    stem: &'n str,
    version: &'n str,
    seconds: u64,
    number: u32,
}

impl<'n> ParsedName<'n> {
    fn of(name: &'n str) -> Option<Self> {
        let (stem, seconds) = name.rsplit_once('.')?;
        if is_stem(stem) {
            return Some(Self { stem, version: seconds, seconds: digits(seconds)?, number: 1 });
        }
        let (stem, version) = name.match_indices('.').rev().nth(1).map(|(at, _)| name.split_at(at))?;
        let version = &version[1..];
        let (seconds, number) = version.split_once('.')?;
        let number = digits(number)?.try_into().ok()?;
        is_stem(stem).then_some(())?;
        Some(Self { stem, version, seconds: digits(seconds)?, number })
    }
}

/// Returns `true` for a text that ends with the checksum of a path.
fn is_stem(text: &str) -> bool {
    let is_hash = |end: &str| end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
    text == ANONYMOUS
        || text.rsplit_once('.').is_some_and(|(slug, end)| !slug.starts_with('.') && is_hash(end))
}

fn digits(text: &str) -> Option<u64> {
    let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    // A greater number of seconds would overflow the clock.
    (number <= 253_402_300_799).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_backups_are_read() {
        let of = |name| ParsedName::of(name).map(|parsed| (parsed.stem, parsed.version, parsed.number));
        for (name, expected) in [
            ("etc-a.conf.0123abcd.1700000000", Some(("etc-a.conf.0123abcd", "1700000000", 1))),
            ("etc-a.conf.0123abcd.1700000000.2", Some(("etc-a.conf.0123abcd", "1700000000.2", 2))),
            ("etc-a.12345678.1700000000.12", Some(("etc-a.12345678", "1700000000.12", 12))),
            ("secret-path.7", Some(("secret-path", "7", 1))),
            ("secret-path.7.2", Some(("secret-path", "7.2", 2))),
            ("etc-a.conf.0123abcd.1700000000.json", None),
            (".etc-a.conf.0123abcd.ccm-new", None),
            ("notes.txt", None),
            ("etc-a.0123abcd.99999999999999999999", None),
            ("etc-a.0123abcd.-1", None),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
    }

    #[test]
    fn backups_are_pruned_by_number_and_by_age() {
        let backup = |stem: &str, seconds: u64| Backup {
            path: None,
            name: format!("{stem}{seconds}"),
            version: seconds.to_string(),
            at: UNIX_EPOCH + Duration::from_secs(seconds),
            size: 0,
            stem: stem.to_owned(),
            number: 1,
            attributes: FileAttributes::default(),
        };
        let all = vec![backup("a", 40), backup("b", 35), backup("a", 30), backup("a", 20), backup("b", 10)];
        for (keep, before, expected) in [
            (None, None, ""),
            (Some(1), None, "a30 a20 b10"),
            (Some(0), None, "a40 b35 a30 a20 b10"),
            (None, Some(30), "a20 b10"),
            (Some(1), Some(20), "b10"),
        ] {
            let before = before.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
            let removed = prunable(all.clone(), PruneOptions { keep, before });
            let names: Vec<&str> = removed.iter().map(|backup| &*backup.name).collect();
            assert_eq!(names.join(" "), expected);
        }
    }
}
