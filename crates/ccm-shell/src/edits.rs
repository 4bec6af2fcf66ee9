//! Values that an expansion edits: `${name%.txt}`, `${name##*/}`, `${name// /_}` and `${name,,}`.

use crate::reading::{ShellWord, WordPiece};
use crate::state::VariableValue;
use crate::tree::ValueEdit;

/// Pattern of an edit, as far as it is followed.
enum EditPattern {
    /// `.txt`
    Text(String),
    /// `.*`
    TextThenAny(String),
    /// `*/`
    AnyThenText(String),
}

/// Returns a value after an edit; `None` if it is not known. The operands are those of the edit.
pub(crate) fn edited(
    value: &VariableValue,
    edit: ValueEdit,
    operands: &[ShellWord],
) -> Option<VariableValue> {
    match value {
        VariableValue::Text(text) => edited_text(text, edit, operands).map(VariableValue::Text),
        VariableValue::Listed(words) => {
            let words: Option<Vec<ShellWord>> =
                words.iter().map(|word| edited_word(word, edit, operands)).collect();
            words.map(|words| VariableValue::Listed(words.into()))
        }
        VariableValue::Number | VariableValue::Printed(_) => None,
    }
}

fn edited_text(text: &str, edit: ValueEdit, operands: &[ShellWord]) -> Option<String> {
    use EditPattern::{AnyThenText, Text, TextThenAny};
    Some(match edit {
        ValueEdit::WithoutEnd { longest } => match pattern(operands)? {
            Text(end) => text.strip_suffix(&*end).unwrap_or(text).to_owned(),
            TextThenAny(part) => {
                let at = if longest { text.find(&*part) } else { text.rfind(&*part) };
                at.map_or(text, |at| text.get(..at).unwrap_or_default()).to_owned()
            }
            AnyThenText(_) => return None,
        },
        ValueEdit::WithoutBeginning { longest } => match pattern(operands)? {
            Text(beginning) => text.strip_prefix(&*beginning).unwrap_or(text).to_owned(),
            AnyThenText(part) => {
                let at = if longest { text.rfind(&*part) } else { text.find(&*part) };
                at.map_or(text, |at| text.get(at + part.len()..).unwrap_or_default()).to_owned()
            }
            TextThenAny(_) => return None,
        },
        ValueEdit::Replaced { all } => {
            let (from, to) = replacement(operands)?;
            if all { text.replace(&*from, &to) } else { text.replacen(&*from, &to, 1) }
        }
        // Other letters depend on the locale.
        ValueEdit::LowerCase if text.is_ascii() && operands.iter().all(is_empty) => text.to_ascii_lowercase(),
        ValueEdit::UpperCase if text.is_ascii() && operands.iter().all(is_empty) => text.to_ascii_uppercase(),
        ValueEdit::LowerCase | ValueEdit::UpperCase | ValueEdit::Other => return None,
    })
}

/// Edits a word with patterns, which stands for paths that match it. The edited one matches all edited paths.
fn edited_word(word: &ShellWord, edit: ValueEdit, operands: &[ShellWord]) -> Option<ShellWord> {
    if let Some(text) = word.text() {
        return edited_text(&text, edit, operands).map(|text| ShellWord::known(text, word.span));
    }
    // A class matches certain characters, which an edit may change.
    let is_class = |piece: &WordPiece| matches!(piece, WordPiece::Pattern('['));
    if word.has_unknown() || word.pieces.iter().any(is_class) {
        return None;
    }
    let pieces = match edit {
        ValueEdit::WithoutEnd { longest: false } => without_end(&word.pieces, &pattern(operands)?)?,
        ValueEdit::WithoutEnd { longest: true } => match pattern(operands)? {
            pattern @ EditPattern::Text(_) => without_end(&word.pieces, &pattern)?,
            _ => return None,
        },
        ValueEdit::WithoutBeginning { longest: true } => match pattern(operands)? {
            EditPattern::AnyThenText(part) if part == "/" => name_of(&word.pieces),
            _ => return None,
        },
        ValueEdit::Replaced { all: true } => {
            let (from, to) = replacement(operands)?;
            // A name must not become a path, `..` or an option.
            let is_other = to.is_empty() || to.contains(['/', '.']) || to.starts_with('-');
            if from.chars().count() != 1 || from == "/" || is_other {
                return None;
            }
            mapped(&word.pieces, |text| text.replace(&*from, &to))
        }
        ValueEdit::LowerCase if operands.iter().all(is_empty) => {
            mapped(&word.pieces, str::to_ascii_lowercase)
        }
        ValueEdit::UpperCase if operands.iter().all(is_empty) => {
            mapped(&word.pieces, str::to_ascii_uppercase)
        }
        _ => return None,
    };
    Some(ShellWord { pieces, span: word.span })
}

