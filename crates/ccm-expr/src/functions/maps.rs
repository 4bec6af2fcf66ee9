//! Functions on maps, and on all values with a length or elements.

use std::sync::Arc;

use super::{CallError, FunctionCall, ValueResult};
use crate::Value;
use crate::evaluator::fetch;

fn entries(call: &FunctionCall<'_>) -> Result<Vec<(Value, Value)>, CallError> {
    match call.arguments.first() {
        Some(Value::Map(map)) => {
            Ok(map.iter().map(|(key, value)| (Value::Text(Arc::clone(key)), value.clone())).collect())
        }
        Some(Value::Groups(groups)) => Ok(groups.to_vec()),
        _ => Err(call.expected(0, "a map")),
    }
}

pub(super) fn keys(call: &mut FunctionCall<'_>) -> ValueResult {
    let keys = entries(call)?.into_iter().map(|(key, _)| key).collect();
    call.new_list(keys)
}

pub(super) fn values(call: &mut FunctionCall<'_>) -> ValueResult {
    let values = entries(call)?.into_iter().map(|(_, value)| value).collect();
    call.new_list(values)
}

pub(super) fn to_pairs(call: &mut FunctionCall<'_>) -> ValueResult {
    let pairs: Vec<Value> =
        entries(call)?.into_iter().map(|(key, value)| Value::list([key, value])).collect();
    call.budget.elements(pairs.len().saturating_mul(2))?;
    call.new_list(pairs)
}

pub(super) fn from_pairs(call: &mut FunctionCall<'_>) -> ValueResult {
    let list = call.list(0)?;
    let mut entries: Vec<(Value, Value)> = Vec::with_capacity(list.len());
    let mut indices = std::collections::HashMap::new();
    for pair in list.iter() {
        call.budget.steps(1)?;
        let (key, value) = match pair {
            Value::List(pair) if pair.len() == 2 => (pair[0].clone(), pair[1].clone()),
            Value::List(_) => {
                return Err(CallError::Argument(
                    0,
                    "expected pairs, found a list of another length".to_owned(),
                ));
            }
            other => return Err(CallError::Argument(0, format!("expected pairs, found {}", other.kind()))),
        };
        if !is_key(&key) {
            return Err(CallError::Argument(0, format!("{} can't be the key of a map", key.kind())));
        }
        let same_hash: &mut Vec<usize> = indices.entry(crate::value::hash(&key)).or_default();
        call.budget.compare(&key, 1 + same_hash.len())?;
        if let Some(at) = same_hash.iter().find(|at| same_key(&entries[**at].0, &key)) {
            entries[*at].1 = value;
        } else {
            same_hash.push(entries.len());
            entries.push((key, value));
        }
    }
    call.budget.elements(entries.len())?;
    Ok(Value::from_entries(entries))
}

pub(crate) fn is_key(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Map(_) | Value::Groups(_) | Value::Bytes(_))
}

/// Returns `true` if two values are the same key: unlike with `==`, 1 and 1.0 differ.
pub(crate) fn same_key(one: &Value, two: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(two) && one == two
}

pub(super) fn len(call: &mut FunctionCall<'_>) -> ValueResult {
    let length = match call.arguments.first() {
        Some(Value::Text(text)) => text.chars().count(),
        Some(Value::Bytes(bytes)) => bytes.len(),
        Some(Value::List(list)) => list.len(),
        Some(Value::Map(map)) => map.len(),
        Some(Value::Groups(groups)) => groups.len(),
        _ => return Err(call.expected(0, "a list, a map or text")),
    };
    #[allow(clippy::cast_possible_wrap, reason = "nothing is that long")]
    Ok(Value::Int(length as i64))
}

pub(super) fn get(call: &mut FunctionCall<'_>) -> ValueResult {
    if let Value::Text(_) = &call.arguments[0] {
        return Err(call.expected(0, "a list or a map"));
    }
    Ok(fetch(&call.arguments[0], &call.arguments[1]).unwrap_or_default())
}
