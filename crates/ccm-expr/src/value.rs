//! What expressions are made of and what they yield.

mod equality;
mod json;
mod show;

use std::sync::Arc;

use indexmap::IndexMap;

pub(crate) use equality::{Compared, hash};
pub(crate) use json::indented;
pub(crate) use show::go_text;

use crate::time::{CalendarPart, Moment};

/// A map in the order in which it was written.
pub type Map = IndexMap<Arc<str>, Value>;

/// A value of data, of facts, or of an expression. Cloning is cheap: what is large is shared.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Nothing: null in YAML and JSON, `nil` in expressions.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// Bytes, which need not be text.
    Bytes(Arc<[u8]>),
    /// A list.
    List(Arc<Vec<Value>>),
    /// A map.
    Map(Arc<Map>),
    /// A map of which at least one key is not text, in the order in which it was made.
    Groups(Arc<Vec<(Value, Value)>>),
    /// A span of time, in nanoseconds.
    Duration(i64),
    /// A date with its time and zone.
    Moment(Moment),
    /// A month, a weekday or a time zone: what a date is asked for.
    Calendar(CalendarPart),
}

impl Value {
    /// Builds text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// Builds a list.
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::List(Arc::new(elements.into_iter().collect()))
    }

    /// Builds a map.
    pub fn map<K: Into<Arc<str>>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(Arc::new(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// Names its kind, for messages of the form "expected …, found …".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Groups(_) => "a map",
            Self::Duration(_) => "a duration",
            Self::Moment(_) => "a date",
            Self::Calendar(part) => part.kind(),
        }
    }

    /// The value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(map) => map.get(key),
            Self::Groups(entries) => entries.iter().find_map(|(name, value)| match name {
                Self::Text(name) if **name == *key => Some(value),
                _ => None,
            }),
            _ => None,
        }
    }

    /// About how many bytes it takes where nothing of it is shared.
    pub fn footprint(&self) -> usize {
        let within: usize = match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(list) => list.iter().map(Self::footprint).fold(0, usize::saturating_add),
            Self::Map(map) => {
                let entries = map.iter().map(|(key, value)| key.len().saturating_add(value.footprint()));
                entries.fold(0, usize::saturating_add)
            }
            Self::Groups(entries) => {
                let entries =
                    entries.iter().map(|(key, value)| key.footprint().saturating_add(value.footprint()));
                entries.fold(0, usize::saturating_add)
            }
            _ => 0,
        };
        within.saturating_add(size_of::<Self>())
    }

    /// Whether it is nothing.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A map from keys of any kind; one whose keys are all text is like any other map.
    pub(crate) fn from_entries(entries: Vec<(Self, Self)>) -> Self {
        if !entries.iter().all(|(key, _)| matches!(key, Self::Text(_))) {
            return Self::Groups(Arc::new(entries));
        }
        let named = entries.into_iter().filter_map(|(key, value)| match key {
            Self::Text(key) => Some((key, value)),
            _ => None,
        });
        Self::Map(Arc::new(named.collect()))
    }
}
