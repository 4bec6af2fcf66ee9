//! Expressions found in texts.

use ccm_data::interpolation::{Part, Scanned, Split, lone, scan, split};

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
        if let Scanned::Expressions(places) = scan(text, for_shell) {
            assert!(!places.is_empty());
            let mut end = 0;
            for place in places {
                assert!(place.range.start >= end && text.get(place.range.clone()).is_some(), "{place:?}");
                end = place.range.end;
            }
        }
        match split(text, for_shell) {
            Split::Literal => {}
            Split::Mistakes(mistakes) => {
                assert!(mistakes.iter().all(|mistake| text.get(mistake.range.clone()).is_some()));
                assert!(!mistakes.is_empty());
            }
            Split::Parts(parts) => {
                let mut length = 0;
                for part in &parts {
                    match part {
                        Part::Literal(literal) => {
                            assert!(!literal.is_empty() || text.contains('\\'));
                            length += literal.len();
                        }
                        Part::Expression { inner, whole } => {
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
