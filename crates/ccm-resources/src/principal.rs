//! Users and groups as properties name them.

use std::borrow::Cow;

use ccm_model::Text;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};

/// A user or a group, by name or in digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Principal(pub String);

impl<'de> Deserialize<'de> for Principal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        if text.trim().is_empty() {
            return Err(D::Error::custom("the name is empty"));
        }
        if text.contains([':', '/', '\0', '\n']) {
            let mut message = format!("`{}` holds a character that no name can", text.escape_debug());
            if text.split(':').count() == 2 {
                message += "\nhint: give user and group apart, each as a property of its own";
            }
            return Err(D::Error::custom(message));
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !text.parse::<u32>().is_ok_and(|number| number != u32::MAX) {
            return Err(D::Error::custom(format!("`{text}` is too large for a number of a user or group")));
        }
        Ok(Self(text))
    }
}

impl JsonSchema for Principal {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Principal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"], "pattern": "^[^:/\\n]*[^:/\\s][^:/\\n]*$" })
    }
}
