//! Comparison of values with expectations.

use ccm_expr::Value;
use ccm_expr::path::Path;

use super::convert::{elements, found, number, text};
use super::semver::{Constraint, Version};
use super::{Expectation, MatchError, TextTest};

/// Maximum number of elements that are assigned to expectations.
const MAX_ELEMENTS: usize = 10_000;

impl Expectation {
    /// Returns `true` if a value meets the expectation. A value that can't be compared is an error, also below `not`.
    pub(super) fn matches(&self, value: &Value) -> Result<bool, MatchError> {
        match self {
            Self::Bool(expected) => Ok(matches!(value, Value::Bool(boolean) if boolean == expected)),
            Self::Number(comparison, expected) => Ok(number(value)?.meets(*comparison, *expected)),
            Self::Text(test, expected) => {
                let found = text(value)?;
                Ok(match test {
                    TextTest::Is => *found == **expected,
                    TextTest::Prefix => found.starts_with(&**expected),
                    TextTest::Suffix => found.ends_with(&**expected),
                    TextTest::Substring => found.contains(&**expected),
                })
            }
            Self::Regex(_, regex) => Ok(regex.is_match(&text(value)?)),
            Self::Equal(expected) => Ok(value == expected),
            Self::Length(expected) => Ok(length(value)? == *expected),
            Self::Patterns(patterns) => {
                let text = text(value)?;
                Ok(patterns.iter().all(|pattern| pattern.holds(&text)))
            }
            Self::HasKey(key) => has_key(value, key),
            Self::ContainsElement(expected) => contains_element(value, expected),
            Self::ContainsElements { elements: expected, splits_text } => {
                assigns_each(expected, &elements(value, *splits_text)?)
            }
            Self::ConsistsOf(expected) => {
                let elements = elements(value, false)?;
                Ok(elements.len() == expected.len() && assigns_each(expected, &elements)?)
            }
            Self::Not(inner) => inner.matches(value).map(|is_met| !is_met),
            Self::All(all) => until(all, value, false),
            Self::Any(any) => until(any, value, true),
            Self::Semver(_, constraint) => meets_version(value, constraint),
            Self::Json(paths) => meets_json(value, paths),
            Self::Xml(query) => query.matches(value),
        }
    }
}

/// Compares a value with one expectation after the other until the result is `end`, or an error.
fn until(expectations: &[Expectation], value: &Value, end: bool) -> Result<bool, MatchError> {
    for expectation in expectations {
        if expectation.matches(value)? == end {
            return Ok(end);
        }
    }
    Ok(!end)
}

fn length(value: &Value) -> Result<usize, MatchError> {
    match value {
        Value::Text(text) => Ok(text.len()),
        Value::List(elements) => Ok(elements.len()),
        Value::Map(map) => Ok(map.len()),
        other => Err(found("text, a list or a map", other)),
    }
}

fn has_key(value: &Value, expected: &Expectation) -> Result<bool, MatchError> {
    let Value::Map(map) = value else { return Err(found("a map", value)) };
    for key in map.keys() {
        if expected.matches(&Value::Text(key.clone()))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if an element meets the expectation. Elements that can't be compared only count if none does.
fn contains_element(value: &Value, expected: &Expectation) -> Result<bool, MatchError> {
    let mut error = None;
    for element in elements(value, true)? {
        match expected.matches(&element) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(found) => error = Some(found),
        }
    }
    error.map_or(Ok(false), Err)
}

/// Returns `true` if each expectation gets an element of its own that meets it.
fn assigns_each(expectations: &[Expectation], elements: &[Value]) -> Result<bool, MatchError> {
    if elements.len() > MAX_ELEMENTS {
        return Err(MatchError(format!("the list has more than {MAX_ELEMENTS} elements")));
    }
    if expectations.len() > elements.len() {
        return Ok(false);
    }
    let candidates = |expectation: &Expectation| -> Vec<usize> {
        let is_met = |element: &Value| expectation.matches(element) == Ok(true);
        elements.iter().enumerate().filter(|(_, element)| is_met(element)).map(|(at, _)| at).collect()
    };
    let mut assignment = Assignment {
        candidates: expectations.iter().map(candidates).collect(),
        owners: vec![None; elements.len()],
    };
    Ok((0..expectations.len()).all(|expectation| {
        let mut visited = vec![false; elements.len()];
        assignment.assign(expectation, &mut visited)
    }))
}

/// Largest matching of expectations with elements, by augmenting paths.
struct Assignment {
    /// Elements that meet each expectation.
    candidates: Vec<Vec<usize>>,
    /// Expectation that each element was assigned to.
    owners: Vec<Option<usize>>,
}

impl Assignment {
    fn assign(&mut self, expectation: usize, visited: &mut [bool]) -> bool {
        for at in 0..self.candidates[expectation].len() {
            let element = self.candidates[expectation][at];
            if std::mem::replace(&mut visited[element], true) {
                continue;
            }
            let is_free = match self.owners[element] {
                None => true,
                Some(owner) => self.assign(owner, visited),
            };
            if is_free {
                self.owners[element] = Some(expectation);
                return true;
            }
        }
        false
    }
}

/// Returns `true` if a version, or each version of a list, meets a constraint.
fn meets_version(value: &Value, constraint: &Constraint) -> Result<bool, MatchError> {
    let version = |value: &Value| match value {
        Value::Text(text) => Version::parse(text).ok_or_else(|| found("a version such as 1.2.3", value)),
        other => Err(found("a version such as 1.2.3", other)),
    };
    match value {
        Value::List(elements) if !elements.is_empty() => {
            let versions: Vec<Version> = elements.iter().map(version).collect::<Result<_, _>>()?;
            Ok(versions.iter().all(|version| constraint.holds(version)))
        }
        other => Ok(constraint.holds(&version(other)?)),
    }
}

fn meets_json(value: &Value, paths: &[(Path, Expectation)]) -> Result<bool, MatchError> {
    let Value::Text(text) = value else { return Err(found("text with JSON", value)) };
    let document: serde_json::Value =
        serde_json::from_str(text).map_err(|error| MatchError(format!("expected JSON: {error}")))?;
    let document = Value::from(document);
    for (path, expectation) in paths {
        let shown = ccm_model::escape_control(path.text());
        let found = path.find(&document).map_err(|limit| MatchError(format!("path `{shown}`: {limit}")))?;
        let Some(found) = found else {
            let close = path.closest(&document).map(|close| format!(", did you mean `{close}`?"));
            return Err(MatchError(format!("nothing at the path `{shown}`{}", close.unwrap_or_default())));
        };
        if !expectation.matches(&found)? {
            return Ok(false);
        }
    }
    Ok(true)
}
