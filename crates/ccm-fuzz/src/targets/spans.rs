//! What holds of every mistake that is told: its places lie in their texts, and it says something.

use ccm_model::{Diagnostic, SourceMap, escape_control};

/// A message is for people, who read no more than that.
const LONGEST_MESSAGE: usize = 4 << 10;

/// No more mistakes are told of one text and of what belongs to it.
const MOST_MISTAKES: usize = 20_000;

pub(super) fn check(diagnostics: &[Diagnostic], texts: &SourceMap) {
    assert!(diagnostics.len() < MOST_MISTAKES, "{} mistakes", diagnostics.len());
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
        assert_eq!(escape_control(&diagnostic.message), diagnostic.message);
        let hints = diagnostic.hints.iter().map(String::as_str);
        let labels = diagnostic.labels.iter().map(|label| &*label.text);
        for text in hints.chain(labels).chain([&*diagnostic.message]) {
            assert!(text.len() < LONGEST_MESSAGE, "{} bytes: {diagnostic:?}", text.len());
        }
        for label in &diagnostic.labels {
            let source = texts.get(label.span.source).expect("the text of a label");
            assert!(source.text.get(label.span.range()).is_some(), "{diagnostic:?}");
        }
    }
}
