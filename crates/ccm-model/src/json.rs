//! Forms of values in JSON that serde does not have: a time, a duration, a path.
//!
//! Each type is named by `#[serde(with = "…")]` of a field, and describes the field in its schema.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::{parse_timestamp, timestamp};

/// A time as RFC 3339 text in UTC with microseconds.
pub(crate) struct Timestamp;

impl Timestamp {
    pub(crate) fn serialize<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&timestamp(*time, 2))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        parse_timestamp(&text).ok_or_else(|| de::Error::custom(format_args!("`{text}` is not a timestamp")))
    }
}

/// A time that may be missing, in the form of [`Timestamp`].
pub(crate) struct OptionalTimestamp;

impl OptionalTimestamp {
    #[expect(clippy::ref_option, reason = "serde hands over a reference")]
    pub(crate) fn serialize<S: Serializer>(
        time: &Option<SystemTime>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => Timestamp::serialize(time, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<SystemTime>, D::Error> {
        Timestamp::deserialize(deserializer).map(Some)
    }
}

/// A duration as an integer, in nanoseconds. A duration that 64 bits can't hold becomes the longest that they
/// can.
#[derive(Debug)]
pub struct Nanoseconds;

impl Nanoseconds {
    /// Writes a duration.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).serialize(serializer)
    }

    /// Reads a duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_nanos)
    }
}

/// A path as text; bytes that are not UTF-8 are replaced, because JSON can't hold them.
pub(crate) struct PathText;

impl PathText {
    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.to_string_lossy().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        PathBuf::deserialize(deserializer)
    }
}

/// Implements the schema of a form.
macro_rules! schema {
    ($form:ident, $($schema:tt)*) => {
        impl JsonSchema for $form {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($form).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ $($schema)* })
            }
        }
    };
}

schema!(Timestamp, "type": "string", "format": "date-time");
schema!(Nanoseconds, "type": "integer", "minimum": 0);
schema!(PathText, "type": "string");

/// Reads a value that a later version of ccm may have written in an unknown form. Returns `None` for an
/// unknown form.
pub fn known<'de, D: Deserializer<'de>, T: de::DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Value::deserialize(deserializer).map(|value| T::deserialize(value).ok())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}
