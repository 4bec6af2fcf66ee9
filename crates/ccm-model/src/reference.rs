//! Names of resources: `type#name`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Type and name of a resource, unique in a catalog.
///
/// Cheap to clone. Ordered by type, then name, for a deterministic order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceId {
    /// Type, such as `exec`.
    pub type_name: Arc<str>,
    /// Name. May contain `#`, spaces and slashes.
    pub name: Arc<str>,
}

/// Reason why a text is not a reference to a resource.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// The `#` is missing.
    #[error("`{0}` is not a reference: expected `type#name`")]
    NoSeparator(String),
    /// The type before the `#` is empty.
    #[error("`{0}` is not a reference: the type before `#` is empty")]
    NoType(String),
    /// The name after the `#` is empty.
    #[error("`{0}` is not a reference: the name after `#` is empty")]
    NoName(String),
}

impl ResourceId {
    /// Builds an id.
    pub fn new(type_name: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self { type_name: type_name.into(), name: name.into() }
    }

    /// Reads `type#name`, split at the first `#`.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        match text.split_once('#') {
            None => Err(ReferenceError::NoSeparator(text.to_owned())),
            Some(("", _)) => Err(ReferenceError::NoType(text.to_owned())),
            Some((_, "")) => Err(ReferenceError::NoName(text.to_owned())),
            Some((type_name, name)) => Ok(Self::new(type_name, name)),
        }
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}#{}", self.type_name, self.name)
    }
}

/// Form `type#name`.
impl Serialize for ResourceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ResourceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Cow::<str>::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl JsonSchema for ResourceId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ResourceId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[^#]+#" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_separator_splits() {
        assert_eq!(ResourceId::parse("exec#a#b c"), Ok(ResourceId::new("exec", "a#b c")));
        assert_eq!(ResourceId::new("exec", "a").to_string(), "exec#a");
        for text in ["exec", "#a", "exec#", ""] {
            assert!(ResourceId::parse(text).is_err(), "{text}");
        }
    }
}
