//! Functions on the bits of integers.

use super::{FunctionCall, ValueResult, not_negative};
use crate::Value;

fn two(call: &FunctionCall<'_>, of: fn(i64, i64) -> i64) -> ValueResult {
    Ok(Value::Int(of(call.integer(0)?, call.integer(1)?)))
}

/// Shifts bits; a shift past the width yields only the bits shifted in.
fn shift(call: &FunctionCall<'_>, of: fn(i64, u32) -> Option<i64>, beyond: fn(i64) -> i64) -> ValueResult {
    let (number, count) = (call.integer(0)?, not_negative(call.integer(1)?, 1, "bits")?);
    let moved = u32::try_from(count).ok().and_then(|count| of(number, count));
    Ok(Value::Int(moved.unwrap_or_else(|| beyond(number))))
}

pub(super) fn and(call: &mut FunctionCall<'_>) -> ValueResult {
    two(call, |one, two| one & two)
}

pub(super) fn or(call: &mut FunctionCall<'_>) -> ValueResult {
    two(call, |one, two| one | two)
}

pub(super) fn xor(call: &mut FunctionCall<'_>) -> ValueResult {
    two(call, |one, two| one ^ two)
}

pub(super) fn nand(call: &mut FunctionCall<'_>) -> ValueResult {
    two(call, |one, two| one & !two)
}

pub(super) fn shl(call: &mut FunctionCall<'_>) -> ValueResult {
    shift(call, i64::checked_shl, |_| 0)
}

pub(super) fn shr(call: &mut FunctionCall<'_>) -> ValueResult {
    shift(call, i64::checked_shr, |number| if number < 0 { -1 } else { 0 })
}

pub(super) fn ushr(call: &mut FunctionCall<'_>) -> ValueResult {
    shift(call, |number, count| number.cast_unsigned().checked_shr(count).map(u64::cast_signed), |_| 0)
}

pub(super) fn not(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(Value::Int(!call.integer(0)?))
}
