//! Limits for filters of minijinja whose output a number or a long list can make huge.

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value};

use super::MAX_OUTPUT;
use super::error::TemplateFault;
use super::error_conversion::RaisedFault;

/// Maximum number of parts of a list, and maximum length of a part.
const MAX_PARTS: u64 = 100_000;

/// Maximum indentation of JSON.
const MAX_JSON_INDENTATION: u64 = 1000;

/// Minimum number of bytes that a filter would write.
type Estimate = fn(&[Value], Option<&Kwargs>) -> u64;

/// Adds a check before every filter whose output can be much larger than its input.
pub(super) fn bound(environment: &mut Environment<'static>) {
    environment.add_filter("engine indent", minijinja::filters::indent);
    environment.add_filter("engine format", minijinja::filters::format);
    environment.add_filter("engine join", minijinja::filters::join);
    environment.add_filter("engine replace", minijinja::filters::replace);
    environment.add_filter("engine slice", minijinja::filters::slice);
    environment.add_filter("engine batch", minijinja::filters::batch);
    checked(environment, "indent", "engine indent", indented);
    checked(environment, "format", "engine format", formatted);
    checked(environment, "join", "engine join", joined);
    checked(environment, "replace", "engine replace", replaced);
    environment.add_filter("engine tojson", minijinja::filters::tojson);
    checked(environment, "tojson", "engine tojson", json);
    checked(environment, "slice", "engine slice", parts);
    checked(environment, "batch", "engine batch", parts);
}

fn checked(
    environment: &mut Environment<'static>,
    name: &'static str,
    engine: &'static str,
    estimate: Estimate,
) {
    let filter = move |state: &mut State<'_, '_>, given: Rest<ValueOrKwargs>| -> Result<Value, Error> {
        let arguments = given.into_values();
        let named = arguments.last().and_then(|last| Kwargs::try_from(last.clone()).ok());
        if estimate(&arguments, named.as_ref()) > MAX_OUTPUT as u64 {
            return Err(RaisedFault::new(TemplateFault::TooMuchOutput).into());
        }
        state.apply_filter(engine, &arguments)
    };
    environment.add_filter(name, filter);
}

/// Returns a number argument, by position or by name.
fn count(arguments: &[Value], at: usize, named: Option<&Kwargs>, name: &str) -> Option<u64> {
    let placed = arguments.get(at).and_then(|value| u64::try_from(value.clone()).ok());
    placed.or_else(|| named.and_then(|named| named.peek::<u64>(name).ok()))
}

fn length(value: Option<&Value>) -> u64 {
    value.and_then(Value::as_str).map_or(0, |text| text.len() as u64)
}

fn indented(arguments: &[Value], named: Option<&Kwargs>) -> u64 {
    let width = count(arguments, 1, named, "width").unwrap_or(4);
    let text = arguments.first().and_then(Value::as_str).unwrap_or_default();
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1;
    lines.saturating_mul(width).saturating_add(text.len() as u64)
}

/// Every number in the format may be a width; with a star every argument may be.
fn formatted(arguments: &[Value], _: Option<&Kwargs>) -> u64 {
    let format = arguments.first().and_then(Value::as_str).unwrap_or_default();
    let digits = format.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let mut widths = digits
        .map(|digits| digits.parse().unwrap_or(u64::MAX))
        .fold(format.len() as u64, u64::saturating_add);
    for argument in &arguments[1..] {
        if format.contains('*') && argument.kind() == ValueKind::Number {
            let width = i64::try_from(argument.clone()).map_or(u64::MAX, i64::unsigned_abs);
            widths = widths.saturating_add(width);
        }
        widths = widths.saturating_add(length(Some(argument)));
    }
    widths
}

fn joined(arguments: &[Value], named: Option<&Kwargs>) -> u64 {
    let between = match arguments.get(1).and_then(Value::as_str) {
        Some(separator) => separator.len() as u64,
        None => named.and_then(|named| named.peek::<String>("d").ok()).unwrap_or_default().len() as u64,
    };
    let mut total = 0_u64;
    let elements = arguments.first().and_then(|list| list.try_iter().ok()).into_iter().flatten();
    for element in elements {
        total = total.saturating_add(between + length(Some(&element)));
        if total > MAX_OUTPUT as u64 {
            break;
        }
    }
    total.saturating_sub(between)
}

fn replaced(arguments: &[Value], _: Option<&Kwargs>) -> u64 {
    let text = arguments.first().and_then(Value::as_str).unwrap_or_default();
    let old = arguments.get(1).and_then(Value::as_str).unwrap_or_default();
    let found = text.matches(old).count() as u64;
    (text.len() as u64 - found * old.len() as u64)
        .saturating_add(found.saturating_mul(length(arguments.get(2))))
}

/// Refuses an absurdly wide indentation; the rest of the output is in proportion to the value.
fn json(arguments: &[Value], named: Option<&Kwargs>) -> u64 {
    let indent = count(arguments, 1, named, "indent").unwrap_or_default();
    if indent > MAX_JSON_INDENTATION { u64::MAX } else { 0 }
}

/// Refuses more parts than a template needs; empty parts take memory too.
fn parts(arguments: &[Value], named: Option<&Kwargs>) -> u64 {
    let count = count(arguments, 1, named, "count").unwrap_or_default();
    if count > MAX_PARTS { u64::MAX } else { 0 }
}
