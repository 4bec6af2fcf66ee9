//! Command lines to words: with the quotes of a shell, without its expansions.

use std::str::Chars;

/// Characters that separate words or quote a part of one.
const SPECIAL: [char; 6] = [' ', '\t', '\n', '\\', '\'', '"'];

/// Kind of a [`SplitError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitErrorKind {
    /// A `'` without an end.
    #[error("Unterminated single quote")]
    SingleQuote,
    /// A `"` without an end.
    #[error("Unterminated double quote")]
    DoubleQuote,
    /// A `\` at the end.
    #[error("Unterminated backslash escape")]
    Backslash,
}

/// Error in a command line: a quote or an escape without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SplitError {
    /// Kind of the error.
    pub kind: SplitErrorKind,
    /// Offset in bytes of the quote or backslash.
    pub at: usize,
}

/// Splits a command line into words.
///
/// Blanks, tabs and line ends separate words. Single quotes keep everything; double quotes keep everything
/// but a backslash before `$`, `` ` ``, `"`, `\` or a line end; elsewhere a backslash keeps the next
/// character. A backslash before a line end joins the lines. Nothing is expanded, and `#` starts no comment.
pub fn split_words(text: &str) -> Result<Vec<String>, SplitError> {
    Ok(scan(text)?.into_iter().map(|word| word.text).collect())
}

/// Joins words to a command line that splits into them again. Words that need quotes get single ones.
pub fn quote_words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let is_plain = |part: char| part.is_alphanumeric() || "-_=/,.:@%+".contains(part);
    let quote = |word: &'w str| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

pub(crate) struct Word {
    pub(crate) text: String,
    /// Offset of the first byte.
    pub(crate) at: usize,
    /// Offset after the last byte. A continued line may be in between.
    pub(crate) end: usize,
    /// `true` if a line end is before the word.
    pub(crate) begins_line: bool,
}

/// Splits a command line into words with their locations.
pub(crate) fn scan(text: &str) -> Result<Vec<Word>, SplitError> {
    let mut words = Vec::new();
    // `None` between words, so that `''` is an empty word and a blank is none.
    let mut word: Option<Word> = None;
    let mut begins_line = false;
    let mut characters = text.chars();
    let offset = |rest: &Chars<'_>| text.len() - rest.as_str().len();
    while let (at, Some(character)) = (offset(&characters), characters.next()) {
        if matches!(character, ' ' | '\t' | '\n') {
            words.extend(word.take());
            begins_line |= character == '\n';
            continue;
        }
        let escaped = match character {
            '\\' => match characters.next() {
                Some('\n') => continue,
                Some(escaped) => Some(escaped),
                None => return Err(SplitError { kind: SplitErrorKind::Backslash, at }),
            },
            _ => None,
        };
        let word = word.get_or_insert_with(|| Word {
            text: String::new(),
            at,
            end: at,
            begins_line: std::mem::take(&mut begins_line),
        });
        match (character, escaped) {
            (_, Some(escaped)) => word.text.push(escaped),
            ('\'', _) => loop {
                match characters.next() {
                    Some('\'') => break,
                    Some(quoted) => word.text.push(quoted),
                    None => return Err(SplitError { kind: SplitErrorKind::SingleQuote, at }),
                }
            },
            ('"', _) => double_quoted(&mut characters, at, &mut word.text)?,
            _ => {
                // Most words have no quotes, and are copied at once.
                let (plain, rest) = match text[at..].find(SPECIAL) {
                    Some(length) => text[at..].split_at(length),
                    None => (&text[at..], ""),
                };
                word.text.push_str(plain);
                characters = rest.chars();
            }
        }
        word.end = offset(&characters);
    }
    words.extend(word);
    Ok(words)
}

fn double_quoted(characters: &mut Chars<'_>, at: usize, word: &mut String) -> Result<(), SplitError> {
    let unterminated = SplitError { kind: SplitErrorKind::DoubleQuote, at };
    loop {
        match characters.next().ok_or(unterminated)? {
            '"' => return Ok(()),
            '\\' => match characters.next().ok_or(unterminated)? {
                '\n' => {}
                escaped @ ('$' | '`' | '"' | '\\') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            quoted => word.push(quoted),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quoting_follows_the_posix_shell() {
        for (text, words) in [
            ("echo hello world", &["echo", "hello", "world"][..]),
            ("echo 'hello world'", &["echo", "hello world"]),
            ("echo \"hello world\"", &["echo", "hello world"]),
            (r"echo hello\ world", &["echo", "hello world"]),
            ("echo \"it's a test\"", &["echo", "it's a test"]),
            ("  a\t b\n", &["a", "b"]),
            ("", &[]),
            ("''", &[""]),
            ("a''b", &["ab"]),
            (r#""a\"b\\c\d""#, &[r#"a"b\c\d"#]),
            ("a\\\nb", &["ab"]),
            ("a \\\n b", &["a", "b"]),
            ("\"a\\\nb\"", &["ab"]),
            ("echo a # b", &["echo", "a", "#", "b"]),
            ("echo $HOME *.txt $(id) ~", &["echo", "$HOME", "*.txt", "$(id)", "~"]),
            ("echo 'ä ö'", &["echo", "ä ö"]),
        ] {
            assert_eq!(
                split_words(text).as_deref(),
                Ok(words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>().as_slice()),
                "{text}"
            );
        }
    }

    #[test]
    fn an_unterminated_quote_is_an_error_with_its_offset() {
        for (text, message, at) in [
            ("echo 'a b", "Unterminated single quote", 5),
            ("echo ä \"a b", "Unterminated double quote", 8),
            ("echo \"a\\", "Unterminated double quote", 5),
            ("echo a\\", "Unterminated backslash escape", 6),
        ] {
            let error = split_words(text).expect_err(text);
            assert_eq!((error.to_string().as_str(), error.at), (message, at), "{text}");
        }
    }

    proptest! {
        // Two differences are intended: the oracle reads ` #` as a comment, and keeps a backslash at the end.
        #[test]
        fn words_are_those_of_the_oracle(text in r#"[ab \t\n'"\\$`ä]{0,24}"#) {
            match (split_words(&text), shell_words::split(&text)) {
                (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
                (Err(_), Err(_)) | (Err(SplitError { kind: SplitErrorKind::Backslash, .. }), Ok(_)) => {}
                (ours, theirs) => prop_assert!(false, "{:?}: ours {:?}, theirs {:?}", text, ours, theirs),
            }
        }

        #[test]
        fn quoted_words_come_back(words in prop::collection::vec(".{0,8}", 0..6)) {
            let words: Vec<String> = words;
            prop_assert_eq!(split_words(&shell_words::join(&words)), Ok(words.clone()));
            prop_assert_eq!(split_words(&quote_words(words.iter().map(String::as_str))), Ok(words));
        }
    }
}
