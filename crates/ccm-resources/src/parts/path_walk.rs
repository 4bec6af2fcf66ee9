//! The way to a path: its links, and the directories above it that are missing.

use std::path::{Path, PathBuf};

use ccm_host::{FileAttributes, FileError, FileKind, Files, InspectOptions, PathTrust};
use ccm_model::{Failure, MissingPrerequisite};

use crate::support::file_failure::file_failure;

/// Rules for a path that a program of the system gets, which opens the path itself.
pub(crate) const FOR_PROGRAM: PathTrust = PathTrust { follow_last: false, directories: true, user: None };

/// Path after the walk to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WalkedPath {
    /// The path without links; as it is written if it can't be resolved.
    pub real: PathBuf,
    /// Failure of using the path, because a stranger could lead ccm or the program elsewhere.
    pub refusal: Option<Failure>,
}

impl WalkedPath {
    /// Walks to a path. Every other error is left to the use of the path.
    pub(crate) fn of(path: &Path, trust: PathTrust, files: &dyn Files) -> Self {
        let error = match files.trusted_path(path, trust) {
            Ok(found) => return Self { real: found.path, refusal: None },
            Err(error) => error,
        };
        let is_strangers = matches!(
            error,
            FileError::UntrustedLink { .. }
                | FileError::StrangersDirectory { .. }
                | FileError::OpenDirectory { .. }
                | FileError::WritableDirectory { .. }
                | FileError::Changed(_)
        );
        Self { real: path.to_owned(), refusal: is_strangers.then(|| file_failure(&error)) }
    }
}

/// Returns a path without links; as it is written if it can't be resolved.
pub(crate) fn real_path(path: &Path, files: &dyn Files) -> PathBuf {
    WalkedPath::of(path, PathTrust { follow_last: true, ..PathTrust::default() }, files).real
}

/// Returns the missing directories above a path, the outermost first. `would_be` is true for a directory that
/// an earlier resource in noop would have made.
pub(crate) fn missing_parents(
    path: &Path,
    files: &dyn Files,
    would_be: impl Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, Failure> {
    let mut missing = Vec::new();
    for parent in path.ancestors().skip(1) {
        if would_be(parent) {
            break;
        }
        let found = files.inspect(parent, InspectOptions::default()).map_err(|error| file_failure(&error))?;
        match found.target.map(|target| target.kind) {
            Some(FileKind::Directory { .. }) => break,
            None if !found.link => missing.push(parent.to_owned()),
            None => return Err(obstacle(parent, "a symbolic link that leads to no directory")),
            Some(FileKind::File) => return Err(obstacle(parent, "a file, not a directory")),
            Some(FileKind::Special(what)) => return Err(obstacle(parent, what)),
        }
    }
    missing.reverse();
    Ok(missing)
}

/// Makes the directories, and returns their number. They have mode 0755, owner and group of ccm.
pub(crate) fn make_parents(missing: &[PathBuf], files: &dyn Files) -> Result<usize, Failure> {
    for (made, parent) in missing.iter().enumerate() {
        files.make_directory(parent, FileAttributes::default()).map_err(|error| {
            let failure = file_failure(&error);
            Failure { changed: failure.changed || made > 0, ..failure }
        })?;
    }
    Ok(missing.len())
}

/// Returns the note on directories that were made.
pub(crate) fn parents_note(made: &[PathBuf]) -> Option<String> {
    let names: Vec<String> = made.iter().map(|parent| format!("\"{}\"", parent.display())).collect();
    match &names[..] {
        [] => None,
        [one] => Some(format!("made the missing directory {one} (0755)")),
        [first, .., last] => {
            Some(format!("made {} missing directories (0755), from {first} to {last}", names.len()))
        }
    }
}

fn obstacle(parent: &Path, what: &str) -> Failure {
    let message = format!("\"{}\" is {what}", parent.display());
    Failure::conflict(message)
        .with_missing(MissingPrerequisite::Path(parent.to_owned()))
        .because_of("the directory above it can't be made")
}
