//! Spans of time as properties hold them.

use std::time::Duration;

use ccm_model::{Text, escape_control, parse_duration};
use schemars::json_schema;
use serde::de::{Deserialize, Deserializer, Error};

use crate::inline_schema::inline_schema;

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length(pub Duration);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        let duration = parse_duration(&text).map_err(|error| {
            let (message, hint) = (error.to_string(), error.hint());
            D::Error::custom(format!("{}\nhint: {}", escape_control(&message), escape_control(&hint)))
        })?;
        Ok(Self(duration))
    }
}

inline_schema! {
    Length => |_generator| json_schema!({
        "anyOf": [
            { "type": "string", "pattern": "^\\s*(0|([0-9]*\\.?[0-9]+(ns|us|µs|ms|s|m|h|d|w)\\s*)+)\\s*$" },
            { "const": 0 },
        ]
    });
}
