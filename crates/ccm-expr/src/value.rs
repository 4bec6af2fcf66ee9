//! Values of expressions.

mod equality;
mod json;
mod show;

use std::sync::Arc;

use indexmap::IndexMap;

pub(crate) use equality::{Compared, hash};
pub(crate) use json::indented;
pub(crate) use show::go_text;

use crate::time::{CalendarPart, DateTime};

/// Map in insertion order.
pub type Map = IndexMap<Arc<str>, Value>;

/// Value of data, of facts or of an expression. Cloning is cheap: large parts are shared.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Null in YAML and JSON, `nil` in expressions.
    #[default]
    Null,
    /// Boolean.
    Bool(bool),
    /// Integer.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// Bytes, which need not be text.
    Bytes(Arc<[u8]>),
    /// List.
    List(Arc<Vec<Value>>),
    /// Map with text keys.
    Map(Arc<Map>),
    /// Map with at least one key that is not text, in insertion order.
    Groups(Arc<Vec<(Value, Value)>>),
    /// Duration in nanoseconds.
    Duration(i64),
    /// Date with time and zone.
    DateTime(DateTime),
    /// Month, weekday or time zone of a date.
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

    /// Returns the kind, for messages of the form "expected …, found …".
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
            Self::DateTime(_) => "a date",
            Self::Calendar(part) => part.kind(),
        }
    }

    /// Returns the value of a key, if this is a map that has the key.
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

    /// Approximate size in bytes if nothing is shared.
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

    /// Returns `true` for null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the elements of a list, or bytes as integers.
    pub(crate) fn elements(&self) -> Option<Arc<Vec<Self>>> {
        match self {
            Self::List(list) => Some(Arc::clone(list)),
            Self::Bytes(bytes) => {
                Some(Arc::new(bytes.iter().map(|byte| Self::Int((*byte).into())).collect()))
            }
            _ => None,
        }
    }

    /// Builds a map from keys of any kind; if all keys are text, the result is a `Map`.
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
