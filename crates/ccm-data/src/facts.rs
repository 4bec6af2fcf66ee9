//! Facts from JSON and YAML files, merged. A text that looks like an expression stays text.

use std::collections::HashSet;
use std::fmt;

use ccm_expr::Value;
use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span, escape_control};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::{merge, nodes};

/// Format of a file of facts, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactFormat {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// Text of a file of facts.
#[derive(Clone, Copy, Debug)]
pub struct FactFile<'a> {
    /// Source of the spans in errors.
    pub source: SourceId,
    /// Content of the file.
    pub text: &'a str,
    /// Format of the content.
    pub format: FactFormat,
}

/// Reads files and merges them, each over those before, or returns the errors of all files. An empty
/// YAML file is valid and holds no facts.
pub fn read_all(files: &[FactFile<'_>]) -> Result<Value, Vec<Diagnostic>> {
    let mut facts = Value::map::<&str>([]);
    let mut errors = Vec::new();
    for file in files {
        match read(file) {
            Ok(found) => merge::facts(&mut facts, &found),
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() { Ok(facts) } else { Err(errors) }
}

/// Reads a file, which holds a map.
pub fn read(file: &FactFile<'_>) -> Result<Value, Vec<Diagnostic>> {
    match file.format {
        FactFormat::Json => json(file).map_err(|error| vec![error]),
        FactFormat::Yaml => {
            let root = ccm_yaml::parse(file.source, file.text, &ccm_yaml::Limits::default())?;
            let Some(root) = root else { return Ok(Value::map::<&str>([])) };
            if root.as_map().is_none() {
                let message = format!("expected a map of facts, found {}", root.describe());
                return Err(vec![Diagnostic::error(DiagnosticKind::WrongType, root.span, message)]);
            }
            Ok(nodes::to_value(&root))
        }
    }
}

fn json(file: &FactFile<'_>) -> Result<Value, Diagnostic> {
    let text = file.text.trim_start_matches('\u{feff}');
    let skipped = file.text.len() - text.len();
    let read = serde_json::from_str(text).and_then(|read| {
        // Syntax errors come before duplicate keys.
        serde_json::from_str::<UniqueKeys>(text).map(|_| read)
    });
    match read {
        Ok(object @ serde_json::Value::Object(_)) => Ok(object.into()),
        Ok(other) => {
            let found = Value::from(other).kind();
            let start = skipped + text.len() - text.trim_start().len();
            let span = Span::new(file.source, start, (skipped + text.trim_end().len()).max(start));
            Err(Diagnostic::error(
                DiagnosticKind::WrongType,
                span,
                format!("expected a map of facts, found {found}"),
            ))
        }
        Err(error) => {
            let at = skipped + offset(text, error.line(), error.column());
            let length = file.text[at..].chars().next().map_or(0, char::len_utf8);
            let (kind, message) = explained(&error);
            Err(Diagnostic::error(kind, Span::new(file.source, at, at + length), message))
        }
    }
}

/// JSON without duplicate keys in any object.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self, A::Error> {
        while elements.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key `{}` is given twice",
                    escape_control(&key)
                )));
            }
            keys.insert(key);
            entries.next_value::<Self>()?;
        }
        Ok(self)
    }
}

/// Kind and message of an error, without the position that the parser appends.
fn explained(error: &serde_json::Error) -> (DiagnosticKind, String) {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
    match what {
        "recursion limit exceeded" => {
            (DiagnosticKind::LimitExceeded, "nested deeper than 127 levels".to_owned())
        }
        what if what.starts_with("EOF") => {
            (DiagnosticKind::Syntax, "the JSON text ends too early".to_owned())
        }
        // Of valid JSON, only duplicate keys are refused.
        what if error.is_data() => (DiagnosticKind::DuplicateKey, what.to_owned()),
        what => (DiagnosticKind::Syntax, what.to_owned()),
    }
}

