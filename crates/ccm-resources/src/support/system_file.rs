//! Text files of the system, such as `/etc/hosts`: read as a whole, changed in one step.

use std::path::Path;

use ccm_engine::Context;
use ccm_host::{FileAttributes, FileError, FileStep, NewContent, NewFile};
use ccm_model::{Failure, FailureKind};

use crate::support::file_failure::file_failure;
use crate::support::values::canonical_path::directory_of;

/// Maximum size of such a file.
const MAX_FILE: u64 = 64 << 20;

/// Modes of a new file and of its directory.
const NEW_FILE: u32 = 0o644;
const NEW_DIRECTORY: u32 = 0o755;

/// Reads a file; `None` if the file does not exist.
pub(crate) fn read(path: &Path, context: &Context<'_>) -> Result<Option<String>, Failure> {
    let shown = path.display();
    let bytes = match context.host.files.content(path, MAX_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            let message = format!("\"{shown}\" is larger than {} MiB", MAX_FILE >> 20);
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(file_failure(&error)),
    };
    String::from_utf8(bytes).map(Some).map_err(|_| {
        Failure::new(FailureKind::Conflict, format!("\"{shown}\" is not UTF-8 text"))
            .with_hint("convert the file to UTF-8")
    })
}

/// Returns `true` if a file does not exist.
fn is_missing(error: &FileError) -> bool {
    match error {
        FileError::Step { step: FileStep::Read, source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        error => matches!(error, FileError::ParentMissing(_)),
    }
}

/// Replaces a file in one step, unless the file is no longer the one that the decision was made on. The directory is made
/// if it does not exist; the one above it has to exist.
pub(crate) fn write(path: &Path, old: Option<&str>, new: &str, context: &Context<'_>) -> Result<(), Failure> {
    // The state may come from the cache, and the decision on it may have been approved as it is.
    if read(path, context)?.as_deref() != old {
        return Err(file_failure(&FileError::Changed(path.to_owned())));
    }
    let files = context.host.files;
    let directory = directory_of(path);
    if !files.is_directory(directory).unwrap_or(true) {
        let attributes = FileAttributes { mode: Some(NEW_DIRECTORY), ..FileAttributes::default() };
        files.make_directory(directory, attributes).map_err(|error| file_failure(&error))?;
    }
    let attributes = FileAttributes { mode: old.is_none().then_some(NEW_FILE), ..FileAttributes::default() };
    let file = NewFile { content: NewContent::Bytes(new.as_bytes()), attributes };
    files.write(path, &file).map(drop).map_err(|error| file_failure(&error))
}

/// Returns a text with the lines that a function returns for each line: `None` keeps a line as it is, a text replaces the
/// line, an empty text removes it. `added` are lines for the end.
pub(crate) fn edited(
    text: &str,
    mut edit: impl FnMut(&str) -> Option<String>,
    added: impl FnOnce() -> String,
) -> String {
    let mut content = String::with_capacity(text.len() + 128);
    for whole in text.split_inclusive('\n') {
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        match edit(line) {
            None => content.push_str(whole),
            Some(line) if line.is_empty() => {}
            Some(line) => {
                content.push_str(&line);
                content.push('\n');
            }
        }
    }
    let added = added();
    if !added.is_empty() {
        if !content.is_empty() && !content.ends_with('\n') {
            content.push('\n');
        }
        content.push_str(&added);
        content.push('\n');
    }
    content
}

#[cfg(test)]
mod tests {
    use super::edited;

    #[test]
    fn only_edited_lines_change() {
        let edit = |line: &str| match line {
            "b" => Some("B".to_owned()),
            "c" => Some(String::new()),
            _ => None,
        };
        assert_eq!(edited("a\r\nb\nc\nd", edit, String::new), "a\r\nB\nd");
        assert_eq!(edited("a", edit, || "new".to_owned()), "a\nnew\n");
        assert_eq!(edited("", edit, || "new".to_owned()), "new\n");
    }
}
