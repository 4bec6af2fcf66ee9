//! Hiding secrets, whole and in pieces.

use std::sync::Arc;

use ccm_model::{Redactor, StreamRedactor};

pub(super) const WORDS: &[&str] =
    &["secret12", "secret", "aaaa", "[redacted]", "hunter22\n", "%20", "\\n", "c2VjcmV0", "\n"];

/// Up to three secrets, a line each, and the bytes in which they are hidden.
pub(super) fn run(input: &[u8]) {
    let lines: Vec<&[u8]> = input.splitn(4, |byte| *byte == b'\n').collect();
    let (secrets, behind) = match &lines[..] {
        [secrets @ .., behind] if secrets.len() == 3 => (secrets, *behind),
        lines => (lines, input),
    };
    let secrets: Vec<_> =
        secrets.iter().map(|secret| super::text(secret)).filter(|secret| secret.len() >= 4).collect();
    let redactor = Arc::new(Redactor::new(secrets.iter().map(|secret| &**secret)));
    let text = super::text(behind);
    let redacted = redactor.redact(&text);
    for secret in &secrets {
        let may_be_made_anew =
            ["[redacted]", "redacted"].iter().any(|word| secret.contains(word) || word.contains(&**secret));
        assert!(
            may_be_made_anew || !redacted.contains(&**secret) || secret.contains('['),
            "{secret:?} in {redacted:?}"
        );
    }
    for hidden in redactor.hidden_in_text(&text) {
        assert!(text.get(hidden.clone()).is_some(), "{hidden:?}");
    }
    let in_pieces = |size: usize| {
        let mut shown = Vec::new();
        let mut stream = StreamRedactor::new(Arc::clone(&redactor));
        for piece in behind.chunks(size) {
            stream.push(piece, &mut |bytes| shown.extend_from_slice(bytes));
        }
        stream.finish(&mut |bytes| shown.extend_from_slice(bytes));
        shown
    };
    let whole = in_pieces(usize::MAX);
    for size in [1, 3, 7] {
        let pieces = in_pieces(size);
        assert_eq!(pieces.escape_ascii().to_string(), whole.escape_ascii().to_string(), "{size}");
    }
}
