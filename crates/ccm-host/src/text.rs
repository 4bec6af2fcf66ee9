//! Texts from files and standard input.

use std::io;
use std::path::Path;

use ccm_model::{InvalidByte, Location, Position};

/// Name of a text without a path.
pub const STANDARD_INPUT: &str = "standard input";

/// Maximum number of names that are compared with the name of a file that is missing.
const MAX_NAMES: usize = 10_000;

/// Error of reading a text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The text can't be read.
    #[error("{what} {name} can't be read")]
    Read {
        /// Kind of the text, such as `manifest`.
        what: &'static str,
        /// Name of the text.
        name: String,
        /// `true` for a path below the current directory.
        is_relative: bool,
        /// Name beside a file that is missing, which is most like its name.
        nearest: Option<String>,
        /// The reason.
        source: io::Error,
    },
    /// The text is longer than the limit.
    #[error("{what} {name} is longer than {limit} bytes")]
    TooLong {
        /// Kind of the text.
        what: &'static str,
        /// Name of the text.
        name: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The text is not UTF-8.
    #[error("{what} {name} is not UTF-8 text")]
    NotUtf8 {
        /// Kind of the text.
        what: &'static str,
        /// Name of the text.
        name: String,
        /// First byte that is not part of a character.
        source: InvalidByte,
    },
}

/// Reads a file of at most `limit` bytes, or standard input without a path, through a door. Returns its name and its text.
/// `what` names the kind of the text in errors.
pub fn read_text(
    read: impl FnOnce(Option<&Path>, u64) -> io::Result<Vec<u8>>,
    path: Option<&Path>,
    limit: u64,
    what: &'static str,
) -> Result<(String, String), TextError> {
    let name = path.map_or_else(|| STANDARD_INPUT.to_owned(), |path| path.display().to_string());
    let bytes = read(path, limit).map_err(|source| {
        if source.kind() == io::ErrorKind::FileTooLarge {
            return TextError::TooLong { what, name: name.clone(), limit };
        }
        let is_relative = path.is_none_or(Path::is_relative);
        let is_missing = source.kind() == io::ErrorKind::NotFound;
        let nearest = path.filter(|_| is_missing).and_then(nearest_name);
        TextError::Read { what, name: name.clone(), is_relative, nearest, source }
    })?;
    match decoded(bytes) {
        Ok(text) => Ok((name, text)),
        Err(source) => Err(TextError::NotUtf8 { what, name, source }),
    }
}

/// Returns the name in the directory of a path that is most like the name of the path.
fn nearest_name(path: &Path) -> Option<String> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(directory).ok()?.take(MAX_NAMES);
    let names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let name = path.file_name()?.to_str()?;
    let with_ending = |ending: &str| names.iter().find(|known| known.strip_suffix(ending) == Some(name));
    if let Some(known) = [".yaml", ".yml"].into_iter().find_map(with_ending) {
        return Some(known.clone());
    }
    ccm_model::closest(name, names.iter().map(String::as_str)).map(str::to_owned)
}

impl TextError {
    /// Returns the location of the error in the text, if it has one.
    pub fn location(&self) -> Option<Location> {
        let Self::NotUtf8 { name, source: InvalidByte { position, .. }, .. } = self else { return None };
        Some(Location { file: name.clone(), line: position.line, column: position.column })
    }
}

/// Returns bytes as text, or the first byte that is not part of a character.
fn decoded(bytes: Vec<u8>) -> Result<String, InvalidByte> {
    String::from_utf8(bytes).map_err(|error| {
        // A text that can't be decoded has such a byte.
        let start = InvalidByte { position: Position { line: 1, column: 1 }, byte: 0 };
        InvalidByte::find(error.as_bytes()).unwrap_or(start)
    })
}

/// Returns the bytes of a file as text.
pub fn file_text(bytes: Vec<u8>) -> io::Result<String> {
    decoded(bytes)
        .map_err(|byte| io::Error::new(io::ErrorKind::InvalidData, format!("it is not UTF-8 text: {byte}")))
}
