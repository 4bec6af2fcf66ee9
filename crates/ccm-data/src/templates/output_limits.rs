//! Limits for filters of minijinja whose output a number or a long list can make huge.

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value};

use super::MAX_OUTPUT;
use super::error::TemplateFault;
use super::error_conversion::RaisedFault;
use super::kinds::{check_list, check_no_text, check_printable};
use super::meter::{count_built, count_elements, measure};

/// Maximum number of parts of a list, and maximum length of a part.
const MAX_PARTS: u64 = 100_000;

/// Maximum indentation of JSON.
const MAX_JSON_INDENTATION: u64 = 1000;

/// Minimum number of bytes that a filter would write.
type Estimate = fn(&[Value], Option<&Kwargs>) -> u64;

/// Check of the arguments of the filter that it names.
type Guard = fn(&str, &[Value]) -> Result<(), Error>;

/// Adds a check before every filter whose output can be much larger than its input, or that takes null for an empty
/// list, or a list for a text.
pub(super) fn bound(environment: &mut Environment<'static>) {
    guard(environment);
    environment.add_filter("engine format", minijinja::filters::format);
    environment.add_filter("engine join", minijinja::filters::join);
    environment.add_filter("engine slice", minijinja::filters::slice);
    environment.add_filter("engine batch", minijinja::filters::batch);
    checked(environment, "format", "engine format", formatted, texts);
    checked(environment, "join", "engine join", joined, elements);
    environment.add_filter("engine tojson", minijinja::filters::tojson);
    checked(environment, "tojson", "engine tojson", json, whole);
    checked(environment, "slice", "engine slice", parts, list);
    checked(environment, "batch", "engine batch", parts, list);
}

/// Registers filters of minijinja with a guard.
macro_rules! guarded {
    ($environment:expr, $guard:expr, $($filter:ident),*) => {$(
        let engine = concat!("engine ", stringify!($filter));
        $environment.add_filter(engine, minijinja::filters::$filter);
        checked($environment, stringify!($filter), engine, |_, _| 0, $guard);
    )*};
}

/// Adds a check before filters that take null for an empty list, or a list for a text.
fn guard(environment: &mut Environment<'static>) {
    guarded!(environment, list, first, last, map, zip, chain, sum);
    guarded!(environment, letters, list);
    guarded!(environment, compared, unique);
    guarded!(environment, whole, pprint, items);
    guarded!(environment, ordered, reverse);
    guarded!(environment, text, upper, lower, title, capitalize, trim, string, lines, escape);
    guarded!(environment, split, split);
    checked(environment, "e", "engine escape", |_, _| 0, text);
}

/// Counts what is in the value before all of it is written.
fn whole(_: &str, arguments: &[Value]) -> Result<(), Error> {
    arguments.first().map_or(Ok(()), |value| measure(value).map(drop))
}

/// Counts what is in a list before its elements are compared.
fn compared(filter: &str, arguments: &[Value]) -> Result<(), Error> {
    list(filter, arguments)?;
    whole(filter, arguments)
}

/// Counts the parts of a long text before it is split: a list of its letters takes much more memory.
fn split(filter: &str, arguments: &[Value]) -> Result<(), Error> {
    text(filter, arguments)?;
    pieces(arguments)
}

fn letters(filter: &str, arguments: &[Value]) -> Result<(), Error> {
    list(filter, arguments)?;
    pieces(arguments)
}

fn pieces(arguments: &[Value]) -> Result<(), Error> {
    let text = arguments.first().and_then(Value::as_str).unwrap_or_default();
    let separator = arguments.get(1).and_then(Value::as_str).filter(|separator| !separator.is_empty());
    if text.len() < 1 << 16 {
        return Ok(());
    }
    let parts = separator.map_or_else(|| text.chars().count(), |separator| text.matches(separator).count());
    count_elements(parts as u64)
}

fn list(filter: &str, arguments: &[Value]) -> Result<(), Error> {
    arguments.first().map_or(Ok(()), |list| check_list(&format!("`{filter}`"), list))
}

/// minijinja does not reverse the keys of a map.
fn ordered(filter: &str, arguments: &[Value]) -> Result<(), Error> {
    list(filter, arguments)?;
    if arguments.first().is_some_and(|value| value.kind() == ValueKind::Map) {
        let fault = TemplateFault::Operation(format!("`{filter}` takes a list, not a map"));
        return Err(RaisedFault::new(fault).with_hint("write `| list` before it to take the keys").into());
    }
    Ok(())
}

fn text(filter: &str, arguments: &[Value]) -> Result<(), Error> {
    arguments.first().map_or(Ok(()), |value| check_printable(filter, value))
}

fn texts(filter: &str, arguments: &[Value]) -> Result<(), Error> {
    // Arguments by name are a map.
    let is_named = |value: &&Value| value.is_kwargs();
    arguments.iter().filter(|value| !is_named(value)).try_for_each(|value| check_printable(filter, value))
}

fn elements(filter: &str, arguments: &[Value]) -> Result<(), Error> {
    arguments.first().map_or(Ok(()), |list| check_no_text(&format!("`{filter}`"), list))?;
    if arguments.len() > 2 || arguments.last().is_some_and(Value::is_kwargs) {
        return Ok(());
    }
    let Some(list) = arguments.first() else { return Ok(()) };
    list.try_iter()?.try_for_each(|element| check_printable(filter, &element))
}

fn checked(
    environment: &mut Environment<'static>,
    name: &'static str,
    engine: &'static str,
    estimate: Estimate,
    guard: Guard,
) {
    let filter = move |state: &mut State<'_, '_>, given: Rest<ValueOrKwargs>| -> Result<Value, Error> {
        let arguments = given.into_values();
        guard(name, &arguments)?;
        let named = arguments.last().and_then(|last| Kwargs::try_from(last.clone()).ok());
        if estimate(&arguments, named.as_ref()) > MAX_OUTPUT as u64 {
            return Err(RaisedFault::new(TemplateFault::TooMuchOutput).into());
        }
        let built = state.apply_filter(engine, &arguments)?;
        count_built(&built)?;
        Ok(built)
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

/// Refuses an absurdly wide indentation; the rest of the output is in proportion to the value.
fn json(arguments: &[Value], named: Option<&Kwargs>) -> u64 {
    let indent = count(arguments, 1, named, "indent").unwrap_or_default();
    let Some(Ok(extent)) = arguments.first().map(measure) else { return 0 };
    if indent > MAX_JSON_INDENTATION {
        return u64::MAX;
    }
    extent.text.saturating_add(extent.values.saturating_mul(indent).saturating_mul(extent.depth))
}

/// Refuses more parts than a template needs; empty parts take memory too.
fn parts(arguments: &[Value], named: Option<&Kwargs>) -> u64 {
    let count = count(arguments, 1, named, "count").unwrap_or_default();
    if count > MAX_PARTS { u64::MAX } else { 0 }
}
