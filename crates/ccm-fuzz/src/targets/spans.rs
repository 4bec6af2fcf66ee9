//! Invariants of diagnostics: spans lie in their texts, and messages are neither empty nor too long.

use ccm_model::{Diagnostic, SourceMap, escape_control};

const MAX_MESSAGE: usize = 4 << 10;

const MAX_DIAGNOSTICS: usize = 20_000;

pub(super) fn check(diagnostics: &[Diagnostic], texts: &SourceMap) {
    assert!(diagnostics.len() < MAX_DIAGNOSTICS, "{} diagnostics", diagnostics.len());
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
        assert_eq!(escape_control(&diagnostic.message), diagnostic.message);
        let hints = diagnostic.hints.iter().map(String::as_str);
        let labels = diagnostic.labels.iter().map(|label| &*label.text);
        for text in hints.chain(labels).chain([&*diagnostic.message]) {
            assert!(text.len() < MAX_MESSAGE, "{} bytes: {diagnostic:?}", text.len());
        }
        for label in &diagnostic.labels {
            let source = texts.get(label.span.source).expect("the text of a label");
            assert!(source.text.get(label.span.range()).is_some(), "{diagnostic:?}");
        }
    }
}
