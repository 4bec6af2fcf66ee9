//! Expected results of a command, and their comparison with the result.

mod forms;

use ccm_host::CapturedOutput;
use ccm_properties::{PropertyKind, TextSyntax, TextValue, ValueError, properties};
use regex::Regex;
use serde_json::{Number, Value};

use self::forms::{FORMS, parse};
use super::output::{self, Redacted};
use super::values::ExitCodeValue;
use crate::support::output_tail;

/// Number of mismatches after which the comparison of JSON descends no further.
const MAX_MISMATCHES: usize = 10;

properties! {
    /// Expected result of a command.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Expectations {
        /// Exit code, in place of `returns` and `unchanged_returns`, which must not be given.
        exit_code: ExitCodeValue,
        /// All of standard output, or `contains("…")` for a part of it, or `matches("…")` for a regular
        /// expression.
        stdout: ExpectedText { sensitive: true, syntax: TextSyntax::Call(&FORMS) },
        /// All of standard error, or `contains("…")` for a part of it, or `matches("…")` for a regular
        /// expression.
        stderr: ExpectedText { sensitive: true, syntax: TextSyntax::Call(&FORMS) },
        /// Part of standard output, read as JSON.
        stdout_json: Value { sensitive: true },
    }
}

#[derive(Clone, Debug)]
pub(crate) enum ExpectedText {
    /// The whole text, its last line end included.
    Equal(String),
    Contains(String),
    Matches(Regex),
}

impl TextValue for ExpectedText {
    const KIND: PropertyKind = PropertyKind::TEXT;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        parse(text)
            .map_err(|(message, hint)| hint.into_iter().fold(ValueError::new(message), ValueError::with_hint))
    }
}

impl Expectations {
    pub(crate) fn is_empty(&self) -> bool {
        self.exit_code.is_none()
            && self.stdout.is_none()
            && self.stderr.is_none()
            && self.stdout_json.is_none()
    }

    /// Returns the differences between the expectations and the output, redacted.
    pub(crate) fn mismatches(
        &self,
        code: i32,
        stdout: &CapturedOutput,
        stderr: &CapturedOutput,
        redact: Redacted<'_>,
    ) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        if let Some(expected) = self.exit_code.filter(|expected| i32::from(expected.0) != code) {
            mismatches.push(Mismatch::new("exit_code", "", format!("expected {}, found {code}", expected.0)));
        }
        let streams = [("stdout", &self.stdout, stdout), ("stderr", &self.stderr, stderr)];
        for (name, expected, captured) in streams {
            let mismatch = expected.as_ref().and_then(|expected| expected.mismatch(captured, redact));
            mismatches.extend(mismatch.map(|mismatch| Mismatch::new(name, "", mismatch)));
        }
        if let Some(expected) = &self.stdout_json {
            match output::json(stdout) {
                Ok(found) => json_mismatches(expected, &found, "", redact, &mut mismatches),
                Err(error) => mismatches.push(Mismatch::new(JSON, "", redact.json_error(&error))),
            }
        }
        if mismatches.len() > MAX_MISMATCHES {
            mismatches.truncate(MAX_MISMATCHES);
            mismatches.push(Mismatch::new(JSON, "", "further differences are not shown".to_owned()));
        }
        mismatches
    }
}

const JSON: &str = "stdout_json";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    part: &'static str,
    /// Path of the difference: keys and indexes of JSON, each after a dot.
    path: String,
    /// Expected and found value.
    difference: String,
}

impl Mismatch {
    fn new(part: &'static str, path: &str, difference: String) -> Self {
        Self { part, path: path.to_owned(), difference }
    }

    /// Returns the difference on one line; for a sensitive exec, only the name of the part, such as `stdout`.
    pub(crate) fn line(&self, is_sensitive: bool) -> String {
        let Self { part, path, difference } = self;
        if is_sensitive {
            format!("{part}: not as expected; details are hidden, because the exec is `sensitive`")
        } else {
            format!("{part}{path}: {difference}")
        }
    }
}

