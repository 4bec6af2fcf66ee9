//! Exact grammars of what programs read as code or commands in their words.
//!
//! A grammar knows a part of a language. What it does not know it refuses, and never skips: a text that the guard reads
//! differently than the program does hides commands.

mod awk;
mod awk_tokens;
mod brackets;
mod debugger;
mod make;
mod options;
mod perl;
mod sed;
mod split_string;
mod sqlite;
mod statements;

pub(crate) use awk::read_awk;
pub(crate) use debugger::{debugger_action, only_reports};
pub(crate) use make::{MakePiece, read_make};
pub(crate) use options::{ExactArguments, OptionGrammar};
pub(crate) use perl::read_perl_line;
pub(crate) use sed::read_sed;
pub(crate) use split_string::split_string;
pub(crate) use sqlite::{only_reads_sqlite, read_sqlite, read_sqlite_input};
pub(crate) use statements::{read_dc, read_mysql, read_psql, read_psql_input, shell_of_command};

/// Reason for which a text is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NotExact(pub(crate) &'static str);

/// Action of a text. `None` stands for an object that is known only when the program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextAction {
    /// Runs a text in `/bin/sh`.
    Shell(Option<String>),
    /// Runs a text in `/bin/sh`, with what the program prints as its input.
    Piped(Option<String>),
    /// Reads a file.
    Read(Option<String>),
    /// Writes a file.
    Write(Option<String>),
    /// Runs a file in the language of the text.
    Script(Option<String>),
}

#[cfg(test)]
impl TextAction {
    /// Returns actions as tests write them: `sh id, w out`, with `?` for what is not known.
    fn list(actions: &[Self]) -> String {
        let shown = |action: &Self| {
            let (sign, object) = match action {
                Self::Shell(text) => ("sh", text),
                Self::Piped(text) => ("|", text),
                Self::Read(file) => ("r", file),
                Self::Script(file) => ("f", file),
                Self::Write(file) => ("w", file),
            };
            format!("{sign} {}", object.as_deref().unwrap_or("?"))
        };
        actions.iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}
