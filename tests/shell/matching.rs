//! Comparison of what was started with what was read.

use ccm_shell::{DoubtKind, ShellCommand, ShellReading, ShellWord, WordPiece};

/// Start of a program, as it recorded itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) directory: String,
    /// Program and arguments.
    pub(crate) words: Vec<String>,
}

/// Returns `true` if the reading says that it does not know all programs.
pub(crate) fn has_unknown(reading: &ShellReading) -> bool {
    reading.commands.iter().any(|command| {
        let is_unknown =
            command.words.first().is_some_and(|program| program.is_many() || program.text().is_none());
        is_unknown || command.doubts.iter().any(|doubt| doubt.kind != DoubtKind::ForkBomb)
    })
}

/// Returns `true` if a command of the reading is this start.
pub(crate) fn is_named(reading: &ShellReading, started: &Started) -> bool {
    reading.commands.iter().any(|command| is_start(command, started))
}

fn is_start(command: &ShellCommand, started: &Started) -> bool {
    let directories = &command.directories;
    let is_place = directories.is_unknown || directories.paths.contains(&started.directory);
    is_place && matches(&command.words, &started.words)
}

/// Returns `true` if words can become these texts.
fn matches(words: &[ShellWord], texts: &[String]) -> bool {
    let Some((word, rest)) = words.split_first() else { return texts.is_empty() };
    if word.is_many() {
        return (0..=texts.len()).any(|taken| {
            let fits = taken != 1 || may_be(word, &texts[0]);
            fits && matches(rest, &texts[taken..])
        });
    }
    texts.split_first().is_some_and(|(text, others)| may_be(word, text) && matches(rest, others))
}

/// Returns `true` if a word can become a text.
fn may_be(word: &ShellWord, text: &str) -> bool {
    fn pieces(rest: &[WordPiece], text: &str) -> bool {
        match rest.split_first() {
            None => text.is_empty(),
            Some((WordPiece::Text { text: piece, .. }, rest)) => {
                text.strip_prefix(piece.as_str()).is_some_and(|text| pieces(rest, text))
            }
            // The text up to `]` belongs to the pattern.
            Some((WordPiece::Pattern('['), _)) => true,
            Some((WordPiece::Pattern(_) | WordPiece::Unknown { .. }, rest)) => {
                text.char_indices().any(|(at, _)| pieces(rest, &text[at..])) || pieces(rest, "")
            }
        }
    }
    pieces(&word.pieces, text)
}
