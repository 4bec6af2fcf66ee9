//! Words of the shell, in parts and as they are shown.

use std::borrow::Cow;
use std::collections::VecDeque;

use ccm_shell::{ShellSpan, ShellWord, UnknownOrigin, WordPiece};

use crate::analysis::AnalysedWord;

/// Maximum number of words for which a word of loop variables may stand.
const MAX_WORDS: usize = 64;

/// Name of a part that is not known: an argument of a command that comes from standard input. No variable has such a name.
pub(super) const INPUT: &str = "<standard input>";

/// Name of a part that is not known, in place of names of files that a command prints.
pub(super) const FILE_NAMES: &str = "<names of files>";

/// Beginning of the name of a part that is not known: the path of a file that the text itself makes with `mktemp`. What
/// follows is how the part is shown and, behind a NUL, the beginning of the path.
pub(super) const TEMPORARY: &str = "<temporary file>";

/// Returns a word as it is shown.
pub(super) fn shown(word: &ShellWord) -> AnalysedWord {
    if let Some(text) = word.text() {
        return AnalysedWord { shown: text.into_owned(), is_known: true };
    }
    let mut shown = String::new();
    for piece in &word.pieces {
        match piece {
            WordPiece::Text { text, .. } => shown += text,
            WordPiece::Pattern(character) => shown.push(*character),
            WordPiece::Unknown { origin, .. } => match origin {
                UnknownOrigin::Variable(name) if name.starts_with(['<', '{', '…']) => {
                    let name = name.strip_prefix(TEMPORARY).unwrap_or(name);
                    shown += name.split_once('\0').map_or(name, |(shown, _)| shown);
                }
                UnknownOrigin::Variable(name)
                | UnknownOrigin::Listed { name, .. }
                | UnknownOrigin::Stored { name, .. } => {
                    shown += &format!("${name}");
                }
                UnknownOrigin::Output(_) => shown += "$(…)",
                UnknownOrigin::Process(_) => shown += "<(…)",
                UnknownOrigin::Number => shown += "$((…))",
                UnknownOrigin::Home(user) => shown += &format!("~{user}"),
                UnknownOrigin::Braces => shown += "{…}",
            },
        }
    }
    AnalysedWord { shown, is_known: false }
}

/// Returns a word without its first bytes, which have to be known.
pub(crate) fn without_prefix(word: &ShellWord, length: usize) -> ShellWord {
    let mut left = length;
    let mut pieces = Vec::new();
    for piece in &word.pieces {
        match piece {
            WordPiece::Text { text, is_quoted } if left > 0 => {
                let cut = left.min(text.len());
                left -= cut;
                match text.get(cut..) {
                    Some("") | None => {}
                    Some(rest) => {
                        pieces.push(WordPiece::Text { text: rest.to_owned(), is_quoted: *is_quoted });
                    }
                }
            }
            piece => pieces.push(piece.clone()),
        }
    }
    ShellWord { pieces, span: word.span }
}

/// Returns a word of text that is not known.
pub(super) fn unknown(name: &str, span: ShellSpan) -> ShellWord {
    let origin = UnknownOrigin::Variable(name.to_owned());
    ShellWord { pieces: vec![WordPiece::Unknown { origin, is_many: true }], span }
}

/// Returns a word in which a placeholder, such as `{}`, is replaced by other pieces.
pub(super) fn replaced(word: &ShellWord, placeholder: &str, by: &ShellWord) -> ShellWord {
    let mut pieces = Vec::new();
    for piece in &word.pieces {
        let WordPiece::Text { text, is_quoted } = piece else {
            pieces.push(piece.clone());
            continue;
        };
        for (number, part) in text.split(placeholder).enumerate() {
            if number > 0 {
                pieces.extend(by.pieces.iter().cloned());
            }
            if !part.is_empty() {
                pieces.push(WordPiece::Text { text: part.to_owned(), is_quoted: *is_quoted });
            }
        }
    }
    ShellWord { pieces, span: word.span }
}

/// Returns the text of a word with a letter for each part that is not known.
pub(super) fn with_placeholders(word: &ShellWord) -> String {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            WordPiece::Text { text: known, .. } => text += known,
            WordPiece::Pattern(character) => text.push(*character),
            WordPiece::Unknown { .. } => text.push('x'),
        }
    }
    text
}

/// Returns the text of a word with a digit for each number that is not known; `None` if another part is not known.
pub(super) fn with_digits(word: &ShellWord) -> Option<String> {
    let piece = |piece: &WordPiece| match piece {
        WordPiece::Text { text, .. } => Some(text.clone()),
        WordPiece::Unknown { origin: UnknownOrigin::Number, is_many: false } => Some("1".to_owned()),
        WordPiece::Pattern(_) | WordPiece::Unknown { .. } => None,
    };
    word.pieces.iter().map(piece).collect()
}

/// Joins words with blanks to the text of a shell; `None` if a part is not known.
pub(super) fn joined(words: &[ShellWord]) -> Option<String> {
    let texts: Option<Vec<Cow<'_, str>>> = words.iter().map(ShellWord::text).collect();
    texts.map(|texts| texts.join(" "))
}

/// Returns the words that a word stands for, with each value of the variables of loops. `None` if a value is split, so that
/// a part of it may be a word, and if there are too many.
pub(super) fn listed_words(word: &ShellWord) -> Option<Vec<ShellWord>> {
    let mut done = Vec::new();
    let mut left = VecDeque::from([word.clone()]);
    while let Some(word) = left.pop_front() {
        let listed = word.pieces.iter().enumerate().find_map(|(position, piece)| match piece {
            WordPiece::Unknown { origin: UnknownOrigin::Listed { words, .. }, is_many } => {
                Some((position, words.clone(), *is_many))
            }
            _ => None,
        });
        let Some((position, values, is_many)) = listed else {
            done.push(word);
            continue;
        };
        if done.len() + left.len() + values.len() > MAX_WORDS {
            return None;
        }
        for value in values.iter() {
            if is_many && value.pieces.iter().any(is_split) {
                return None;
            }
            let mut inner = word.clone();
            inner.pieces.splice(position..=position, value.pieces.iter().cloned());
            left.push_back(inner);
        }
    }
    Some(done)
}

/// Returns `true` for a piece of a value that becomes several words without quotes.
fn is_split(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::Text { text, .. } if text.contains([' ', '\t', '\n']))
}

/// Returns `true` for a word with the variable of a loop over patterns that is not in quotes: a name with a blank becomes
/// several words, of which only the first lies where the pattern looks.
pub(super) fn may_split_names(word: &ShellWord) -> bool {
    let is_pattern = |piece: &WordPiece| matches!(piece, WordPiece::Pattern(_));
    word.pieces.iter().any(|piece| match piece {
        WordPiece::Unknown { origin: UnknownOrigin::Listed { words, .. }, is_many: true } => {
            words.iter().any(|word| word.pieces.iter().any(is_pattern))
        }
        _ => false,
    })
}
