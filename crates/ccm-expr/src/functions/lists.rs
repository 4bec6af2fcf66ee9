//! Functions on lists without a predicate.

use std::collections::HashMap;

use super::{CallError, FunctionCall, ValueResult, not_negative, sorting};
use crate::Value;
use crate::evaluator::fetch;
use crate::limits::{self, Exhausted};
use crate::value::hash;

#[allow(clippy::unnecessary_wraps, reason = "every row of the table has the same form")]
pub(super) fn first(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(fetch(&call.arguments[0], &Value::Int(0)).unwrap_or_default())
}

#[allow(clippy::unnecessary_wraps, reason = "every row of the table has the same form")]
pub(super) fn last(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(fetch(&call.arguments[0], &Value::Int(-1)).unwrap_or_default())
}

pub(super) fn take(call: &mut FunctionCall<'_>) -> ValueResult {
    let list = call.list(0)?;
    let count = not_negative(call.integer(1)?, 1, "elements")?;
    if count >= list.len() {
        return Ok(call.arguments[0].clone());
    }
    call.new_list(list[..count].to_vec())
}

pub(super) fn reverse(call: &mut FunctionCall<'_>) -> ValueResult {
    let list = call.list(0)?;
    call.new_list(list.iter().rev().cloned().collect())
}

pub(super) fn uniq(call: &mut FunctionCall<'_>) -> ValueResult {
    let list = call.list(0)?;
    let mut kept: Vec<Value> = Vec::new();
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for element in list.iter() {
        call.budget.walk(element)?;
        let alike = places.entry(hash(element)).or_default();
        call.budget.compare(element, 1 + alike.len())?;
        if !alike.iter().any(|at| kept[*at] == *element) {
            alike.push(kept.len());
            kept.push(element.clone());
        }
    }
    call.new_list(kept)
}

pub(super) fn concat(call: &mut FunctionCall<'_>) -> ValueResult {
    let mut all = Vec::new();
    for at in 0..call.arguments.len() {
        let list = call.list(at)?;
        call.budget.elements(list.len())?;
        all.extend(list.iter().cloned());
    }
    Ok(Value::list(all))
}

pub(super) fn flatten(call: &mut FunctionCall<'_>) -> ValueResult {
    let list = call.list(0)?;
    let mut all = Vec::new();
    flat(&list, limits::MAX_VALUE_DEPTH, call, &mut all)?;
    Ok(Value::list(all))
}

fn flat(
    list: &[Value],
    left: usize,
    call: &mut FunctionCall<'_>,
    all: &mut Vec<Value>,
) -> Result<(), CallError> {
    if left == 0 {
        return Err(Exhausted::Depth.into());
    }
    for element in list {
        call.budget.steps(1)?;
        match element {
            Value::List(inner) => flat(inner, left - 1, call, all)?,
            other => {
                call.budget.elements(1)?;
                all.push(other.clone());
            }
        }
    }
    Ok(())
}

pub(super) fn sort(call: &mut FunctionCall<'_>) -> ValueResult {
    let list = call.list(0)?;
    let descending = match call.arguments.get(1) {
        None => false,
        Some(_) => sorting::descending(call.text(1)?)
            .ok_or_else(|| CallError::Argument(1, sorting::OTHER_ORDER.to_owned()))?,
    };
    sorting::charge(&list, call.budget)?;
    let keys = sorting::keys(&list).map_err(|(one, two)| {
        CallError::Argument(0, format!("expected elements that can be sorted, found {one} and {two}"))
    })?;
    call.new_list(sorting::sort(&list, &keys, descending))
}

pub(super) fn join(call: &mut FunctionCall<'_>) -> ValueResult {
    let list = call.list(0)?;
    let separator = if call.arguments.len() > 1 { call.text(1)?.to_owned() } else { String::new() };
    let mut texts: Vec<&str> = Vec::with_capacity(list.len());
    let mut length = separator.len().saturating_mul(list.len().saturating_sub(1));
    for element in list.iter() {
        let Value::Text(text) = element else {
            let message = format!("expected a list of texts, found {} in it", element.kind());
            let hint = "turn the elements into text: map(list, string(#))".to_owned();
            return Err(CallError::Hinted(0, message, hint));
        };
        length = length.saturating_add(text.len());
        texts.push(text);
    }
    call.budget.bytes(length)?;
    Ok(Value::text(texts.join(&separator)))
}
