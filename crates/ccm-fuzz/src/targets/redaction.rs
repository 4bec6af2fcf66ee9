//! Redaction of texts and streams.

mod secret_form;

use std::ops::Range;
use std::sync::Arc;

use ccm_redaction::{REDACTED, Redactor, StreamRedactor};

use crate::mutation::Random;
use secret_form::SecretForm;

pub(super) const WORDS: &[&str] = &[
    "secret12",
    "secret",
    "aaaa",
    "[redacted]",
    "redacted]",
    "hunter22\n",
    "%20",
    "\\n",
    "c2VjcmV0",
    "\n",
    "…",
    "...",
    "p\"s'w$r d/\u{e4}\\",
];

/// Maximum length of a secret in characters. Other tests cover secrets that are redacted in parts.
const MAX_SECRET: usize = 100;
/// Maximum length of a text in bytes. Every form of every secret is searched in it.
const MAX_TEXT: usize = 2000;
/// Maximum length in bytes of the blanks at the end of a secret. More are no part of its value, and are shown.
const MAX_BLANKS: usize = 64;
const AROUND: usize = 20;

/// An input holds up to three secrets, one per line, and bytes to redact. If its length is odd, the first two
/// lines are one secret.
pub(super) fn run(input: &[u8]) {
    let lines: Vec<&[u8]> = input.splitn(4, |byte| *byte == b'\n').collect();
    let (secrets, behind) = match &lines[..] {
        [secrets @ .., behind] if secrets.len() == 3 => (secrets, *behind),
        lines => (lines, input),
    };
    let mut secrets: Vec<String> = secrets.iter().map(|secret| cut(&super::text(secret))).collect();
    if input.len() % 2 == 1 && secrets.len() > 1 {
        let second = secrets.remove(1);
        secrets[0] = format!("{}\n{second}", secrets[0]);
    }
    let behind = &behind[..behind.len().min(MAX_TEXT)];
    let redactor = Arc::new(Redactor::new(secrets.iter().map(|secret| &**secret)));
    let text = super::text(behind);
    let mut all: Vec<SecretForm> = secrets.iter().flat_map(|secret| secret_form::all(secret)).collect();
    all.sort_unstable();
    all.dedup();
    let mut forms: Vec<&str> = all.iter().filter_map(SecretForm::form).collect();
    forms.sort_unstable();
    forms.dedup();
    in_text(&redactor, &text, &forms);
    in_stream(&redactor, text.as_bytes(), &forms);
    in_stream(&redactor, behind, &forms);
    let (before, after) = context_texts(&text);
    for form in &all {
        planted(&redactor, &before, form, &after);
    }
}

fn cut(text: &str) -> String {
    let mut secret: String = text.chars().take(MAX_SECRET).collect();
    let end = (secret.trim_end().len() + MAX_BLANKS).min(secret.len());
    secret.truncate((0..=end).rev().find(|end| secret.is_char_boundary(*end)).unwrap_or_default());
    secret
}

/// Returns two short texts from the beginning of a text.
fn context_texts(text: &str) -> (String, String) {
    let mut characters = text.chars();
    (characters.by_ref().take(AROUND).collect(), characters.take(AROUND).collect())
}

/// Checks that a redacted text holds no form, and all of the rest.
fn in_text(redactor: &Redactor, text: &str, forms: &[&str]) {
    let hidden = redactor.hidden_in_text(text);
    assert!(hidden.windows(2).all(|two| two[0].end <= two[1].start), "{hidden:?} are not in order");
    assert!(
        hidden.iter().all(|range| text.get(range.clone()).is_some()),
        "{hidden:?} are no whole characters"
    );
    let uncut = redactor.hidden(text.as_bytes());
    for form in forms {
        for ranges in [&hidden, &uncut] {
            covered(text.as_bytes(), form, ranges);
        }
    }
    assert_eq!(redactor.finds(text.as_bytes()), !uncut.is_empty());
    let shown = redactor.redact(text);
    assert_eq!(shown.as_bytes(), replaced(text.as_bytes(), &hidden));
    none_between_marks(shown.as_bytes(), forms);
    none_between_marks(redactor.redact_lines(text).as_bytes(), forms);
}

