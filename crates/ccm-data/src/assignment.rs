//! `KEY=VALUE` as it is given on the command line.

use std::sync::Arc;

use ccm_expr::Value;
use ccm_model::{Scalar, ScalarStyle, SourceId};

use crate::nodes;

/// Says why a text is no assignment, and nothing of the text: what was meant as a value may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssignmentError {
    /// There is no `=`.
    #[error("there is no `=` in it")]
    NoEquals,
    /// There is nothing before the `=`.
    #[error("there is no key before the `=`")]
    NoKey,
    /// There is nothing between two dots of the key, or before the first or behind the last.
    #[error("a part of the key is empty")]
    EmptyPart,
    /// The key has more parts than maps may stand within each other.
    #[error("the key has more than {DEEPEST} parts")]
    TooDeep,
}

impl AssignmentError {
    /// Advises how to write it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoEquals | Self::NoKey => "write it like `port=8080` or `web.port=8080`",
            Self::EmptyPart => "write `\\.` for a dot that belongs to a key",
            Self::TooDeep => "put deep data into a file",
        }
    }
}

/// As deep as YAML text may be.
const DEEPEST: usize = 64;

/// Reads `KEY=VALUE` as a map: dots in the key lead into maps, `\.` is a dot that belongs to a key. The value is
/// read as YAML reads a scalar: `5` is a number, `true` a boolean, `~` null, `"5"` and everything else text. No
/// value is an empty text.
pub fn read(text: &str) -> Result<Value, AssignmentError> {
    let (key, written) = text.split_once('=').ok_or(AssignmentError::NoEquals)?;
    if key.is_empty() {
        return Err(AssignmentError::NoKey);
    }
    let parts = parts(key);
    if parts.iter().any(|part| part.trim().is_empty()) {
        return Err(AssignmentError::EmptyPart);
    }
    if parts.len() > DEEPEST {
        return Err(AssignmentError::TooDeep);
    }
    let within = |value, part: String| Value::map([(Arc::<str>::from(part), value)]);
    Ok(parts.into_iter().rev().fold(value(written), within))
}

/// Splits a key at its dots.
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

/// A text in quotes; quotes that hold not all of it belong to the text.
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
    fn assignments_are_read() {
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
    fn what_is_no_assignment_is_refused() {
        let deep = format!("{}a=1", "a.".repeat(64));
        for (text, error) in [
            ("", "there is no `=` in it"),
            ("a", "there is no `=` in it"),
            ("=x", "there is no key before the `=`"),
            ("a..b=x", "a part of the key is empty"),
            (".a=x", "a part of the key is empty"),
            ("a.=x", "a part of the key is empty"),
            (" =x", "a part of the key is empty"),
            (&deep, "the key has more than 64 parts"),
        ] {
            assert_eq!(read(text).err().map(|error| error.to_string()).as_deref(), Some(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in r#"([ab.\\="' ]|ä|\n)*"#) {
            if let Ok(value) = read(&text) {
                prop_assert!(matches!(value, Value::Map(map) if map.len() == 1));
            }
        }
    }
}