fn without_end(pieces: &[WordPiece], pattern: &EditPattern) -> Option<Vec<WordPiece>> {
    match pattern {
        EditPattern::Text(end) => {
            let (last, before) = pieces.split_last()?;
            let WordPiece::Text { text, is_quoted } = last else { return None };
            if let Some(kept) = text.strip_suffix(&**end) {
                return Some(with_text(before, kept, *is_quoted));
            }
            // What the pattern before the text matches may hold the rest of the end.
            (!end.ends_with(&**text)).then(|| pieces.to_vec())
        }
        EditPattern::TextThenAny(part) if part == "/" => {
            // No pattern but `**` matches a slash.
            let position = pieces.iter().rposition(has_slash)?;
            let behind = pieces.get(position + 1..).unwrap_or_default();
            let WordPiece::Text { text, is_quoted } = pieces.get(position)? else { return None };
            let kept = text.rfind('/').and_then(|at| text.get(..at))?;
            (!has_deep_pattern(behind))
                .then(|| with_text(pieces.get(..position).unwrap_or_default(), kept, *is_quoted))
        }
        EditPattern::TextThenAny(part) => {
            let (last, before) = pieces.split_last()?;
            let WordPiece::Text { text, is_quoted } = last else { return None };
            let kept = text.rfind(&**part).and_then(|at| text.get(..at))?;
            Some(with_text(before, kept, *is_quoted))
        }
        EditPattern::AnyThenText(_) => None,
    }
}

/// Returns what stands behind the last slash.
fn name_of(pieces: &[WordPiece]) -> Vec<WordPiece> {
    let Some(position) = pieces.iter().rposition(has_slash) else { return pieces.to_vec() };
    let mut name = Vec::new();
    if let Some(WordPiece::Text { text, is_quoted }) = pieces.get(position) {
        let behind = text.rsplit('/').next().unwrap_or_default();
        name = with_text(&[], behind, *is_quoted);
    }
    name.extend(pieces.get(position + 1..).unwrap_or_default().iter().cloned());
    name
}

fn with_text(before: &[WordPiece], text: &str, is_quoted: bool) -> Vec<WordPiece> {
    let mut pieces = before.to_vec();
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(WordPiece::Text { text: text.to_owned(), is_quoted });
    }
    pieces
}

fn mapped(pieces: &[WordPiece], edit: impl Fn(&str) -> String) -> Vec<WordPiece> {
    let edited = |piece: &WordPiece| match piece {
        WordPiece::Text { text, is_quoted } => WordPiece::Text { text: edit(text), is_quoted: *is_quoted },
        piece => piece.clone(),
    };
    pieces.iter().map(edited).collect()
}

fn has_slash(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::Text { text, .. } if text.contains('/'))
}

/// Returns `true` for pieces with `**`, which matches slashes if an option of bash is on.
fn has_deep_pattern(pieces: &[WordPiece]) -> bool {
    pieces.windows(2).any(|pair| matches!(pair, [WordPiece::Pattern('*'), WordPiece::Pattern('*')]))
}

fn is_empty(word: &ShellWord) -> bool {
    word.text().is_some_and(|text| text.is_empty())
}

/// Returns the pattern that the only operand of an edit is.
fn pattern(operands: &[ShellWord]) -> Option<EditPattern> {
    let [operand] = operands else { return None };
    let text = operand.text()?;
    if text.is_empty() {
        return None;
    }
    let is_special = |piece: &WordPiece| matches!(piece, WordPiece::Text { text, is_quoted: false } if text.contains(['*', '?', '[', '\\']));
    if !operand.pieces.iter().any(is_special) {
        return Some(EditPattern::Text(text.into_owned()));
    }
    let [WordPiece::Text { text, is_quoted: false }] = &*operand.pieces else { return None };
    let is_plain = |text: &&str| !text.is_empty() && !text.contains(['*', '?', '[', '\\']);
    if let Some(part) = text.strip_suffix('*').filter(is_plain) {
        return Some(EditPattern::TextThenAny(part.to_owned()));
    }
    text.strip_prefix('*').filter(is_plain).map(|part| EditPattern::AnyThenText(part.to_owned()))
}

/// Returns the text that a replacement looks for, and the one that it writes.
fn replacement(operands: &[ShellWord]) -> Option<(String, String)> {
    let (from, to) = match operands {
        [from] => (from, String::new()),
        [from, to] => (from, to.text()?.into_owned()),
        _ => return None,
    };
    let EditPattern::Text(from) = pattern(std::slice::from_ref(from))? else { return None };
    // `&` stands for what was found.
    (!to.contains(['&', '\\'])).then_some((from, to))
}
