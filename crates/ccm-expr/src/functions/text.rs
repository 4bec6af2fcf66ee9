//! Functions on text.

use std::collections::HashSet;

use super::{CallError, FunctionCall, ValueResult, not_negative};
use crate::Value;

pub(super) fn trim(call: &mut FunctionCall<'_>) -> ValueResult {
    let text = call.text(0)?;
    let trimmed = if call.arguments.len() == 1 {
        text.trim()
    } else {
        // Building the set costs more than reading the text.
        call.budget.steps(call.text(1)?.len() / 8)?;
        let characters: HashSet<char> = call.text(1)?.chars().collect();
        text.trim_matches(|character| characters.contains(&character))
    };
    let trimmed = trimmed.to_owned();
    call.new_text(trimmed)
}

fn affix<'a>(call: &'a FunctionCall<'_>) -> Result<&'a str, CallError> {
    if call.arguments.len() > 1 { call.text(1) } else { Ok(" ") }
}

pub(super) fn trim_prefix(call: &mut FunctionCall<'_>) -> ValueResult {
    let text = call.text(0)?;
    let rest = text.strip_prefix(affix(call)?).unwrap_or(text).to_owned();
    call.new_text(rest)
}

pub(super) fn trim_suffix(call: &mut FunctionCall<'_>) -> ValueResult {
    let text = call.text(0)?;
    let rest = text.strip_suffix(affix(call)?).unwrap_or(text).to_owned();
    call.new_text(rest)
}

/// Maps letters one by one; a letter without a single uppercase counterpart stays.
pub(super) fn upper(call: &mut FunctionCall<'_>) -> ValueResult {
    let text: String =
        call.text(0)?.chars().map(|letter| single(letter.to_uppercase()).unwrap_or(letter)).collect();
    call.new_text(text)
}

pub(super) fn lower(call: &mut FunctionCall<'_>) -> ValueResult {
    let text: String =
        call.text(0)?.chars().map(|letter| letter.to_lowercase().next().unwrap_or(letter)).collect();
    call.new_text(text)
}

fn single(mut letters: impl Iterator<Item = char>) -> Option<char> {
    let first = letters.next()?;
    letters.next().is_none().then_some(first)
}

pub(super) fn split(call: &mut FunctionCall<'_>) -> ValueResult {
    parts(call, false)
}

pub(super) fn split_after(call: &mut FunctionCall<'_>) -> ValueResult {
    parts(call, true)
}

/// Returns the maximum in the argument at an index; a missing or negative argument is no maximum.
fn max_count(call: &FunctionCall<'_>, at: usize) -> Result<usize, CallError> {
    let max_count = if call.arguments.len() > at { call.count(at)? } else { -1 };
    Ok(usize::try_from(max_count).unwrap_or(usize::MAX))
}

fn parts(call: &mut FunctionCall<'_>, keep: bool) -> ValueResult {
    let (text, separator) = (call.text(0)?, call.text(1)?);
    let max_count = max_count(call, 2)?;
    if max_count == 0 {
        return Ok(Value::list([]));
    }
    // Charge for the number of parts before building any.
    let found = if separator.is_empty() { text.chars().count() } else { text.matches(separator).count() };
    call.budget.elements((found + 1).min(max_count))?;
    call.budget.bytes(text.len())?;
    let mut parts = Vec::new();
    let mut rest = text;
    while parts.len() + 1 < max_count {
        // Without a separator every character is a part.
        let found = if separator.is_empty() {
            rest.chars().next().map(|first| (first.len_utf8(), 0)).filter(|(length, _)| *length < rest.len())
        } else {
            rest.find(separator).map(|at| (at, separator.len()))
        };
        let Some((at, skipped)) = found else { break };
        parts.push(Value::text(&rest[..if keep { at + skipped } else { at }]));
        rest = &rest[at + skipped..];
    }
    if !(separator.is_empty() && rest.is_empty()) {
        parts.push(Value::text(rest));
    }
    Ok(Value::list(parts))
}

pub(super) fn replace(call: &mut FunctionCall<'_>) -> ValueResult {
    let (text, old, new) = (call.text(0)?, call.text(1)?, call.text(2)?);
    let max_count = max_count(call, 3)?;
    // Charge for the size before building the text.
    let found = text.matches(old).count().min(max_count);
    let length = (text.len() - found * old.len()).saturating_add(found.saturating_mul(new.len()));
    let (text, old, new) = (text.to_owned(), old.to_owned(), new.to_owned());
    call.budget.bytes(length)?;
    Ok(Value::text(text.replacen(&old, &new, max_count)))
}

pub(super) fn repeat(call: &mut FunctionCall<'_>) -> ValueResult {
    let text = call.text(0)?.to_owned();
    let times = not_negative(call.count(1)?, 1, "repetitions")?;
    call.budget.bytes(text.len().saturating_mul(times))?;
    Ok(Value::text(text.repeat(times)))
}

#[allow(clippy::cast_possible_wrap, reason = "no text is that long")]
fn index_value(found: Option<usize>) -> Value {
    Value::Int(found.map_or(-1, |at| at as i64))
}

pub(super) fn index_of(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(index_value(call.text(0)?.find(call.text(1)?)))
}

pub(super) fn last_index_of(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(index_value(call.text(0)?.rfind(call.text(1)?)))
}

pub(super) fn has_prefix(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(Value::Bool(call.text(0)?.starts_with(call.text(1)?)))
}

pub(super) fn has_suffix(call: &mut FunctionCall<'_>) -> ValueResult {
    Ok(Value::Bool(call.text(0)?.ends_with(call.text(1)?)))
}
