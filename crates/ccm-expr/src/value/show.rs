//! Values as text: in the text around an expression, and as `string()` writes them.

use std::fmt;

use super::Value;
use crate::time::duration;

/// Text form within other text: null as nothing, lists and maps as JSON, whole numbers without a fraction.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Bool(boolean) => write!(formatter, "{boolean}"),
            Self::Int(number) => write!(formatter, "{number}"),
            Self::Float(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
            Self::Bytes(bytes) => formatter.write_str(&String::from_utf8_lossy(bytes)),
            Self::List(_) | Self::Map(_) | Self::Groups(_) => {
                formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
            }
            Self::Duration(span) => formatter.write_str(&duration::show(*span)),
            Self::DateTime(date_time) => write!(formatter, "{date_time}"),
            Self::Calendar(part) => write!(formatter, "{part}"),
        }
    }
}

/// Formats a value as `string()` does.
pub(crate) fn go_text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Float(number) => out.push_str(&float(*number)),
        Value::List(list) => {
            out.push('[');
            for (at, element) in list.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                write(element, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|one, two| one.0.cmp(two.0));
            out.push_str("map[");
            for (at, (key, value)) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                write(value, out);
            }
            out.push(']');
        }
        Value::Groups(groups) => {
            let mut entries: Vec<_> = groups.iter().collect();
            entries.sort_by_key(|(key, _)| (rank(key), crate::functions::sorting::key(key)));
            out.push_str("map[");
            for (at, (key, value)) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                write(key, out);
                out.push(':');
                write(value, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Order of keys of different kinds.
fn rank(key: &Value) -> u8 {
    match key {
        Value::Null => 0,
        Value::Int(_) => 1,
        Value::Float(_) => 2,
        Value::Bool(_) => 3,
        Value::Text(_) => 4,
        _ => 5,
    }
}

/// Formats a number as briefly as possible, with an exponent for long ones.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    format!("{number}")
}
