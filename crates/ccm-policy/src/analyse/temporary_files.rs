//! Files that a text itself makes with `mktemp`: their names are not known, and nothing else has them.

use std::borrow::Cow;
use std::ops::Range;

use ccm_shell::{
    CommandRole, ShellCommand, ShellReading, ShellSearchPath, ShellWord, UnknownOrigin, WordPiece,
};

use super::shell_words::{self, TEMPORARY};
use super::{Analyser, CommandContext};

/// Returns `true` for a word that is the path of a file which the text itself has made, and nothing more: `"$tmp"`. It is
/// empty if the file could not be made, so that `"$tmp/x"` may be any path.
pub(super) fn is_temporary(word: &ShellWord) -> bool {
    let is_empty = |piece: &&WordPiece| matches!(piece, WordPiece::Text { text, .. } if text.is_empty());
    let mut pieces = word.pieces.iter().filter(|piece| !is_empty(piece));
    match (pieces.next(), pieces.next()) {
        (Some(WordPiece::Unknown { origin: UnknownOrigin::Variable(name), is_many: false }), None) => {
            name.starts_with(TEMPORARY)
        }
        _ => false,
    }
}

impl Analyser<'_> {
    /// Returns a word in which each path that `mktemp` has printed is marked.
    pub(super) fn with_temporary_files<'w>(
        &self,
        word: &'w ShellWord,
        reading: &ShellReading,
        context: &CommandContext,
    ) -> Cow<'w, ShellWord> {
        let made = |piece: &WordPiece| match piece {
            WordPiece::Unknown {
                origin: UnknownOrigin::Output(range) | UnknownOrigin::Stored { range, .. },
                is_many: false,
            } => self.makes_temporary_file(range, &reading.commands, context),
            _ => false,
        };
        if !word.pieces.iter().any(made) {
            return Cow::Borrowed(word);
        }
        let mut marked = word.clone();
        for piece in marked.pieces.iter_mut().filter(|piece| made(piece)) {
            let alone = ShellWord { pieces: vec![piece.clone()], span: word.span };
            let name = format!("{TEMPORARY}{}", shell_words::shown(&alone).shown);
            *piece = WordPiece::Unknown { origin: UnknownOrigin::Variable(name), is_many: false };
        }
        Cow::Owned(marked)
    }

    /// Returns `true` if a range of commands is one call of `mktemp` that makes a file or directory of a new name.
    fn makes_temporary_file(
        &self,
        range: &Range<usize>,
        commands: &[ShellCommand],
        context: &CommandContext,
    ) -> bool {
        let Some([command]) = commands.get(range.clone()) else { return false };
        let texts: Option<Vec<Cow<'_, str>>> = command.words.iter().map(ShellWord::text).collect();
        let Some(texts) = texts else { return false };
        let Some(("mktemp", arguments)) = texts.split_first().map(|(name, rest)| (&**name, rest)) else {
            return false;
        };
        let is_template = |text: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
            text.contains("XXX")
                && !text.starts_with('-')
                && text.chars().all(is_plain)
                && text.split('/').all(|part| part != "..")
        };
        let is_known =
            |text: &str| matches!(text, "-d" | "--directory" | "-q" | "--quiet") || is_template(text);
        let is_trusted = self.locate("mktemp", context).is_none_or(|location| location.is_trusted);
        command.role == CommandRole::Program
            && command.assignments.is_empty()
            && command.doubts.is_empty()
            && *command.search_path == ShellSearchPath::Initial
            && arguments.iter().all(|text| is_known(text))
            && is_trusted
            && !commands.iter().any(names_directory)
    }
}

/// Builtins that set variables which their words name.
const SETTERS: [&str; 10] = [
    "declare",
    "export",
    "getopts",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "typeset",
];

/// Returns `true` for a command that may set `TMPDIR`, in which `mktemp` would make its file.
fn names_directory(command: &ShellCommand) -> bool {
    let is_named = |word: &ShellWord| word.known_prefix().contains("TMPDIR");
    // `command read "$name"` sets one as well.
    let is_setter = |word: &ShellWord| word.text().is_some_and(|text| SETTERS.contains(&&*text));
    command.assignments.iter().any(|assignment| assignment.name == "TMPDIR")
        || command.words.iter().any(is_named)
        || command.words.iter().position(is_setter).is_some_and(|at| may_name_directory(&command.words[at..]))
}

/// Returns `true` for a builtin that sets variables, one of which may be `TMPDIR`, since its name is not known.
fn may_name_directory(words: &[ShellWord]) -> bool {
    let may_be = |word: &ShellWord| word.text().is_none() && "TMPDIR".starts_with(&*word.known_prefix());
    match words {
        // The format and what is printed are no names.
        [name, option, rest @ ..] if name.text().as_deref() == Some("printf") => match option.text() {
            Some(option) => option == "-v" && rest.first().is_some_and(may_be),
            None => option.known_prefix().starts_with("-v"),
        },
        [_, names @ ..] => names.iter().any(may_be),
        [] => false,
    }
}