/// Offset of a position that the parser reports: lines from 1, columns in bytes; column 0 is the end of the
/// line before.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let line_start = match line.checked_sub(2) {
        None => 0,
        Some(line_ends) => text.match_indices('\n').nth(line_ends).map_or(text.len(), |(at, _)| at + 1),
    };
    let mut at = (line_start + column).saturating_sub(1).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{any_map, same, value};

    fn json(text: &str) -> FactFile<'_> {
        FactFile { source: SourceId(1), text, format: FactFormat::Json }
    }

    fn yaml(text: &str) -> FactFile<'_> {
        FactFile { source: SourceId(2), text, format: FactFormat::Yaml }
    }

    #[test]
    fn facts_are_merged_in_order() {
        let found = read_all(&[
            json(
                "\u{feff}{\"a\": {\"x\": 1, \"y\": 1.5}, \"l\": [1],\n\t\"t\": \"\\u00e4\\ud83d\\ude00\\/\"}",
            ),
            yaml(""),
            yaml("# nothing\n"),
            yaml("a: {y: 0644}\nl: [2]"),
            json("{\"a\": {\"z\": null}}"),
        ]);
        let expected = value("{a: {x: 1, y: '0644', z: ~}, l: [2], t: 'ä😀/'}");
        assert!(same(&found.expect("no error"), &expected));
        assert!(same(&read_all(&[]).expect("no error"), &value("{}")));
    }

    #[test]
    fn a_fact_that_looks_like_an_expression_is_text() {
        for file in [json(r#"{"a": "{{ Facts.b }} ${ x }"}"#), yaml("a: '{{ Facts.b }} ${ x }'")] {
            let found = read_all(&[file]).expect("no error");
            assert!(same(&found, &Value::map([("a", Value::text("{{ Facts.b }} ${ x }"))])));
        }
    }

    #[test]
    fn errors_of_all_files_are_reported_with_spans() {
        let files = [
            json("{\"a\": 1,\n \"b\": x}"),
            json("{\"a\": 1"),
            json(""),
            json("[1]"),
            json(" \"ä\" "),
            json("{\"a\": 1}\n}"),
            json("{\"ä\": \"\n\"}"),
            json("{\"a\": [{\"b\": 1.5, \"b\": null}]}"),
            yaml("a: 1\na: 2"),
            yaml("- 1"),
            yaml("text"),
        ];
        let errors = read_all(&files).expect_err("errors");
        let texts = files.iter().map(|file| file.text);
        let found: Vec<String> = errors
            .iter()
            .zip(texts)
            .map(|(error, text)| {
                let span = error.span().expect("a span");
                format!("{}@{} {}", &text[span.range()], span.start, error.kind)
            })
            .collect();
        assert_eq!(
            found,
            [
                "x@15 syntax",
                "1@6 syntax",
                "@0 syntax",
                "[1]@0 wrong-type",
                "\"ä\"@1 wrong-type",
                "}@9 syntax",
                "\n@8 syntax",
                "\"@20 duplicate-key",
                "a@5 duplicate-key",
                "- 1@0 wrong-type",
                "text@0 wrong-type",
            ]
        );
    }

    #[test]
    fn deep_and_broken_files_are_refused() {
        for text in ["[".repeat(1_000_000), "{\"a\":".repeat(1_000_000), "\"\\".repeat(1_000)] {
            assert!(read_all(&[json(&text)]).is_err());
            assert!(read_all(&[yaml(&text)]).is_err());
        }
        let deep = format!("{{\"a\": {}{}}}", "[".repeat(120), "]".repeat(120));
        assert!(read_all(&[json(&deep)]).is_ok());
    }

    proptest! {
        #[test]
        fn json_facts_are_read_back(facts in any_map()) {
            let text = crate::printed::to_json(&facts).to_string();
            let found = read_all(&[json(&text)]).expect("no error");
            prop_assert_eq!(crate::printed::to_json(&found).to_string(), text);
        }

        #[test]
        fn any_text_is_facts_or_an_error(text in r#"([{}\[\]",:a1\\\n ]|ä)*"#) {
            for error in read_all(&[json(&text)]).err().unwrap_or_default() {
                let span = error.span().expect("a span");
                prop_assert!(text.get(span.range()).is_some());
            }
        }
    }
}
