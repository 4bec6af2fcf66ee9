//! Expressions found in texts.

use ccm_data::interpolation::{Scanned, SplitText, TextPart, lone, scan, split};

pub(super) const WORDS: &[&str] = &[
    "{{ ",
    " }}",
    "${",
    "}",
    "\\${",
    "${HOME:-",
    "${#A}",
    "${A%%x}",
    "'}}'",
    "\"}\"",
    "{{{",
    "$${",
    "${ Facts.a }",
    "`",
];

pub(super) fn run(input: &[u8]) {
    let text = &*super::text(input);
    for for_shell in [false, true] {
        if let Scanned::Expressions(found) = scan(text, for_shell) {
            assert!(!found.is_empty());
            let mut end = 0;
            for one in found {
                assert!(one.range.start >= end && text.get(one.range.clone()).is_some(), "{one:?}");
                end = one.range.end;
            }
        }
        match split(text, for_shell) {
            SplitText::Literal => {}
            SplitText::Errors(errors) => {
                assert!(errors.iter().all(|error| text.get(error.range.clone()).is_some()));
                assert!(!errors.is_empty());
            }
            SplitText::Parts(parts) => {
                let mut length = 0;
                for part in &parts {
                    match part {
                        TextPart::Literal(literal) => {
                            assert!(!literal.is_empty() || text.contains('\\'));
                            length += literal.len();
                        }
                        TextPart::Expression { inner, whole } => {
                            assert!(whole.start <= inner.start && inner.end <= whole.end);
                            assert!(text.get(inner.clone()).is_some() && text.get(whole.clone()).is_some());
                            length += whole.len();
                        }
                    }
                }
                assert!(length <= text.len(), "more than there was");
                lone(&parts);
            }
        }
    }
}
