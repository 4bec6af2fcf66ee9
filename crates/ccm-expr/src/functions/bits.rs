//! Functions on the bits of integers.

use super::{Call, Problem};
use crate::Value;

type Result = std::result::Result<Value, Problem>;

fn two(call: &Call<'_>, of: fn(i64, i64) -> i64) -> Result {
    Ok(Value::Int(of(call.integer(0)?, call.integer(1)?)))
}

/// Moves bits; beyond the last there is only what is shifted in.
fn shift(call: &Call<'_>, of: fn(i64, u32) -> Option<i64>, beyond: fn(i64) -> i64) -> Result {
    let (number, count) = (call.integer(0)?, call.integer(1)?);
    if count < 0 {
        return Err(Problem::Argument(1, "expected how many bits, found a negative number".to_owned()));
    }
    let moved = u32::try_from(count).ok().and_then(|count| of(number, count));
    Ok(Value::Int(moved.unwrap_or_else(|| beyond(number))))
}

pub(super) fn and(call: &mut Call<'_>) -> Result {
    two(call, |one, two| one & two)
}

pub(super) fn or(call: &mut Call<'_>) -> Result {
    two(call, |one, two| one | two)
}

pub(super) fn xor(call: &mut Call<'_>) -> Result {
    two(call, |one, two| one ^ two)
}

pub(super) fn nand(call: &mut Call<'_>) -> Result {
    two(call, |one, two| one & !two)
}

pub(super) fn shl(call: &mut Call<'_>) -> Result {
    shift(call, i64::checked_shl, |_| 0)
}

pub(super) fn shr(call: &mut Call<'_>) -> Result {
    shift(call, i64::checked_shr, |number| if number < 0 { -1 } else { 0 })
}

pub(super) fn ushr(call: &mut Call<'_>) -> Result {
    shift(call, |number, count| number.cast_unsigned().checked_shr(count).map(u64::cast_signed), |_| 0)
}

pub(super) fn not(call: &mut Call<'_>) -> Result {
    Ok(Value::Int(!call.integer(0)?))
}