impl ExpectedText {
    fn mismatch(&self, captured: &CapturedOutput, redact: Redacted<'_>) -> Option<String> {
        let found = output_tail::text(captured);
        let (is_met, expected) = match self {
            Self::Equal(expected) => {
                (!captured.truncated() && *expected == found, format!("{:?}", redact.text(expected)))
            }
            Self::Contains(part) => {
                (found.contains(part), format!("text that contains {:?}", redact.text(part)))
            }
            Self::Matches(regex) => {
                (regex.is_match(&found), format!("text that matches {:?}", redact.text(regex.as_str())))
            }
        };
        if is_met {
            return None;
        }
        let more = if captured.truncated() { ", of which only the beginning was compared" } else { "" };
        let line_end = match (self, found.strip_suffix('\n')) {
            (Self::Equal(expected), Some(text)) if text == expected => " (only the line end differs)",
            (Self::Matches(regex), Some(text)) if regex.is_match(text) => " (the text ends with a line end)",
            _ => "",
        };
        Some(format!("expected {expected}, found {:?}{more}{line_end}", redact.text(&found)))
    }
}

/// Adds the differences between two values, at least one more than are shown if there are that many. A found
/// map may have more keys; numbers are compared by value.
fn json_mismatches(
    expected: &Value,
    found: &Value,
    path: &str,
    redact: Redacted<'_>,
    mismatches: &mut Vec<Mismatch>,
) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, expected) in expected {
                if mismatches.len() > MAX_MISMATCHES {
                    break;
                }
                let path = format!("{path}.{}", redact.key(key));
                if let Some(found) = found.get(key) {
                    json_mismatches(expected, found, &path, redact, mismatches);
                } else {
                    let expected = redact.value(expected);
                    mismatches.push(Mismatch::new(
                        JSON,
                        &path,
                        format!("expected {expected}, found nothing"),
                    ));
                }
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
                if mismatches.len() > MAX_MISMATCHES {
                    break;
                }
                json_mismatches(expected, found, &format!("{path}.{at}"), redact, mismatches);
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            let difference = format!("expected {} elements, found {}", expected.len(), found.len());
            mismatches.push(Mismatch::new(JSON, path, difference));
        }
        (Value::Number(one), Value::Number(other)) if equal(one, other) => {}
        (Value::String(one), Value::String(other)) if one != other => {
            let (one, other) = (redact.quoted(one), redact.quoted(other));
            mismatches.push(Mismatch::new(JSON, path, format!("expected {one}, found {other}")));
        }
        _ if expected == found => {}
        _ => {
            let (expected, found) = (redact.value(expected), redact.value(found));
            mismatches.push(Mismatch::new(JSON, path, format!("expected {expected}, found {found}")));
        }
    }
}

