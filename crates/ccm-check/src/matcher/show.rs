//! Expectations and values as text, for results.

use std::fmt;

use ccm_expr::Value;
use ccm_model::escape_control;

use super::patterns::LinePattern;
use super::{Comparison, Expectation, Matcher, Number, TextTest};

/// Maximum number of characters of a value.
const MAX_SHOWN: usize = 120;

/// Formats a value for a line of text, cut if it is long.
pub(crate) fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".into(),
        Value::Text(text) if text.is_empty() => "empty text".into(),
        other => other.to_string(),
    };
    short_text(&text)
}

fn short_text(text: &str) -> String {
    let end = text.char_indices().nth(MAX_SHOWN).map(|(end, _)| end);
    let dots = if end.is_some() { "…" } else { "" };
    format!("{}{dots}", escape_control(&text[..end.unwrap_or(text.len())]))
}

/// Noun phrase of the values that meet the expectation: `at least 5`, `text with the prefix a`.
impl fmt::Display for Matcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Matcher {
    /// Returns the patterns of lines that a text does not meet, if the expectation is a list of patterns.
    pub(crate) fn unmet_patterns(&self, text: &str) -> Option<String> {
        let Expectation::Patterns(patterns) = &self.0 else { return None };
        let unmet = patterns.iter().filter(|pattern| !pattern.holds(text));
        Some(unmet.map(|pattern| short_text(&pattern.written)).collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |name: &str, expectations: &[Self]| -> String {
            let shown: Vec<String> = expectations.iter().map(Self::to_string).collect();
            format!("{name} [{}]", shown.join(", "))
        };
        match self {
            Self::Bool(expected) => write!(formatter, "{expected}"),
            Self::Number(comparison, expected) => write!(formatter, "{}{expected}", comparison.words()),
            Self::Text(test, expected) => {
                let shown = short(&Value::text(&**expected));
                write!(formatter, "{}{shown}", test.words())
            }
            Self::Regex(written, _) => write!(formatter, "text that matches {}", short_text(written)),
            Self::Equal(expected) => write!(formatter, "exactly {}", short(expected)),
            Self::Length(length) => write!(formatter, "a length of {length}"),
            Self::Patterns(patterns) => {
                let written: Vec<&str> =
                    patterns.iter().map(|pattern: &LinePattern| &*pattern.written).collect();
                write!(formatter, "lines with {}", short_text(&written.join(", ")))
            }
            Self::HasKey(key) => write!(formatter, "a map with the key {key}"),
            Self::ContainsElement(element) => write!(formatter, "a list with the element {element}"),
            Self::ContainsElements { elements, .. } => formatter.write_str(&list("a list with", elements)),
            Self::ConsistsOf(elements) => formatter.write_str(&list("a list of exactly", elements)),
            Self::Not(inner) => write!(formatter, "not {inner}"),
            Self::All(all) => formatter.write_str(&list("all of", all)),
            Self::Any(any) => formatter.write_str(&list("any of", any)),
            Self::Semver(written, _) => write!(formatter, "a version {}", short_text(written)),
            Self::Json(paths) => {
                let shown: Vec<String> = paths
                    .iter()
                    .map(|(path, expected)| format!("{}: {expected}", short_text(path.text())))
                    .collect();
                write!(formatter, "JSON with {{{}}}", shown.join(", "))
            }
            Self::Xml(query) => write!(formatter, "XML with {}", short_text(&query.to_string())),
        }
    }
}

impl Comparison {
    fn words(self) -> &'static str {
        match self {
            Self::Equal => "",
            Self::Greater => "more than ",
            Self::AtLeast => "at least ",
            Self::Less => "less than ",
            Self::AtMost => "at most ",
        }
    }
}

impl TextTest {
    fn words(self) -> &'static str {
        match self {
            Self::Is => "",
            Self::Prefix => "text with the prefix ",
            Self::Suffix => "text with the suffix ",
            Self::Substring => "text with ",
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(formatter),
            Self::Float(number) => number.fmt(formatter),
        }
    }
}
