//! Texts from files and standard input.

use std::io;
use std::path::Path;

use crate::input::STANDARD_INPUT;
use crate::session::Session;

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
        /// Location of the first byte that is not part of a character.
        source: InvalidByte,
    },
}

/// Byte that is not part of a UTF-8 character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: byte {offset} is not valid UTF-8")]
pub struct InvalidByte {
    /// Line, counted from 1.
    pub line: usize,
    /// Number of bytes before the invalid one.
    pub offset: usize,
}

impl Session {
    /// Reads a file of at most `limit` bytes, or standard input without a path. Returns its name and its
    /// text. `what` names the kind of the text in errors.
    pub fn read_text(
        &self,
        path: Option<&Path>,
        limit: u64,
        what: &'static str,
    ) -> Result<(String, String), TextError> {
        let name = path.map_or_else(|| STANDARD_INPUT.to_owned(), |path| path.display().to_string());
        let bytes = self.doors.doors.input(path, limit).map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => TextError::TooLong { what, name: name.clone(), limit },
            _ => TextError::Read {
                what,
                name: name.clone(),
                is_relative: path.is_none_or(Path::is_relative),
                source,
            },
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok((name, text)),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                let before = str::from_utf8(&error.as_bytes()[..offset]).unwrap_or_default();
                let source = InvalidByte { line: before.matches('\n').count() + 1, offset };
                Err(TextError::NotUtf8 { what, name, source })
            }
        }
    }
}
