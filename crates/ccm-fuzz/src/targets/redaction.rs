//! Hiding secrets, whole and in pieces.

mod written;

use std::ops::Range;
use std::sync::Arc;

use ccm_redaction::{REDACTED, Redactor, StreamRedactor};

use crate::mutation::Random;
use written::Written;

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

/// Secrets are cut to this length: what is in pieces because of its length has tests of its own.
const LONGEST_SECRET: usize = 100;
/// And the text that they are looked for in to this one, since it is gone through for each of their forms.
const LONGEST_TEXT: usize = 2000;
/// So much of the text is put around each form.
const AROUND: usize = 20;

/// Up to three secrets, a line each, and the bytes in which they are hidden. An input of odd length makes one secret of
/// the first two lines.
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
    let behind = &behind[..behind.len().min(LONGEST_TEXT)];
    let redactor = Arc::new(Redactor::new(secrets.iter().map(|secret| &**secret)));
    let text = super::text(behind);
    let mut written: Vec<Written> = secrets.iter().flat_map(|secret| written::all(secret)).collect();
    written.sort_unstable();
    written.dedup();
    let mut forms: Vec<&str> = written.iter().filter_map(Written::form).collect();
    forms.sort_unstable();
    forms.dedup();
    in_text(&redactor, &text, &forms);
    in_stream(&redactor, text.as_bytes(), &forms);
    in_stream(&redactor, behind, &forms);
    let (before, after) = around(&text);
    for written in &written {
        planted(&redactor, &before, written, &after);
    }
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    text.chars().take(LONGEST_SECRET).collect()
}

/// A little of the beginning of a text, and of what comes then.
fn around(text: &str) -> (String, String) {
    let mut characters = text.chars();
    (characters.by_ref().take(AROUND).collect(), characters.take(AROUND).collect())
}

/// Nothing is to be seen in a text of what is to be hidden, and everything else is.
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

/// The same of a stream, however it is cut. Only what ends it may be the beginning of something, and be hidden as such.
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

/// A form is hidden wherever it stands.
fn planted(redactor: &Arc<Redactor>, before: &str, written: &Written, after: &str) {
    let (text, range) = written.between(before, after);
    let Some(form) = text.get(range.clone()).filter(|form| written::counts(form)) else { return };
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

/// Each place where a form stands lies within something that is hidden.
fn covered(bytes: &[u8], form: &str, hidden: &[Range<usize>]) {
    let mut from = 0;
    while let Some(at) = find(&bytes[from..], form.as_bytes()) {
        let (start, end) = (from + at, from + at + form.len());
        let around = hidden.iter().find(|range| range.start <= start && end <= range.end);
        let Some(around) = around else { panic!("{form:?} is seen at {start} in {}", bytes.escape_ascii()) };
        // Whatever begins before that lies within the same.
        from = (start + 1).max(around.end + 1 - form.len());
    }
}

/// What is shown has no form in it, but where the mark itself helps to make one anew.
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

/// Where something stands first. It looks at each place, as nothing under test does.
fn find(bytes: &[u8], of: &[u8]) -> Option<usize> {
    bytes.windows(of.len()).position(|window| window == of)
}
