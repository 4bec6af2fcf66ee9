//! Assignments `KEY=VALUE` on the command line.

use std::sync::Arc;

use ccm_expr::Value;
use ccm_model::{DiagnosticKind, Scalar, ScalarStyle, SourceId};

use crate::nodes;

/// Error of an assignment. Holds no text of it: the value may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssignmentError {
    /// Missing `=`.
    #[error("the `=` is missing")]
    NoEquals,
    /// Missing key.
    #[error("the key before the `=` is missing")]
    NoKey,
    /// Empty part of a key: between two dots, before the first or after the last.
    #[error("a part of the key is empty")]
    EmptyPart,
    /// More parts than maps may be nested.
    #[error("the key has more than {MAX_DEPTH} parts")]
    TooDeep,
}

impl AssignmentError {
    /// Returns the kind of the diagnostic.
    pub fn kind(&self) -> DiagnosticKind {
        match self {
            Self::TooDeep => DiagnosticKind::LimitExceeded,
            Self::NoEquals | Self::NoKey | Self::EmptyPart => DiagnosticKind::Syntax,
        }
    }

    /// Hint on the syntax.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoEquals | Self::NoKey => {
                "write `KEY=VALUE`, such as `port=8080`, or `web.port=8080` for a key within a map"
            }
            Self::EmptyPart => {
                "remove the extra dot, or write `\\.` for a dot that belongs to a key, in quotes: `'a\\.b=1'`"
            }
            Self::TooDeep => "put deep data into a file",
        }
    }
}

/// Maximum depth, the same as in YAML.
const MAX_DEPTH: usize = 64;

/// Parses `KEY=VALUE` to a map. Dots in the key lead into maps, `\.` is a dot in a key. The value is typed as
/// a YAML scalar: `5` is a number, `true` a boolean, `~` null, `"5"` and everything else text. An empty value is
/// empty text.
pub fn read(text: &str) -> Result<Value, AssignmentError> {
    let (parts, written) = split(text)?;
    let within = |value, part: String| Value::map([(Arc::<str>::from(part), value)]);
    Ok(parts.into_iter().rev().fold(value(written), within))
}

/// Returns the keys of `KEY=VALUE` from the root.
pub fn path(text: &str) -> Result<Vec<String>, AssignmentError> {
    split(text).map(|(parts, _)| parts)
}

fn split(text: &str) -> Result<(Vec<String>, &str), AssignmentError> {
    let (key, written) = text.split_once('=').ok_or(AssignmentError::NoEquals)?;
    if key.is_empty() {
        return Err(AssignmentError::NoKey);
    }
    let parts = parts(key);
    if parts.iter().any(|part| part.trim().is_empty()) {
        return Err(AssignmentError::EmptyPart);
    }
    if parts.len() > MAX_DEPTH {
        return Err(AssignmentError::TooDeep);
    }
    Ok((parts, written))
}

fn parts(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = key.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, parts.last_mut()) {
            ('.', _) => parts.push(String::new()),
            ('\\', Some(part)) if characters.peek() == Some(&'.') => {
                part.extend(characters.next());
            }
            (character, Some(part)) => part.push(character),
            (_, None) => {}
        }
    }
    parts
}

fn value(written: &str) -> Value {
    if written.is_empty() {
        return Value::text("");
    }
    if let Some(quoted) = quoted(written) {
        return quoted;
    }
    nodes::of_scalar(&Scalar { text: written.into(), style: ScalarStyle::Plain })
}

/// Parses a text in quotes; quotes around only a part belong to the text.
fn quoted(written: &str) -> Option<Value> {
    let quote = written.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    if !written.ends_with(quote) {
        return None;
    }
    let node = ccm_yaml::parse(SourceId::default(), written, &ccm_yaml::Limits::default()).ok()??;
    let scalar = node.as_scalar().filter(|scalar| scalar.style == ScalarStyle::Quoted)?;
    Some(Value::text(&*scalar.text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{same, value as yaml};

    #[test]
    fn assignments_are_parsed() {
        for (text, expected) in [
            ("a=5", "{a: 5}"),
            ("a=1.5", "{a: 1.5}"),
            ("a=0644", "{a: '0644'}"),
            ("a=true", "{a: true}"),
            ("a=yes", "{a: 'yes'}"),
            ("a=", "{a: ''}"),
            ("a=~", "{a: ~}"),
            ("a=null", "{a: ~}"),
            ("a=\"5\"", "{a: '5'}"),
            ("a='null'", "{a: 'null'}"),
            (r#"a="x\ty""#, r#"{a: "x\ty"}"#),
            ("a=\"x", "{a: '\"x'}"),
            ("a=\"x\" and \"y\"", "{a: '\"x\" and \"y\"'}"),
            ("a=b=c", "{a: 'b=c'}"),
            ("a=[1]", "{a: '[1]'}"),
            ("a={{ x }}", "{a: '{{ x }}'}"),
            ("a= 5", "{a: ' 5'}"),
            ("a.b.c=x", "{a: {b: {c: x}}}"),
            (r"a\.b=x", "{'a.b': x}"),
            (r"a\.b.c\d=x", r"{'a.b': {'c\d': x}}"),
            ("a-b_ä=x", "{'a-b_ä': x}"),
        ] {
            let found = read(text).expect("an assignment");
            assert!(same(&found, &yaml(expected)), "{text}: {found:?}");
        }
    }

    #[test]
    fn invalid_assignments_are_refused() {
        let deep = format!("{}a=1", "a.".repeat(64));
        for (text, error) in [
            ("", AssignmentError::NoEquals),
            ("a", AssignmentError::NoEquals),
            ("=x", AssignmentError::NoKey),
            ("a..b=x", AssignmentError::EmptyPart),
            (".a=x", AssignmentError::EmptyPart),
            ("a.=x", AssignmentError::EmptyPart),
            (" =x", AssignmentError::EmptyPart),
            (&deep, AssignmentError::TooDeep),
        ] {
            assert_eq!(read(text).err(), Some(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_assignment_or_an_error(text in r#"([ab.\\="' ]|ä|\n)*"#) {
            if let Ok(value) = read(&text) {
                prop_assert!(matches!(value, Value::Map(map) if map.len() == 1));
            }
        }
    }
}
