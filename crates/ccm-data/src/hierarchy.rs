//! Which overrides apply, and in what order.
//!
//! [`read`] takes `hierarchy` apart, [`Overrides::read`] the overrides. Whoever calls expands the entries of
//! `order` and the overrides that are chosen; an override for other machines is never looked into.

mod read;

use ccm_expr::Value;
use ccm_model::{Key, Node, Span};
use indexmap::IndexMap;

use crate::layers::{Layers, Source};

pub use read::read;

/// What `hierarchy` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchy {
    /// The entries of `order`, as they were written.
    pub order: Vec<Entry>,
    /// How what they choose is laid over the data.
    pub merge: Merge,
}

/// An entry of `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its text; it may hold expressions.
    pub text: Box<str>,
    /// Where it was written.
    pub span: Span,
}

/// How overrides are laid over the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// The first that is found replaces whole keys, and no other applies.
    #[default]
    First,
    /// All that are found are merged, in order.
    Deep,
}

/// An entry of `order`, expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expanded {
    /// The name of the override that it asks for.
    Name(String),
    /// None, because all of its expressions came up empty.
    Empty,
}

impl Expanded {
    /// Judges an expanded entry by what its expressions yielded: null and empty text are empty. An entry
    /// without expressions is a name.
    pub fn new<'a>(name: String, yielded: impl IntoIterator<Item = &'a Value>) -> Self {
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::Text(text) => text.is_empty(),
            _ => false,
        };
        let mut yielded = yielded.into_iter().peekable();
        if name.is_empty() || (yielded.peek().is_some() && yielded.all(is_empty)) {
            Self::Empty
        } else {
            Self::Name(name)
        }
    }
}

/// An override.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// Its name.
    pub key: Key,
    /// Its map, not expanded.
    pub node: Node,
}

/// All overrides by name.
#[derive(Clone, Debug, Default)]
pub struct Overrides(IndexMap<Box<str>, Override>);

impl Overrides {
    /// The override of that name.
    pub fn get(&self, name: &str) -> Option<&Override> {
        self.0.get(name)
    }

    /// All overrides, as they were written.
    pub fn iter(&self) -> impl Iterator<Item = &Override> {
        self.0.values()
    }
}

/// What became of an entry of `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of its expressions came up empty.
    Empty,
    /// There is no override of that name.
    NotFound(String),
    /// The override of that name applies.
    Applied(String),
    /// The override of that name applies already.
    Repeated(String),
    /// An earlier entry was found, and only the first counts.
    NotReached(Option<String>),
}

/// What came of a hierarchy.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// What became of each entry of `order`.
    pub outcomes: Vec<Outcome>,
    /// The data and the overrides that apply; further layers can be added on top.
    pub layers: Layers,
}

/// Finds the overrides that apply. `expanded` is `order` in its order; `to_value` gives the value of an
/// override's node, and is asked for those that apply only.
pub fn resolve(
    data: Value,
    merge: Merge,
    expanded: &[Expanded],
    overrides: &Overrides,
    mut to_value: impl FnMut(&Node) -> Value,
) -> Resolution {
    let mut layers = Layers::new(data);
    let mut outcomes = Vec::with_capacity(expanded.len());
    let mut applied = std::collections::HashSet::new();
    for entry in expanded {
        let is_over = merge == Merge::First && !applied.is_empty();
        outcomes.push(match entry {
            Expanded::Empty if is_over => Outcome::NotReached(None),
            Expanded::Empty => Outcome::Empty,
            Expanded::Name(name) if is_over => Outcome::NotReached(Some(name.clone())),
            Expanded::Name(name) => match overrides.get(name) {
                None => Outcome::NotFound(name.clone()),
                // Twice the same would append its lists twice.
                Some(_) if !applied.insert(name) => Outcome::Repeated(name.clone()),
                Some(found) => {
                    let value = to_value(&found.node);
                    let source = Source::Override(name.clone());
                    match merge {
                        Merge::First => layers.add_shallow(source, value),
                        Merge::Deep => layers.add_deep(source, value),
                    }
                    Outcome::Applied(name.clone())
                }
            },
        });
    }
    Resolution { outcomes, layers }
}

#[cfg(test)]
mod tests;
