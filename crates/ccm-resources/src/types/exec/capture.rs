//! Captured values: written as paths, and extracted from the result of a command.

use std::time::Duration;

use ccm_host::Finished;
use ccm_model::{Diagnostic, DiagnosticKind, Node, closest, escape_control};
use ccm_properties::{NamedValues, PropertyKind, PropertyValue, TextKind, TextValue, ValueError};
use serde_json::{Map, Value};

use super::output::{self, NumbersAsText, Redacted};
use crate::support::output_tail;

/// Names with their sources, in the order of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Captures(pub Vec<(String, CaptureSource)>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CaptureSource {
    /// Part of standard output, read as JSON, by the parts of its path.
    StdoutJson(Vec<String>),
    Stdout,
    Stderr,
    /// `true` if standard output was too long to be kept whole.
    StdoutTruncated,
    /// `true` if standard error was too long to be kept whole.
    StderrTruncated,
    ExitCode,
    /// Duration in milliseconds.
    Duration,
}

/// Fixed paths. A path into JSON begins with `stdout.json`.
const SOURCES: [(&str, CaptureSource); 8] = [
    ("stdout.raw", CaptureSource::Stdout),
    ("stderr.raw", CaptureSource::Stderr),
    ("exit_code", CaptureSource::ExitCode),
    ("duration_ms", CaptureSource::Duration),
    ("exec.exit_code", CaptureSource::ExitCode),
    ("exec.duration_ms", CaptureSource::Duration),
    ("stdout.truncated", CaptureSource::StdoutTruncated),
    ("stderr.truncated", CaptureSource::StderrTruncated),
];

impl TextValue for CaptureSource {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching(
        "^(stdout\\.json(\\..+)?|std(out|err)\\.(raw|truncated)|(exec\\.)?(exit_code|duration_ms))$",
    ));

    fn from_text(path: &str) -> Result<Self, ValueError> {
        if let Some((_, source)) = SOURCES.iter().find(|(known, _)| *known == path) {
            return Ok(source.clone());
        }
        if path == "stdout.json" {
            return Ok(Self::StdoutJson(Vec::new()));
        }
        if let Some(rest) = path.strip_prefix("stdout.json.") {
            return parts(rest).map(Self::StdoutJson);
        }
        let known = SOURCES.iter().map(|(known, _)| *known).chain(["stdout.json"]);
        let error = ValueError::new(format!("`{}` can't be captured", escape_control(path)));
        Err(match closest(path, known) {
            None => error
                .with_hint("use `stdout.json.KEY`, `stdout.raw`, `stderr.raw`, `exit_code` or `duration_ms`"),
            near => error.with_suggestion(near),
        })
    }
}

/// Splits keys and indexes at dots; a backslash keeps the next character.
fn parts(path: &str) -> Result<Vec<String>, ValueError> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut rest = path.chars();
    while let Some(next) = rest.next() {
        match next {
            '.' => parts.push(std::mem::take(&mut part)),
            '\\' => part.push(rest.next().ok_or_else(|| ValueError::new("the path ends with a backslash"))?),
            '#' | '*' | '?' | '|' | '@' | '[' | ']' | '(' | ')' | '{' | '}' | '!' => {
                return Err(ValueError::new(format!("`{next}` is not allowed in a path")).with_hint(
                    format!(
                        "separate keys and indexes with dots, as in `stdout.json.list.0.name`; write \
                     `\\{next}` for the character itself"
                    ),
                ));
            }
            other => part.push(other),
        }
    }
    parts.push(part);
    if parts.iter().any(String::is_empty) {
        return Err(ValueError::new(format!("`{}` has an empty part", escape_control(path))));
    }
    Ok(parts)
}

