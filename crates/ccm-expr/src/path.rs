//! Looking values up by path: the gjson path syntax, over values instead of JSON text.

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
use syntax::{Chain, Part, Stage};

pub use limits::PathLimit;

/// A path, parsed once and looked up as often as needed.
#[derive(Clone, Debug)]
pub struct Path {
    text: Box<str>,
    chain: Chain,
}

/// What is wrong with the text of a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PathError {
    /// The bytes of the text that are wrong.
    pub range: Range<usize>,
    /// What is wrong there.
    pub message: String,
}

impl Path {
    /// Parses a path.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Ok(Self { text: text.into(), chain: parse::parse(text)? })
    }

    /// The text that it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Looks it up in a value; nothing where the value has no such part.
    pub fn find(&self, root: &Value) -> Result<Option<Value>, PathLimit> {
        Evaluation::new().find(&self.chain, root)
    }

    /// The leading parts that are plain names: what must be there for anything to be found.
    pub fn constant_prefix(&self) -> Vec<String> {
        self.leading_names().map(|(name, _)| name.to_owned()).collect()
    }

    /// The path that was most likely meant, for one that finds nothing because a name is misspelt.
    pub fn closest(&self, root: &Value) -> Option<String> {
        suggest::closest_path(self, root)
    }

    /// The leading plain names, each with its place in the text.
    fn leading_names(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.chain
            .stages
            .iter()
            .flat_map(|stage| match stage {
                Stage::Parts(parts) => parts.iter().map(Some).collect(),
                _ => vec![None],
            })
            .map_while(|part| match part {
                Some(Part::Name { name, range }) => Some((&**name, range.clone())),
                _ => None,
            })
    }
}

/// Writes a key as one part of a path, with a backslash before whatever a path gives a meaning.
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
