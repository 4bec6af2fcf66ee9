//! Command lines split into words, compared with another splitter.

use ccm_model::{SplitErrorKind, quote_words, shell_syntax, split_words};

pub(super) const WORDS: &[&str] = &[
    "'", "\"", "\\", "\\\n", " ", "\t", "\n", "#", " # ", "$HOME", "`id`", "''", "\"\"", "2>&1", "; ", "a",
    "\\'", "\\\"",
];

pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    if let Some(found) = shell_syntax(&text) {
        assert!(text.get(found.range.clone()).is_some_and(|found| !found.is_empty()), "{found:?}");
    }
    let ours = split_words(&text);
    match &ours {
        Ok(words) => {
            let quoted = quote_words(words.iter().map(String::as_str));
            assert_eq!(split_words(&quoted).as_ref(), Ok(words), "{quoted:?}");
        }
        Err(error) => {
            assert!(text.as_bytes().get(error.at).is_some_and(|byte| b"'\"\\".contains(byte)), "{error:?}");
        }
    }
    // Two differences are intended: the other splitter has comments, begun by a `#` at the beginning of a
    // word, and takes a backslash at the very end literally.
    let may_comment =
        text.match_indices('#').any(|(at, _)| at == 0 || text[..at].ends_with([' ', '\t', '\n']));
    match (ours, shell_words::split(&text)) {
        (Err(error), Ok(_)) if error.kind == SplitErrorKind::Backslash => {}
        (Ok(ours), Ok(theirs)) if !may_comment => assert_eq!(ours, theirs),
        (ours, theirs) => {
            assert!(may_comment || ours.is_ok() == theirs.is_ok(), "ours {ours:?}, theirs {theirs:?}");
        }
    }
}
