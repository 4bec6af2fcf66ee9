//! Files that a text itself makes with `mktemp`: their names are not known, and nothing else has them.

use std::borrow::Cow;
use std::ops::Range;

use ccm_shell::{ShellCommand, ShellReading, ShellWord, UnknownOrigin, WordPiece};

use super::printed_numbers::is_plain;
use super::shell_words::{self, TEMPORARY};
use super::{Analyser, CommandContext};

/// Returns `true` for a word that is the path of a file which the text itself has made, and nothing more: `"$tmp"`. It is
/// empty if the file could not be made, so that `"$tmp/x"` may be any path.
pub(super) fn is_temporary(word: &ShellWord) -> bool {
    temporary_beginning(word).is_some()
}

/// Returns the beginning of the path of a file that the text itself has made, for rules. It is empty if it is not known.
pub(super) fn temporary_beginning(word: &ShellWord) -> Option<&str> {
    let is_empty = |piece: &&WordPiece| matches!(piece, WordPiece::Text { text, .. } if text.is_empty());
    let mut pieces = word.pieces.iter().filter(|piece| !is_empty(piece));
    match (pieces.next(), pieces.next()) {
        (Some(WordPiece::Unknown { origin: UnknownOrigin::Variable(name), is_many: false }), None) => {
            name.strip_prefix(TEMPORARY)?.split_once('\0').map(|(_, beginning)| beginning)
        }
        _ => None,
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
            } => self.made_temporary_file(range, &reading.commands, context),
            _ => None,
        };
        if !word.pieces.iter().any(|piece| made(piece).is_some()) {
            return Cow::Borrowed(word);
        }
        let mut marked = word.clone();
        for piece in &mut marked.pieces {
            let Some(beginning) = made(piece) else { continue };
            let alone = ShellWord { pieces: vec![piece.clone()], span: word.span };
            let name = format!("{TEMPORARY}{}\0{beginning}", shell_words::shown(&alone).shown);
            *piece = WordPiece::Unknown { origin: UnknownOrigin::Variable(name), is_many: false };
        }
        Cow::Owned(marked)
    }

    /// Returns the beginning of the path that a range of commands makes, if it is one call of `mktemp` that makes a file or
    /// directory of a new name. It is empty if the path is relative.
    fn made_temporary_file(
        &self,
        range: &Range<usize>,
        commands: &[ShellCommand],
        context: &CommandContext,
    ) -> Option<String> {
        let [command] = commands.get(range.clone())? else { return None };
        let texts: Vec<Cow<'_, str>> = command.words.iter().map(ShellWord::text).collect::<Option<_>>()?;
        let (name, arguments) = texts.split_first()?;
        if name != "mktemp" {
            return None;
        }
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
        let makes = is_plain(command)
            && arguments.iter().all(|text| is_known(text))
            && is_trusted
            && !commands.iter().any(names_directory);
        let template = arguments.iter().find(|text| is_template(text));
        let beginning = template.map_or_else(
            || {
                let directory = self.request.variable("TMPDIR").filter(|path| path.starts_with('/'));
                format!("{}/tmp.", directory.unwrap_or("/tmp").trim_end_matches('/'))
            },
            |template| template.split("XXX").next().unwrap_or_default().to_owned(),
        );
        makes.then(|| if beginning.starts_with('/') { beginning } else { String::new() })
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
