//! Users and groups as properties name them.

use ccm_model::Text;
use schemars::json_schema;
use serde::de::{Deserialize, Deserializer, Error};

use crate::inline_schema::inline_schema;

/// A user or a group, by name or in digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Principal(pub String);

impl<'de> Deserialize<'de> for Principal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        if text.trim().is_empty() {
            return Err(D::Error::custom("the name of a user or group is empty"));
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

inline_schema! {
    Principal => |_generator| json_schema!(
        { "type": ["string", "number", "boolean"], "pattern": "^[^:/\\n]*[^:/\\s][^:/\\n]*$" }
    );
}