impl Captures {
    /// Extracts the values from the output as printed, or returns each missing name with the reason.
    pub(crate) fn extract(
        &self,
        finished: &Finished,
        code: i32,
        redact: Redacted<'_>,
    ) -> Result<Value, Vec<(String, String)>> {
        let (stdout, stderr) = (finished.printed_stdout(), finished.printed_stderr());
        let (mut json, mut exact) = (None, None);
        let mut values = Map::new();
        let mut missing = Vec::new();
        for (name, source) in &self.0 {
            let value = match source {
                CaptureSource::StdoutJson(parts) => {
                    let read = |which| output::json_with_text(stdout, which);
                    let root = json.get_or_insert_with(|| read(NumbersAsText::PrintedDifferently));
                    let root = root.as_ref().map_err(|error| redact.json_error(error));
                    let found =
                        root.and_then(|root| at(root, parts).cloned().ok_or_else(|| not_there(root, parts)));
                    found.map(|found| match found {
                        // Within a list or map, a number stays a number.
                        Value::Array(_) | Value::Object(_) => {
                            let root = exact.get_or_insert_with(|| read(NumbersAsText::Inexact));
                            let found_again = root.as_ref().ok().and_then(|root| at(root, parts)).cloned();
                            found_again.unwrap_or(found)
                        }
                        found => found,
                    })
                }
                CaptureSource::Stdout => Ok(output_tail::text(stdout).into()),
                CaptureSource::Stderr => Ok(output_tail::text(stderr).into()),
                CaptureSource::StdoutTruncated => Ok(stdout.truncated().into()),
                CaptureSource::StderrTruncated => Ok(stderr.truncated().into()),
                CaptureSource::ExitCode => Ok(code.into()),
                CaptureSource::Duration => Ok(milliseconds(finished.duration).into()),
            };
            match value {
                Ok(value) => drop(values.insert(name.clone(), value)),
                Err(why) => missing.push((name.clone(), why)),
            }
        }
        if missing.is_empty() { Ok(Value::Object(values)) } else { Err(missing) }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn at<'v>(root: &'v Value, parts: &[String]) -> Option<&'v Value> {
    parts.iter().try_fold(root, |value, part| match value {
        Value::Object(map) => map.get(part),
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Returns the error of a missing path, up to its first missing part.
fn not_there(root: &Value, parts: &[String]) -> String {
    let there = (0..parts.len()).take_while(|end| at(root, &parts[..=*end]).is_some()).count();
    let path: Vec<String> = parts[..=there].iter().map(|part| output::escaped(part)).collect();
    format!("there is no `stdout.json.{}`", path.join("."))
}

impl PropertyValue for Captures {
    const KIND: PropertyKind =
        PropertyKind::Map { keys: Some("\\S"), values: &<CaptureSource as PropertyValue>::KIND, min: 1 };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let before = errors.len();
        let captures = NamedValues::decode(node, errors).map(|NamedValues(captures)| Self(captures));
        for entry in node.as_map().into_iter().flat_map(ccm_model::NodeMap::entries) {
            if entry.key.text.trim().is_empty() {
                errors.push(Diagnostic::error(
                    DiagnosticKind::Missing,
                    entry.value.span,
                    "a captured value has no name",
                ));
            }
        }
        captures.filter(|_| errors.len() == before)
    }
}

#[cfg(test)]
mod tests {
    use ccm_host::{CapturedOutput, Exit};
    use ccm_redaction::Redactor;
    use ccm_testkit::FakeRunner;
    use serde_json::json;

    use super::*;

    fn source(path: &str) -> Result<CaptureSource, String> {
        CaptureSource::from_text(path).map_err(|error| {
            let error = error.at(ccm_model::Span::default());
            [vec![error.message], error.hints].concat().join(" | ")
        })
    }

    #[test]
    fn paths_are_read() {
        let json = |parts: &[&str]| {
            Ok(CaptureSource::StdoutJson(parts.iter().map(|part| (*part).to_owned()).collect()))
        };
        for (path, expected) in [
            ("stdout.json", json(&[])),
            ("stdout.json.a.0.b c", json(&["a", "0", "b c"])),
            ("stdout.json.a\\.b", json(&["a.b"])),
            ("stdout.raw", Ok(CaptureSource::Stdout)),
            ("exec.duration_ms", Ok(CaptureSource::Duration)),
            ("stdout.json.", Err("`` has an empty part")),
            ("stdout.json.a\\", Err("the path ends with a backslash")),
            ("exit_kode", Err("`exit_kode` can't be captured | did you mean `exit_code`?")),
        ] {
            assert_eq!(source(path), expected.map_err(str::to_owned), "{path}");
        }
        let refused = source("stdout.json.list.#.a").unwrap_err();
        assert!(refused.starts_with("`#` is not allowed in a path"), "{refused}");
        assert!(source("nothing").unwrap_err().contains(" | use `stdout.json.KEY`"));
    }

    #[test]
    fn values_are_extracted_or_reported_as_missing() {
        let stdout = CapturedOutput {
            head: br#"{"a": {"b.c": [1, {"d": null}]}, "s": "x",
                "n": [1.50, 12345678901234567890123, -7]}"#
                .to_vec(),
            ..CapturedOutput::default()
        };
        let finished =
            Finished { stdout, duration: Duration::from_millis(7), ..FakeRunner::finished(Exit::Code(3)) };
        let extract = |path: &str| {
            let captures = Captures(vec![("it".to_owned(), source(path).unwrap())]);
            let extracted = captures.extract(&finished, 3, Redacted(&Redactor::default()));
            extracted.map(|value| value["it"].clone()).map_err(|missing| {
                let lines: Vec<String> = missing.iter().map(|(name, why)| format!("{name}: {why}")).collect();
                lines.join("\n")
            })
        };
        for (path, expected) in [
            ("stdout.json.s", Ok(json!("x"))),
            ("stdout.json.a.b\\.c.0", Ok(json!(1))),
            ("stdout.json.a.b\\.c.1.d", Ok(json!(null))),
            ("stdout.json.a.b\\.c.2", Err("it: there is no `stdout.json.a.b\\.c.2`")),
            ("stdout.json.x.y", Err("it: there is no `stdout.json.x`")),
            ("stdout.json.s.t", Err("it: there is no `stdout.json.s.t`")),
            ("stderr.raw", Ok(json!(""))),
            ("exit_code", Ok(json!(3))),
            ("duration_ms", Ok(json!(7))),
            ("stdout.truncated", Ok(json!(false))),
            ("stdout.json.n.0", Ok(json!("1.50"))),
            ("stdout.json.n.1", Ok(json!("12345678901234567890123"))),
            ("stdout.json.n.2", Ok(json!(-7))),
            ("stdout.json.n", Ok(json!([1.5, "12345678901234567890123", -7]))),
        ] {
            assert_eq!(extract(path), expected.map_err(str::to_owned), "{path}");
        }
    }
}
