//! Output of a command: the tail for people, text, JSON.
//!
//! Except for live lines, all output leaves an exec through this module, quoted through [`Redacted`].

use ccm_host::{CapturedOutput, Finished};
use ccm_model::{Stream, StreamTail};
use ccm_redaction::Redactor;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::command::Exec;
use crate::support::output_tail::{self, tail};

const MAX_JSON: u64 = 1 << 20;

const MAX_SHOWN: usize = 200;
/// Maximum number of characters shown of text that is not JSON.
const MAX_BEGINNING: usize = 40;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum JsonError {
    /// The output is longer than 1 MiB.
    TooLong,
    /// There is no output.
    Empty,
    /// The JSON ends too early, after this line and column.
    Unfinished { line: usize, column: usize },
    /// The text is not JSON from this line and column on.
    NotJson { text: String, line: usize, column: usize },
}

/// Quotation of output: redacted first, then shortened.
#[derive(Clone, Copy)]
pub(crate) struct Redacted<'r>(pub &'r Redactor);

impl Redacted<'_> {
    pub(crate) fn text(self, text: &str) -> String {
        shorten(&self.0.redact(text), MAX_SHOWN)
    }

    /// A text in quotes, without them if the text is redacted or can't be taken for another value.
    pub(crate) fn quoted(self, text: &str) -> String {
        let shown = self.text(text);
        let is_plain = |part: char| part.is_alphanumeric() || "-_./:+".contains(part);
        let is_bare = !shown.is_empty() && shown.chars().all(is_plain);
        let is_hidden = || matches!(&*self.0.hidden_in_text(text), [all] if *all == (0..text.len()));
        if is_bare || is_hidden() { shown } else { format!("{shown:?}") }
    }

    pub(crate) fn value(self, value: &Value) -> String {
        self.text(&value.to_string())
    }

    /// Quotes a key as a part of a path.
    pub(crate) fn key(self, key: &str) -> String {
        escaped(&self.text(key))
    }

    pub(crate) fn json_error(self, error: &JsonError) -> String {
        match error {
            JsonError::TooLong => "stdout is longer than 1 MiB, and was not read as JSON".to_owned(),
            JsonError::Empty => "stdout is empty and therefore not JSON".to_owned(),
            JsonError::Unfinished { line, column } => {
                format!("stdout is not JSON: it ends too early, at line {line}, column {column}")
            }
            JsonError::NotJson { text, line, column } => format!(
                "stdout is not JSON from line {line}, column {column} on; it begins with {:?}",
                shorten(&self.0.redact(text), MAX_BEGINNING)
            ),
        }
    }
}

fn shorten(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Returns the last lines of both streams, unless the exec is sensitive. An empty stream is left out.
pub(crate) fn tails(exec: &Exec, finished: &Finished) -> Vec<StreamTail> {
    if exec.sensitive {
        return Vec::new();
    }
    let both = [(Stream::Stdout, &finished.stdout), (Stream::Stderr, &finished.stderr)];
    both.into_iter().filter_map(|(stream, captured)| tail(stream, captured)).collect()
}

/// Returns everything kept of a stream, with a line in place of the dropped bytes.
pub(crate) fn kept(captured: &CapturedOutput) -> Vec<u8> {
    let gap = match captured.dropped {
        0 => String::new(),
        dropped => format!("\n... ({dropped} bytes are not kept)\n"),
    };
    [&captured.head[..], gap.as_bytes(), &captured.tail[..]].concat()
}

pub(crate) fn json(captured: &CapturedOutput) -> Result<Value, JsonError> {
    read(captured, |text| serde_json::from_str(text))
}

/// Numbers of a JSON text that become text, because ccm has no number for them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NumbersAsText {
    /// Numbers that ccm would print differently, such as `1.50`.
    PrintedDifferently,
    /// Numbers that would lose digits.
    Inexact,
}

/// Reads a stream as JSON. Some numbers become the printed text.
pub(crate) fn json_with_text(captured: &CapturedOutput, which: NumbersAsText) -> Result<Value, JsonError> {
    read(captured, |text| {
        // Errors have the positions of the text itself.
        serde_json::from_str::<IgnoredAny>(text)?;
        serde_json::from_str(&with_text(text, which))
    })
}

fn read(
    captured: &CapturedOutput,
    parse: impl Fn(&str) -> Result<Value, serde_json::Error>,
) -> Result<Value, JsonError> {
    if captured.total() > MAX_JSON {
        return Err(JsonError::TooLong);
    }
    let text = output_tail::text(captured);
    if text.trim().is_empty() {
        return Err(JsonError::Empty);
    }
    parse(&text).map_err(|error| match (error.line(), error.column()) {
        (line, column) if error.is_eof() => JsonError::Unfinished { line, column },
        (line, column) => {
            let column = column.max(1);
            JsonError::NotJson { text: text.clone(), line, column }
        }
    })
}

