//! Conversions of values before they are compared.

use std::borrow::Cow;
use std::cmp::Ordering;

use ccm_expr::Value;

use super::{Comparison, MatchError, Number};

/// Converts a value to text: a list to its elements, one a line.
pub(crate) fn text(value: &Value) -> Result<Cow<'_, str>, MatchError> {
    match value {
        Value::Text(text) => Ok(Cow::Borrowed(text)),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(Cow::Owned(value.to_string())),
        Value::List(elements) => {
            let lines: Result<Vec<Cow<'_, str>>, _> = elements.iter().map(text).collect();
            Ok(Cow::Owned(lines?.join("\n")))
        }
        other => Err(found("text", other)),
    }
}

/// Converts a value to a number.
pub(super) fn number(value: &Value) -> Result<Number, MatchError> {
    match value {
        Value::Int(number) => Ok(Number::Int(*number)),
        Value::Float(number) => Ok(Number::Float(*number)),
        Value::Text(_) | Value::List(_) => {
            let text = text(value)?;
            Number::parse(text.trim()).ok_or_else(|| found("a number", value))
        }
        other => Err(found("a number", other)),
    }
}

/// Returns the elements: those of a list, the values of a map, the lines of a text.
pub(super) fn elements(value: &Value, splits_text: bool) -> Result<Vec<Value>, MatchError> {
    match value {
        Value::List(elements) => Ok(elements.to_vec()),
        Value::Map(map) => Ok(map.values().cloned().collect()),
        Value::Text(text) if splits_text => Ok(text.split('\n').map(Value::text).collect()),
        other => Err(found("a list", other)),
    }
}

/// Builds the error of a value of another type.
pub(super) fn found(expected: &str, value: &Value) -> MatchError {
    let shown = match value {
        Value::Null | Value::List(_) | Value::Map(_) => value.kind().to_owned(),
        _ => format!("{} `{}`", value.kind(), super::show::short(value)),
    };
    MatchError(format!("expected {expected}, found {shown}"))
}

impl Number {
    /// Reads a finite decimal number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(number) = text.parse() {
            return Some(Self::Int(number));
        }
        let is_decimal = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
        let number = if is_decimal { text.parse::<f64>().ok() } else { None };
        number.filter(|number| number.is_finite()).map(Self::Float)
    }

    /// Compares this number with an expected one.
    pub(super) fn meets(self, comparison: Comparison, expected: Self) -> bool {
        let order = match (self, expected) {
            (Self::Int(one), Self::Int(two)) => Some(one.cmp(&two)),
            (one, two) => one.float().partial_cmp(&two.float()),
        };
        match comparison {
            Comparison::Equal => order == Some(Ordering::Equal),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::AtLeast => order.is_some_and(Ordering::is_ge),
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::AtMost => order.is_some_and(Ordering::is_le),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "an integer is compared with a float as a float")]
    fn float(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) => number,
        }
    }
}
