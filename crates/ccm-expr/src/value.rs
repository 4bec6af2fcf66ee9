//! What expressions are made of and what they yield.

use std::sync::Arc;

use indexmap::IndexMap;

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
    /// A list.
    List(Arc<Vec<Value>>),
    /// A map.
    Map(Arc<Map>),
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
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// The value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(map) => map.get(key),
            _ => None,
        }
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(boolean) => Self::Bool(boolean),
            serde_json::Value::Number(number) => {
                number.as_i64().map_or_else(|| Self::Float(number.as_f64().unwrap_or(f64::NAN)), Self::Int)
            }
            serde_json::Value::String(text) => Self::Text(text.into()),
            serde_json::Value::Array(elements) => Self::list(elements.into_iter().map(Self::from)),
            serde_json::Value::Object(entries) => {
                Self::map(entries.into_iter().map(|(key, value)| (key, Self::from(value))))
            }
        }
    }
}