/// Checks a redacted stream in chunks of any size, whose end is redacted if it may begin a form.
fn in_stream(redactor: &Arc<Redactor>, bytes: &[u8], forms: &[&str]) {
    let pieces = |size: &mut dyn FnMut() -> usize| {
        let mut shown = Vec::new();
        let mut stream = StreamRedactor::new(Arc::clone(redactor));
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(size().clamp(1, rest.len()));
            stream.push(piece, &mut |bytes| shown.extend_from_slice(bytes));
            rest = behind;
        }
        stream.finish(&mut |bytes| shown.extend_from_slice(bytes));
        shown
    };
    let whole = pieces(&mut || usize::MAX);
    let same = |shown: &[u8], how: &str| {
        assert_eq!(shown.escape_ascii().to_string(), whole.escape_ascii().to_string(), "{how}");
    };
    for size in [1, 2, 3, 7, 64] {
        same(&pieces(&mut || size), &format!("in pieces of {size}"));
    }
    for seed in 0..4 {
        let mut random = Random::new(seed, bytes.len() as u64);
        same(&pieces(&mut || 1 + random.below(40)), &format!("in random pieces, seed {seed}"));
    }
    none_between_marks(&whole, forms);
    let expected = replaced(bytes, &redactor.hidden(bytes));
    let but_the_end = whole.strip_suffix(REDACTED.as_bytes()).unwrap_or(&whole);
    assert!(
        whole == expected || expected.starts_with(but_the_end),
        "{} is shown as {}",
        expected.escape_ascii(),
        whole.escape_ascii()
    );
}

/// Checks that a form is redacted at any position.
fn planted(redactor: &Arc<Redactor>, before: &str, form: &SecretForm, after: &str) {
    let (text, range) = form.between(before, after);
    let Some(form) = text.get(range.clone()).filter(|form| secret_form::counts(form)) else { return };
    for hidden in [redactor.hidden(text.as_bytes()), redactor.hidden_in_text(&text)] {
        let is_hidden = hidden.iter().any(|hidden| hidden.start <= range.start && range.end <= hidden.end);
        assert!(is_hidden, "{form:?} is seen in {text:?}");
    }
    none_between_marks(redactor.redact(&text).as_bytes(), &[form]);
    let mut shown = Vec::new();
    let mut stream = StreamRedactor::new(Arc::clone(redactor));
    for byte in text.as_bytes() {
        stream.push(&[*byte], &mut |bytes| shown.extend_from_slice(bytes));
    }
    stream.finish(&mut |bytes| shown.extend_from_slice(bytes));
    none_between_marks(&shown, &[form]);
}

/// Checks that every occurrence of a form lies within a redacted range.
fn covered(bytes: &[u8], form: &str, hidden: &[Range<usize>]) {
    let mut from = 0;
    while let Some(at) = find(&bytes[from..], form.as_bytes()) {
        let (start, end) = (from + at, from + at + form.len());
        let around = hidden.iter().find(|range| range.start <= start && end <= range.end);
        let Some(around) = around else { panic!("{form:?} is seen at {start} in {}", bytes.escape_ascii()) };
        // Occurrences that begin before the next position lie within the same range.
        from = (start + 1).max(around.end + 1 - form.len());
    }
}

/// Checks that redacted bytes hold no form, except for a form that the mark itself completes.
fn none_between_marks(shown: &[u8], forms: &[&str]) {
    let mut rest = shown;
    loop {
        let end = find(rest, REDACTED.as_bytes()).unwrap_or(rest.len());
        for form in forms {
            assert!(find(&rest[..end], form.as_bytes()).is_none(), "{form:?} is in {}", shown.escape_ascii());
        }
        match rest.get(end + REDACTED.len()..) {
            Some(behind) if end < rest.len() => rest = behind,
            _ => return,
        }
    }
}

fn replaced(bytes: &[u8], hidden: &[Range<usize>]) -> Vec<u8> {
    let mut shown = Vec::new();
    let mut at = 0;
    for range in hidden {
        shown.extend_from_slice(&bytes[at..range.start]);
        shown.extend_from_slice(REDACTED.as_bytes());
        at = range.end;
    }
    shown.extend_from_slice(&bytes[at..]);
    shown
}

/// Finds the first occurrence with a naive search, unlike the code under test.
fn find(bytes: &[u8], of: &[u8]) -> Option<usize> {
    bytes.windows(of.len()).position(|window| window == of)
}