/// Puts quotes around some numbers of a JSON text.
fn with_text(json: &str, which: NumbersAsText) -> String {
    let is_kept = match which {
        NumbersAsText::PrintedDifferently => is_printed_alike,
        NumbersAsText::Inexact => is_exact,
    };
    let mut kept = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '-' | '0'..='9' => {
                let is_part = |part: char| part.is_ascii_digit() || "+-.eE".contains(part);
                rest.find(|part| !is_part(part)).unwrap_or(rest.len())
            }
            other => other.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        let is_number = first == '-' || first.is_ascii_digit();
        if is_number && !is_kept(token) {
            kept.extend(["\"", token, "\""]);
        } else {
            kept += token;
        }
        rest = after;
    }
    kept
}

/// Returns the length of the string at the start of a JSON text, its quotes included.
fn string_length(json: &str) -> usize {
    let mut is_escaped = true;
    let end = json.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(json.len(), |end| end + 1)
}

/// Returns `true` if a number is printed as written: a whole one of 64 bits, or the shortest form.
fn is_printed_alike(number: &str) -> bool {
    let is_whole = number.parse::<i64>().is_ok_and(|whole| whole.to_string() == number);
    let is_alike = |float: f64| (1e-5..1e17).contains(&float.abs()) && float.to_string() == number;
    is_whole || (number.contains('.') && number.parse::<f64>().is_ok_and(is_alike))
}

/// Returns `true` if ccm has a number of the same value.
fn is_exact(number: &str) -> bool {
    let shortest =
        number.parse::<f64>().ok().filter(|float| float.is_finite()).map(|float| format!("{float:e}"));
    number.parse::<i64>().is_ok() || shortest.is_some_and(|shortest| digits(number) == digits(&shortest))
}

/// Returns the sign, the digits and the exponent of a number. Numbers of one value have the same.
fn digits(number: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_negative = whole.starts_with('-');
    let all = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = all.trim_start_matches('0');
    let exponent = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let bare = significant.trim_end_matches('0');
    let zeros = i64::try_from(significant.len() - bare.len()).ok()?;
    let exponent = if bare.is_empty() { 0 } else { exponent.checked_add(zeros)? };
    Some((is_negative, bare.to_owned(), exponent))
}

/// Returns a key as a part of a path: dots and backslashes in it get a backslash.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('\\', "\\\\").replace('.', "\\.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_as_they_were_printed() {
        for (printed, kept) in [
            ("[0, -7, 1.5, 9223372036854775807]", "[0, -7, 1.5, 9223372036854775807]"),
            ("12345678901234567890123", "\"12345678901234567890123\""),
            ("18446744073709551615", "\"18446744073709551615\""),
            ("{\"a\":1.50}", "{\"a\":\"1.50\"}"),
            ("[1e3,-0,1.0,2]", "[\"1e3\",\"-0\",\"1.0\",2]"),
            ("100000000000000000000", "\"100000000000000000000\""),
            ("\"1.50 \\\" 2.0 \\\\\"", "\"1.50 \\\" 2.0 \\\\\""),
        ] {
            assert_eq!(with_text(printed, NumbersAsText::PrintedDifferently), kept);
        }
    }

    #[test]
    fn numbers_within_lists_and_maps_keep_their_value() {
        for (printed, kept) in [
            ("{\"a\":1.50,\"b\":1.0}", "{\"a\":1.50,\"b\":1.0}"),
            ("[1e3,-0,0.00,-1.25E-7,2,0.1]", "[1e3,-0,0.00,-1.25E-7,2,0.1]"),
            ("[100000000000000000000]", "[100000000000000000000]"),
            ("[12345678901234567890123]", "[\"12345678901234567890123\"]"),
            ("[0.1234567890123456789]", "[\"0.1234567890123456789\"]"),
            ("[1e400,1e-400]", "[\"1e400\",\"1e-400\"]"),
        ] {
            assert_eq!(with_text(printed, NumbersAsText::Inexact), kept);
        }
    }

    #[test]
    fn text_that_is_not_json_is_reported_with_its_position() {
        let message_of = |text: &str| {
            let captured = CapturedOutput { head: text.into(), ..CapturedOutput::default() };
            Redacted(&Redactor::new(["S3cr3tPassword"])).json_error(&json(&captured).unwrap_err())
        };
        for (text, message) in [
            ("no", "stdout is not JSON from line 1, column 2 on; it begins with \"no\""),
            ("\n", "stdout is empty and therefore not JSON"),
            ("{\"a\": 1", "stdout is not JSON: it ends too early, at line 1, column 7"),
            (
                "{}\nS3cr3tPassword",
                "stdout is not JSON from line 2, column 1 on; it begins with \"{}\\n[redacted]\"",
            ),
        ] {
            assert_eq!(message_of(text), message);
        }
    }
}
