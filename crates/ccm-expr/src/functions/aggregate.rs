//! Functions that reduce the numbers of lists, nested ones too, to one number.

use std::cmp::Ordering;

use super::{CallError, FunctionCall, ValueResult};
use crate::Value;
use crate::limits::{self, Exhausted};
use crate::value::Compared;

pub(super) fn max(call: &mut FunctionCall<'_>) -> ValueResult {
    extreme(call, Ordering::Greater)
}

pub(super) fn min(call: &mut FunctionCall<'_>) -> ValueResult {
    extreme(call, Ordering::Less)
}

fn extreme(call: &mut FunctionCall<'_>, wanted: Ordering) -> ValueResult {
    let alone = call.arguments.len() == 1;
    let mut best = None::<Value>;
    for (at, argument) in call.arguments.iter().enumerate() {
        let mut consider = |value: &Value| {
            let better = match &best {
                None => true,
                Some(best) => matches!(value.compare(best), Compared::Ordered(found) if found == wanted),
            };
            if better {
                best = Some(value.clone());
            }
        };
        match argument {
            Value::Int(_) | Value::Float(_) | Value::Duration(_) => consider(argument),
            Value::List(_) => {
                call.budget.walk(argument)?;
                visit_numbers(argument, at, limits::MAX_VALUE_DEPTH, &mut consider)?;
            }
            // Any single value is its own extreme.
            other if alone => return Ok(other.clone()),
            _ => return Err(call.expected(at, "a number or a list of numbers")),
        }
    }
    Ok(best.unwrap_or_default())
}

/// Visits every number of a list, nested lists too.
fn visit_numbers(
    value: &Value,
    at: usize,
    left: usize,
    show: &mut dyn FnMut(&Value),
) -> Result<(), CallError> {
    match value {
        Value::Int(_) | Value::Float(_) => show(value),
        Value::List(list) => {
            if left == 0 {
                return Err(Exhausted::Depth.into());
            }
            for element in list.iter() {
                visit_numbers(element, at, left - 1, show)?;
            }
        }
        other => return Err(CallError::Argument(at, format!("expected numbers, found {}", other.kind()))),
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "an average is a float")]
fn numbers(call: &mut FunctionCall<'_>) -> Result<Vec<f64>, CallError> {
    let mut all = Vec::new();
    for (at, argument) in call.arguments.iter().enumerate() {
        call.budget.walk(argument)?;
        let argument = match argument {
            Value::Duration(span) => &Value::Int(*span),
            other => other,
        };
        visit_numbers(argument, at, limits::MAX_VALUE_DEPTH, &mut |value| {
            all.push(match value {
                Value::Int(number) => *number as f64,
                Value::Float(number) => *number,
                _ => f64::NAN,
            });
        })?;
    }
    Ok(all)
}

#[allow(clippy::cast_precision_loss, reason = "an average is a float")]
pub(super) fn mean(call: &mut FunctionCall<'_>) -> ValueResult {
    let all = numbers(call)?;
    if all.is_empty() {
        return Ok(Value::Float(0.0));
    }
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    if !mean.is_finite() {
        return Err(CallError::Argument(
            0,
            "the sum of the numbers is larger than the largest number".to_owned(),
        ));
    }
    Ok(Value::Float(mean))
}

pub(super) fn median(call: &mut FunctionCall<'_>) -> ValueResult {
    let mut all = numbers(call)?;
    all.sort_by(f64::total_cmp);
    let middle = all.len() / 2;
    Ok(Value::Float(match all.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => all[middle],
        _ => f64::midpoint(all[middle - 1], all[middle]),
    }))
}
