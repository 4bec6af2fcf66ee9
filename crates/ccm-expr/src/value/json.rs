//! Conversion from and to JSON.

use std::sync::Arc;

use ccm_model::encode_base64;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::{Map, Value};
use crate::time::CalendarPart;

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

/// JSON form: durations, months and weekdays as integers, dates as RFC 3339, bytes as Base64, keys that are
/// not text as their literal.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(boolean) => serializer.serialize_bool(*boolean),
            Self::Int(number) | Self::Duration(number) => serializer.serialize_i64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => serializer.serialize_str(&encode_base64(bytes)),
            Self::List(list) => {
                let mut sequence = serializer.serialize_seq(Some(list.len()))?;
                for element in list.iter() {
                    sequence.serialize_element(element)?;
                }
                sequence.end()
            }
            Self::Map(map) => {
                let mut entries = serializer.serialize_map(Some(map.len()))?;
                for (key, value) in map.iter() {
                    entries.serialize_entry(&**key, value)?;
                }
                entries.end()
            }
            Self::Groups(groups) => {
                let mut entries = serializer.serialize_map(Some(groups.len()))?;
                for (key, value) in groups.iter() {
                    entries.serialize_entry(&key.to_string(), value)?;
                }
                entries.end()
            }
            Self::DateTime(date_time) => serializer.serialize_str(&date_time.rfc3339()),
            Self::Calendar(CalendarPart::Month(number) | CalendarPart::Weekday(number)) => {
                serializer.serialize_i8(*number)
            }
            Self::Calendar(CalendarPart::Zone(_)) => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

impl Value {
    /// Converts to JSON; NaN and infinities become null.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Formats as indented JSON with sorted keys, as `toJSON` does. `None` for NaN and infinities.
pub(crate) fn indented(value: &Value) -> Option<String> {
    if has_no_number(value) {
        return None;
    }
    let text = serde_json::to_string_pretty(&sorted(value)).ok()?;
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    Some(safe)
}

fn has_no_number(value: &Value) -> bool {
    match value {
        Value::Float(number) => !number.is_finite(),
        Value::List(list) => list.iter().any(has_no_number),
        Value::Map(map) => map.values().any(has_no_number),
        Value::Groups(groups) => groups.iter().any(|(_, value)| has_no_number(value)),
        _ => false,
    }
}

/// Sorts the keys of every map, and writes whole numbers without a fraction.
fn sorted(value: &Value) -> Value {
    match value {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the number is whole and far from the ends of the range"
        )]
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => Value::Int(*number as i64),
        Value::List(list) => Value::list(list.iter().map(sorted)),
        Value::Map(map) => {
            let mut map: Map = map.iter().map(|(key, value)| (Arc::clone(key), sorted(value))).collect();
            map.sort_keys();
            Value::Map(Arc::new(map))
        }
        Value::Groups(groups) => {
            let mut map: Map =
                groups.iter().map(|(key, value)| (key.to_string().into(), sorted(value))).collect();
            map.sort_keys();
            Value::Map(Arc::new(map))
        }
        other => other.clone(),
    }
}
