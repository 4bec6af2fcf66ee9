//! Kinds of values.

use std::fmt;

use ccm_model::Node;

use crate::{PropertySpec, find};

/// Values that a property may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// `true` or `false`.
    Boolean,
    /// Whole number.
    Integer {
        /// Smallest one.
        min: Option<i64>,
        /// Largest one.
        max: Option<i64>,
    },
    /// Text.
    Text(TextKind),
    /// Span of time such as `1h30m`, or `0`.
    Duration,
    /// One of these words; `true` and `false` are booleans.
    Words(&'static [&'static str]),
    /// List of values.
    List(&'static Self),
    /// One value, or a list of them.
    OneOrMany(&'static Self),
    /// Map with any keys.
    Map {
        /// Regular expression that the keys match.
        keys: Option<&'static str>,
        /// Values of the keys.
        values: &'static Self,
        /// Minimum number of entries.
        min: u32,
    },
    /// Map whose keys are these properties.
    Record {
        /// The properties.
        properties: &'static [PropertySpec],
        /// Minimum number of entries.
        min: u32,
    },
    /// Value of one of these kinds.
    Either(&'static [Self]),
    /// Any value.
    Json,
    /// Map of any values.
    JsonMap,
}

/// Text that a property may have. Numbers and booleans count as the text that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextKind {
    /// JSON types that editors should accept.
    pub types: &'static [&'static str],
    /// Regular expression that the text matches.
    pub pattern: Option<&'static str>,
    /// Minimum number of characters.
    pub min_length: u32,
}

impl TextKind {
    /// Any text.
    pub const ANY: Self = Self { types: &["string", "number", "boolean"], pattern: None, min_length: 0 };

    /// Absolute path.
    pub const ABSOLUTE_PATH: Self = Self::STRICT.matching("^/");

    /// Text that is neither a number nor a boolean.
    pub const STRICT: Self = Self { types: &["string"], ..Self::ANY };

    /// Text or a number.
    pub const DIGITS: Self = Self { types: &["string", "number"], ..Self::ANY };

    /// Nothing, in the schema of a value that may be left out.
    pub const NULL: Self = Self { types: &["null"], ..Self::ANY };

    /// Text or a number, with at least one character.
    pub const FILLED: Self = Self { min_length: 1, ..Self::DIGITS };

    /// Adds a regular expression that the value matches.
    #[must_use]
    pub const fn matching(self, pattern: &'static str) -> Self {
        Self { pattern: Some(pattern), ..self }
    }
}

impl PropertyKind {
    /// Any text.
    pub const TEXT: Self = Self::Text(TextKind::ANY);

    /// Returns the kind of an element if the value is a list.
    pub fn element(&self) -> Option<&'static Self> {
        match self {
            Self::List(kind) | Self::OneOrMany(kind) => Some(kind),
            Self::Either(kinds) => kinds.iter().find_map(Self::element),
            _ => None,
        }
    }

    /// Returns the kind of an entry if the value is a map.
    pub fn entry(&self, key: &str) -> Option<&'static Self> {
        match self {
            Self::Map { values, .. } => Some(values),
            Self::Record { properties, .. } => find(properties, key).map(|property| &property.kind),
            Self::Either(kinds) => kinds.iter().find_map(|kind| kind.entry(key)),
            _ => None,
        }
    }

    /// Returns `true` if a value is a list, a map or a scalar where the kind takes one.
    pub fn has_form_of(&self, node: &Node) -> bool {
        match self {
            Self::List(_) => node.as_list().is_some(),
            Self::OneOrMany(kind) => node.as_list().is_some() || kind.has_form_of(node),
            Self::Map { .. } | Self::Record { .. } | Self::JsonMap => node.as_map().is_some(),
            Self::Either(kinds) => kinds.iter().any(|kind| kind.has_form_of(node)),
            Self::Json => true,
            Self::Boolean | Self::Integer { .. } | Self::Text(_) | Self::Duration | Self::Words(_) => {
                node.as_scalar().is_some()
            }
        }
    }

    /// Returns `true` if a scalar counts as the text that was written.
    pub fn takes_text(&self) -> bool {
        match self {
            Self::Text(_) | Self::Duration => true,
            Self::OneOrMany(kind) => kind.takes_text(),
            Self::Either(kinds) => kinds.iter().any(Self::takes_text),
            _ => false,
        }
    }
}

/// Displays a kind as the documentation names it.
impl fmt::Display for PropertyKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list_of = |kind: &Self| match kind.to_string() {
            text if text == "text" => "list of text".to_owned(),
            one => format!("list of {one}s"),
        };
        let all = |texts: Vec<String>, between: &str| texts.join(between);
        formatter.write_str(&match self {
            Self::Boolean => "boolean".to_owned(),
            Self::Integer { .. } => "number".to_owned(),
            Self::Text(TextKind::ABSOLUTE_PATH) => "absolute path".to_owned(),
            Self::Text(_) => "text".to_owned(),
            Self::Duration => "text or `0`".to_owned(),
            Self::Words(words) => all(words.iter().map(|word| format!("`{word}`")).collect(), ", "),
            Self::List(kind) => list_of(kind),
            Self::OneOrMany(kind) => format!("{kind} or {}", list_of(kind)),
            Self::Map { .. } | Self::Record { .. } | Self::JsonMap => "map".to_owned(),
            Self::Either(kinds) => all(kinds.iter().map(Self::to_string).collect(), " or "),
            Self::Json => "any value".to_owned(),
        })
    }
}
