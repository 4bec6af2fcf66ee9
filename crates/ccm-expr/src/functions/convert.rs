//! Conversions between kinds.

use ccm_model::{decode_base64, encode_base64};

use super::number_text::{self, NumberTextError};
use super::{CallError, FunctionCall, ValueResult};
use crate::Value;
use crate::limits;
use crate::time::CalendarPart;
use crate::value::{go_text, indented};

#[allow(clippy::unnecessary_wraps, reason = "every row of the table has the same form")]
pub(super) fn type_of(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(Value::text(match &call.arguments[0] {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Text(_) => "string",
        Value::List(_) | Value::Bytes(_) => "array",
        Value::Map(_) | Value::Groups(_) => "map",
        Value::Duration(_) => "time.Duration",
        Value::DateTime(_) => "time.Time",
        Value::Calendar(CalendarPart::Month(_)) => "time.Month",
        Value::Calendar(CalendarPart::Weekday(_)) => "time.Weekday",
        Value::Calendar(CalendarPart::Zone(_)) => "time.Location",
    }))
}

pub(super) fn int(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(Value::Int(match &call.arguments[0] {
        Value::Int(number) | Value::Duration(number) => *number,
        // -2⁶³ and 2⁶³ are floats.
        #[allow(clippy::cast_possible_truncation, reason = "cutting off is what the function is for")]
        Value::Float(number) if (-(2_f64.powi(63))..2_f64.powi(63)).contains(number) => *number as i64,
        Value::Float(_) => return Err(not_a_number("a whole number", NumberTextError::Range)),
        Value::Calendar(CalendarPart::Month(number) | CalendarPart::Weekday(number)) => (*number).into(),
        Value::Text(text) => number_text::int(text).map_err(|error| not_a_number("a whole number", error))?,
        _ => return Err(call.expected(0, "a number or text")),
    }))
}

#[allow(clippy::cast_precision_loss, reason = "the function is for that")]
pub(super) fn float(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(Value::Float(match &call.arguments[0] {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Text(text) => number_text::float(text).map_err(|error| not_a_number("a number", error))?,
        _ => return Err(call.expected(0, "a number or text")),
    }))
}

/// Returns the error for a text. The text itself may be secret.
fn not_a_number(expected: &str, error: NumberTextError) -> CallError {
    let message = |found: &str| format!("expected {expected}, found {found}");
    let hinted = |found: &str, hint: &str| CallError::Hinted(0, message(found), hint.to_owned());
    match error {
        NumberTextError::Syntax => CallError::Argument(0, message("other text")),
        NumberTextError::Range => CallError::Argument(0, message("a number that is too large")),
        NumberTextError::Blanks => {
            hinted("text with blanks around a number", "remove the blanks with trim(…)")
        }
        NumberTextError::NotInteger => hinted(
            "a number with a fraction, an exponent or `_`",
            "use float(…), or int(float(…)) to cut off the fraction",
        ),
    }
}

pub(super) fn string(call: &mut FunctionCall<'_>) -> ValueResult {
    let value = &call.arguments[0];
    writable(call)?;
    if let Value::Text(_) = value {
        return Ok(value.clone());
    }
    let text = go_text(value);
    call.new_text(text)
}

fn writable(call: &FunctionCall<'_>) -> Result<(), CallError> {
    limits::weigh(&call.arguments[0])?;
    Ok(())
}

pub(super) fn to_json(call: &mut FunctionCall<'_>) -> ValueResult {
    writable(call)?;
    let Some(text) = indented(&call.arguments[0]) else {
        return Err(CallError::Argument(0, "JSON has neither infinity nor NaN".to_owned()));
    };
    call.new_text(text)
}

pub(super) fn from_json(call: &mut FunctionCall<'_>) -> ValueResult {
    let text = call.text(0)?.to_owned();
    // Parsing takes memory in proportion to the text.
    call.budget.bytes(text.len())?;
    call.budget.elements(text.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count())?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        CallError::Argument(0, format!("expected JSON, found an error at {place} of the text"))
    })?;
    Ok(floats(json))
}

/// Turns every number of a JSON value into a float, as the language reads JSON.
fn floats(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Number(number) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::Array(elements) => Value::list(elements.into_iter().map(floats)),
        serde_json::Value::Object(entries) => {
            Value::map(entries.into_iter().map(|(key, value)| (key, floats(value))))
        }
        other => Value::from(other),
    }
}

pub(super) fn to_base64(call: &mut FunctionCall<'_>) -> ValueResult {
    let text = encode_base64(call.text(0)?.as_bytes());
    call.new_text(text)
}

pub(super) fn from_base64(call: &mut FunctionCall<'_>) -> ValueResult {
    let bytes = decode_base64(call.text(0)?)
        .ok_or_else(|| CallError::Argument(0, "expected Base64, found another text".to_owned()))?;
    call.new_text(String::from_utf8_lossy(&bytes).into_owned())
}
