//! Missing directories above a directory.

use std::path::{Path, PathBuf};

use ccm_host::{FileAttributes, FileKind, Files, InspectOptions};
use ccm_model::{Failure, FailureKind, MissingPrerequisite};

use crate::support::file_failure::file_failure;

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
    Failure::new(FailureKind::Conflict, message)
        .with_missing(MissingPrerequisite::Path(parent.to_owned()))
        .because_of("the directory above it can't be made")
}
