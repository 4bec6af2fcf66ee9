//! Functions on one number.

use super::{CallError, FunctionCall, ValueResult};
use crate::Value;

pub(super) fn abs(call: &mut FunctionCall<'_>) -> ValueResult {
    match call.arguments.first() {
        Some(Value::Int(number)) => match number.checked_abs() {
            Some(number) => Ok(Value::Int(number)),
            None => {
                Err(CallError::Argument(0, "the absolute value is out of the range of integers".to_owned()))
            }
        },
        Some(Value::Float(number)) => Ok(Value::Float(number.abs())),
        _ => Err(call.expected(0, "a number")),
    }
}

pub(super) fn ceil(call: &mut FunctionCall<'_>) -> ValueResult {
    round_with(call, f64::ceil)
}

pub(super) fn floor(call: &mut FunctionCall<'_>) -> ValueResult {
    round_with(call, f64::floor)
}

pub(super) fn round(call: &mut FunctionCall<'_>) -> ValueResult {
    round_with(call, f64::round)
}

#[allow(clippy::cast_precision_loss, reason = "the language turns the number into a float")]
fn round_with(call: &mut FunctionCall<'_>, to: fn(f64) -> f64) -> ValueResult {
    match call.arguments.first() {
        Some(Value::Int(number)) => Ok(Value::Float(*number as f64)),
        Some(Value::Float(number)) => Ok(Value::Float(to(*number))),
        _ => Err(call.expected(0, "a number")),
    }
}
