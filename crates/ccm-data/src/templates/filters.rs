//! Filters of Jinja2 and Ansible that minijinja lacks, or whose result differs.

#![allow(clippy::needless_pass_by_value, reason = "minijinja passes the arguments of a filter by value")]

mod collections;
mod encoding;
mod regular;
mod text;

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, Value};

use super::error::TemplateFault;
use super::error_conversion::RaisedFault;
use super::kinds::{boolean_of, kind_name, require, truth};

pub(super) use text::replaced;

/// Registers the filters.
pub(super) fn add_filters(environment: &mut Environment<'static>) {
    environment.add_filter("bool", boolean);
    environment.add_filter("ternary", ternary);
    environment.add_filter("mandatory", |value: Value| require(&value).map(|()| value));
    collections::add_filters(environment);
    encoding::add_filters(environment);
    regular::add_filters(environment);
    text::add_filters(environment);
}

fn refused(message: impl Into<String>) -> Error {
    RaisedFault::new(TemplateFault::Operation(message.into())).into()
}

/// Refuses a value of another kind than a filter takes.
fn unsuitable(filter: &str, expected: &str, value: &Value) -> Error {
    refused(format!("`{filter}` takes {expected}, not {}", kind_name(value.kind())))
}

/// Returns the text that a filter reads: numbers are written as text.
fn text_argument<'v>(filter: &str, value: &'v Value, written: &'v mut String) -> Result<&'v str, Error> {
    require(value)?;
    match value.kind() {
        ValueKind::String => Ok(value.as_str().unwrap_or_default()),
        ValueKind::Number => {
            *written = value.to_string();
            Ok(written)
        }
        _ => Err(unsuitable(filter, "text", value)),
    }
}

/// Returns the text that a filter reads; a number is none.
fn only_text<'v>(filter: &str, value: &'v Value) -> Result<&'v str, Error> {
    require(value)?;
    value.as_str().ok_or_else(|| {
        let expected = format!("`{filter}` takes text, not {}", kind_name(value.kind()));
        RaisedFault::new(TemplateFault::Operation(expected))
            .with_hint("write `| string` after the value")
            .into()
    })
}

/// Reads a boolean as Ansible does.
fn boolean(value: Value) -> Result<bool, Error> {
    require(&value)?;
    match value.kind() {
        ValueKind::String => boolean_of(&value).ok_or_else(|| {
            RaisedFault::new(TemplateFault::Operation("this text spells no boolean".to_owned()))
                .with_hint("`bool` reads true, yes, on, y, 1, false, no, off, n and 0")
                .into()
        }),
        _ => Ok(value.is_true()),
    }
}

fn ternary(value: Value, yes: Value, no: Value, none: Option<Value>, named: Kwargs) -> Result<Value, Error> {
    let none = none.or(named.get("none_val")?);
    named.assert_all_used()?;
    if let Some(none) = none.filter(|_| value.is_none()) {
        return Ok(none);
    }
    Ok(if truth(&value)? { yes } else { no })
}
