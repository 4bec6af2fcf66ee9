//! Selection and order of overrides. [`read`] reads `hierarchy`, [`Overrides::read`] the overrides. The
//! caller expands the entries of `order`, and of the selected overrides what no higher layer replaces.

mod effect;
mod read;

use ccm_expr::Value;
use ccm_model::{Node, NodeKey, Span};
use indexmap::IndexMap;

use crate::layers::{Layers, ValueSource};

pub use read::read;

/// The `hierarchy` property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchy {
    /// Entries of `order`, not expanded.
    pub order: Vec<OrderEntry>,
    /// Merge strategy.
    pub merge: Merge,
    /// The manifest has no hierarchy.
    is_implied: bool,
    /// Parts with errors are left out.
    is_incomplete: bool,
}

/// Entry of `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderEntry {
    /// Text, which may hold expressions.
    pub text: Box<str>,
    /// Span.
    pub span: Span,
}

/// Strategy to merge overrides into the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// The first override found replaces whole keys; no other applies.
    #[default]
    First,
    /// All overrides found are merged deep, in order.
    Deep,
}

/// Expanded entry of `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpandedEntry {
    /// Name of an override.
    Name(String),
    /// No name, because all expressions are empty.
    Empty,
}

impl ExpandedEntry {
    /// Builds an entry from its name and the values of its expressions; null and empty text are empty. An
    /// entry without expressions is a name.
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

/// Override.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// Name.
    pub key: NodeKey,
    /// Map, not expanded.
    pub node: Node,
}

/// All overrides by name.
#[derive(Clone, Debug, Default)]
pub struct Overrides(IndexMap<Box<str>, Override>);

impl Overrides {
    /// Returns an override by name.
    pub fn get(&self, name: &str) -> Option<&Override> {
        self.0.get(name)
    }

    /// Returns all overrides in manifest order.
    pub fn iter(&self) -> impl Iterator<Item = &Override> {
        self.0.values()
    }
}

/// Outcome of an entry of `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryOutcome {
    /// All expressions are empty.
    Empty,
    /// No override has this name.
    NotFound(String),
    /// The override applies.
    Applied(String),
    /// The override applies already.
    Repeated(String),
    /// An earlier entry was found, and only the first counts.
    NotReached(Option<String>),
}

/// Overrides that apply.
#[derive(Clone, Debug)]
pub struct Selection<'o> {
    /// Outcome of each entry of `order`.
    pub outcomes: Vec<EntryOutcome>,
    /// Overrides that apply, in order.
    pub applied: Vec<&'o Override>,
}

/// Selects the overrides that apply. `expanded` holds the entries of `order`.
pub fn select<'o>(merge: Merge, expanded: &[ExpandedEntry], overrides: &'o Overrides) -> Selection<'o> {
    let mut outcomes = Vec::with_capacity(expanded.len());
    let mut applied: IndexMap<&str, &Override> = IndexMap::new();
    for entry in expanded {
        let is_over = merge == Merge::First && !applied.is_empty();
        outcomes.push(match entry {
            ExpandedEntry::Empty if is_over => EntryOutcome::NotReached(None),
            ExpandedEntry::Empty => EntryOutcome::Empty,
            ExpandedEntry::Name(name) if is_over => EntryOutcome::NotReached(Some(name.clone())),
            ExpandedEntry::Name(name) => match overrides.get(name) {
                None => EntryOutcome::NotFound(name.clone()),
                // Applying an override twice would append its lists twice.
                Some(_) if applied.contains_key(name.as_str()) => EntryOutcome::Repeated(name.clone()),
                Some(found) => {
                    applied.insert(name, found);
                    EntryOutcome::Applied(name.clone())
                }
            },
        });
    }
    Selection { outcomes, applied: applied.into_values().collect() }
}

/// Returns the data with the overrides that apply, each evaluated, as layers.
pub fn layers(data: Value, merge: Merge, applied: impl IntoIterator<Item = (String, Value)>) -> Layers {
    let mut layers = Layers::new(data);
    for (name, value) in applied {
        match merge {
            Merge::First => layers.add_shallow(ValueSource::Override(name), value),
            Merge::Deep => layers.add_deep(ValueSource::Override(name), value),
        }
    }
    layers
}

#[cfg(test)]
mod tests;