/// Compares two numbers: whole ones exactly, others as 64-bit floats.
fn equal(one: &Number, other: &Number) -> bool {
    one == other || ((one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64())
}

#[cfg(test)]
mod tests {
    use ccm_redaction::Redactor;
    use serde_json::json;

    use super::*;

    fn captured(text: &str) -> CapturedOutput {
        CapturedOutput { head: text.into(), ..CapturedOutput::default() }
    }

    #[test]
    fn texts_are_compared() {
        let mismatch = |written: &str, found: &str| {
            parse(written).unwrap().mismatch(&captured(found), Redacted(&Redactor::default()))
        };
        assert_eq!(mismatch("ok\n", "ok\n"), None);
        assert_eq!(
            mismatch("ok", "ok\n").as_deref(),
            Some("expected \"ok\", found \"ok\\n\" (only the line end differs)")
        );
        assert_eq!(mismatch("contains('k')", "ok\n"), None);
        assert_eq!(
            mismatch("contains('no')", "ok").as_deref(),
            Some("expected text that contains \"no\", found \"ok\"")
        );
        assert_eq!(mismatch("matches('^o.$')", "ok"), None);
        assert_eq!(
            mismatch("matches('^k')", "ok").as_deref(),
            Some("expected text that matches \"^k\", found \"ok\"")
        );
        assert_eq!(mismatch("", ""), None);
        assert_eq!(
            mismatch("matches('^o.$')", "ok\n").as_deref(),
            Some("expected text that matches \"^o.$\", found \"ok\\n\" (the text ends with a line end)")
        );
        assert_eq!(mismatch("matches('(?m)^o.$')", "no\nok\n"), None);
        assert_eq!(mismatch("matches('^o.\\n?$')", "ok\n"), None);
    }

    #[test]
    fn expected_json_must_be_a_subset_of_the_output() {
        for (expected, found, mismatches) in [
            (json!({}), json!({"a": 1}), &[][..]),
            (json!({"a": {"b": 1}}), json!({"a": {"b": 1.0, "c": 2}, "d": 3}), &[]),
            (json!({"a": [1, {}]}), json!({"a": [1, {"x": 1}]}), &[]),
            (
                json!({"a": {"b": "SHA512"}}),
                json!({"a": {"b": "SHA256"}}),
                &["stdout_json.a.b: expected SHA512, found SHA256"],
            ),
            (json!({"a": "1"}), json!({"a": 1}), &["stdout_json.a: expected \"1\", found 1"]),
            (json!({"a": "x y"}), json!({"a": ""}), &["stdout_json.a: expected \"x y\", found \"\""]),
            (json!({"a.b": true}), json!({}), &["stdout_json.a\\.b: expected true, found nothing"]),
            (json!([1]), json!([1, 2]), &["stdout_json: expected 1 elements, found 2"]),
            (
                json!([1, 2]),
                json!([2, 1]),
                &["stdout_json.0: expected 1, found 2", "stdout_json.1: expected 2, found 1"],
            ),
            (
                json!({"a": 9_007_199_254_740_993_u64}),
                json!({"a": 9_007_199_254_740_992_u64}),
                &["stdout_json.a: expected 9007199254740993, found 9007199254740992"],
            ),
            (json!({"a": null}), json!({"a": {}}), &["stdout_json.a: expected null, found {}"]),
        ] {
            let mut found_mismatches = Vec::new();
            json_mismatches(&expected, &found, "", Redacted(&Redactor::default()), &mut found_mismatches);
            let shown: Vec<String> = found_mismatches.iter().map(|mismatch| mismatch.line(false)).collect();
            assert_eq!(shown, mismatches, "{expected} {found}");
        }
    }

    #[test]
    fn output_that_is_empty_invalid_or_too_long_is_not_compared() {
        let expectations = Expectations {
            stdout_json: Some(json!({})),
            exit_code: Some(ExitCodeValue(0)),
            ..Default::default()
        };
        let redactor = Redactor::default();
        let mismatches_of = |code, captured: &CapturedOutput| -> Vec<String> {
            let mismatches =
                expectations.mismatches(code, captured, &CapturedOutput::default(), Redacted(&redactor));
            mismatches.iter().map(|mismatch| mismatch.line(false)).collect()
        };
        let mismatches = |captured: &CapturedOutput| mismatches_of(0, captured);
        assert_eq!(
            mismatches(&captured("no")),
            ["stdout_json: stdout is not JSON from line 1, column 2 on; it begins with \"no\""]
        );
        assert_eq!(mismatches(&captured("")), ["stdout_json: stdout is empty and therefore not JSON"]);
        let long = CapturedOutput { head: vec![b' '; 1 << 20], tail: b"{}".to_vec(), dropped: 0 };
        assert_eq!(mismatches(&long), ["stdout_json: stdout is longer than 1 MiB, and was not read as JSON"]);
        assert_eq!(mismatches_of(3, &captured("{}")), ["exit_code: expected 0, found 3"]);
        let many: serde_json::Map<String, Value> = (0..12).map(|at| (format!("k{at}"), json!(at))).collect();
        for expected in [json!(many), json!(many.values().collect::<Vec<_>>())] {
            let found = expected.to_string().replace(|digit: char| digit.is_ascii_digit(), "9");
            let expectations = Expectations { stdout_json: Some(expected), ..Expectations::default() };
            let empty = CapturedOutput::default();
            let mismatches = expectations.mismatches(0, &captured(&found), &empty, Redacted(&redactor));
            let last = mismatches.last().map(|mismatch| mismatch.line(false));
            assert_eq!(last.as_deref(), Some("stdout_json: further differences are not shown"));
            assert_eq!(mismatches.len(), 11);
        }
    }

    #[test]
    fn secrets_are_compared_and_not_shown() {
        let redactor = Redactor::new(["S3cr3tPassword"]);
        let shown = Redacted(&redactor);
        let printed = captured("S3cr3tPassword\n");
        assert_eq!(parse("S3cr3tPassword\n").unwrap().mismatch(&printed, shown), None);
        assert_eq!(parse("matches('Pass')").unwrap().mismatch(&printed, shown), None);
        assert_eq!(
            parse("another").unwrap().mismatch(&printed, shown).as_deref(),
            Some("expected \"another\", found \"[redacted]\\n\"")
        );
        // Redaction comes before shortening.
        let long = captured(&format!("{}S3cr3tPassword", "x".repeat(195)));
        let mismatch = parse("no").unwrap().mismatch(&long, shown).unwrap();
        assert!(!mismatch.contains("S3"), "{mismatch}");
        let mut mismatches = Vec::new();
        json_mismatches(&json!({"a": "no"}), &json!({"a": "S3cr3tPassword"}), "", shown, &mut mismatches);
        assert_eq!(mismatches[0].line(false), "stdout_json.a: expected no, found [redacted]");
    }
}
