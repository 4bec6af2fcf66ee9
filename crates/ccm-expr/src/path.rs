//! Lookup by path: the gjson path syntax, over values instead of JSON text.

mod evaluate;
mod layout;
mod limits;
mod modifiers;
mod parse;
mod pattern;
mod query;
mod suggest;
mod syntax;

use std::ops::Range;

use crate::Value;
use evaluate::Evaluation;
use syntax::{Chain, PathPart, PathStage};

pub use limits::PathLimit;

/// Parsed path, for any number of lookups.
#[derive(Clone, Debug)]
pub struct Path {
    text: Box<str>,
    chain: Chain,
}

/// Syntax error of a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PathError {
    /// Bytes of the text with the error.
    pub range: Range<usize>,
    /// Message.
    pub message: String,
}

impl Path {
    /// Parses a path.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Ok(Self { text: text.into(), chain: parse::parse(text)? })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Looks the path up in a value; `None` if the value has no such part.
    pub fn find(&self, root: &Value) -> Result<Option<Value>, PathLimit> {
        Evaluation::new().find(&self.chain, root)
    }

    /// Returns the leading parts that are plain names; without them nothing is found.
    pub fn constant_prefix(&self) -> Vec<String> {
        self.leading_names().map(|(name, _)| name.to_owned()).collect()
    }

    /// Suggests the path that was probably meant, if a misspelt name finds nothing.
    pub fn closest(&self, root: &Value) -> Option<String> {
        suggest::closest_path(self, root)
    }

    /// Returns the leading plain names, each with its range in the text.
    fn leading_names(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.chain
            .stages
            .iter()
            .flat_map(|stage| match stage {
                PathStage::Parts(parts) => parts.iter().map(Some).collect(),
                _ => vec![None],
            })
            .map_while(|part| match part {
                Some(PathPart::Name { name, range }) => Some((&**name, range.clone())),
                _ => None,
            })
    }
}

/// Escapes a key as one part of a path.
pub fn escape(name: &str) -> String {
    const SPECIAL: &str = r#"\.|#@*?!{}[]()",:=<>%~"#;
    let mut escaped = String::with_capacity(name.len());
    for character in name.chars() {
        if SPECIAL.contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
