//! `ccm facts`: the facts of this machine.

use ccm_runtime::{Value, printed};

use crate::arguments::{FactsArguments, ValueFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;

/// Prints all facts, or the part of them at a path.
pub(crate) fn run(arguments: &FactsArguments, console: &Console) -> CommandResult {
    let facts = session::facts(&arguments.given);
    let value = session::open(console).facts(&facts, arguments.path.as_deref())?;
    if arguments.raw {
        return console.print(&raw(arguments.path.as_deref().unwrap_or_default(), &value)?);
    }
    console.print(&match arguments.output.output.format {
        ValueFormat::Json => printed::json(&value),
        ValueFormat::Yaml => printed::yaml(&value),
    })
}

/// Returns a value without quotes, with a line for each element of a list. Null is an empty line.
fn raw(path: &str, value: &Value) -> CommandResult<String> {
    let Value::List(elements) = value else {
        return match key_below(value) {
            Some(key) => Err(not_raw(format!("`{path}` is a map"), with_key(path, key))),
            None => Ok(format!("{}\n", printed::word(value))),
        };
    };
    let mut text = String::new();
    for (index, element) in elements.iter().enumerate() {
        let refuse = |what: &str, better: Option<String>| {
            Err(not_raw(format!("`{path}` can't be printed by lines: element {} {what}", index + 1), better))
        };
        if let Some(key) = key_below(element) {
            return refuse("is a map", with_key(&format!("{path}.#"), key));
        }
        if matches!(element, Value::List(_)) {
            return refuse("is a list", Some(format!("{path}.{index}")));
        }
        let line = printed::word(element);
        if line.contains('\n') {
            return refuse("has several lines", Some(format!("{path}.{index}")));
        }
        text += &format!("{line}\n");
    }
    Ok(text)
}

/// Returns a key of a map, of a single value if there is one. An empty map has the key "".
fn key_below(value: &Value) -> Option<&str> {
    match value {
        Value::Map(map) => {
            let mut keys = map.iter().filter(|(_, value)| !matches!(value, Value::Map(_) | Value::List(_)));
            Some(keys.next().or_else(|| map.iter().next()).map_or("", |(key, _)| key))
        }
        Value::Groups(_) => Some(""),
        _ => None,
    }
}

/// Returns the path of a key, unless the path language would read the key as more than a name.
fn with_key(path: &str, key: &str) -> Option<String> {
    let is_name = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    is_name.then(|| format!("{path}.{key}"))
}

/// Returns the error about a value that `--raw` can't print, with a path that it can.
fn not_raw(message: String, path: Option<String>) -> CommandError {
    CommandError::new(message).hint(match path {
        Some(path) => format!("name a value in it, such as `{path}`, or leave out `--raw` for JSON"),
        None => "leave out `--raw` for JSON".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_quotes() {
        for (value, text) in [
            (Value::text("web1"), "web1\n"),
            (Value::text("a \"b\"\nc"), "a \"b\"\nc\n"),
            (Value::text(""), "\n"),
            (Value::Int(7), "7\n"),
            (Value::Bool(true), "true\n"),
            (Value::Null, "\n"),
            (Value::list([]), ""),
            (Value::list([Value::text("eth0"), Value::Int(1), Value::Null]), "eth0\n1\n\n"),
        ] {
            assert_eq!(raw("x", &value).expect("a text"), text, "{value:?}");
        }
    }

    #[test]
    fn values_that_need_json() {
        let map = |key: &str| Value::map([("deep", Value::list([])), (key, Value::Int(1))]);
        for (value, message, path) in [
            (map("os"), "`x` is a map", Some("`x.os`")),
            (map("a.b"), "`x` is a map", None),
            (Value::map([("deep", map("os"))]), "`x` is a map", Some("`x.deep`")),
            (Value::map::<&str>([]), "`x` is a map", None),
            (Value::list([Value::Null, map("name")]), "element 2 is a map", Some("`x.#.name`")),
            (Value::list([Value::list([])]), "element 1 is a list", Some("`x.0`")),
            (Value::list([Value::text("a\nb")]), "element 1 has several lines", Some("`x.0`")),
        ] {
            let error = raw("x", &value).expect_err("no text").text();
            let (found, hint) = error.split_once("\nhint: ").unwrap_or_default();
            assert!(found.ends_with(message), "{error}");
            assert!(hint.contains("leave out `--raw`"), "{error}");
            assert_eq!(hint.contains("such as"), path.is_some(), "{error}");
            assert!(hint.contains(path.unwrap_or_default()), "{error}");
        }
    }
}
