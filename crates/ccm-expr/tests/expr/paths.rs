//! Lookups by path: found, missing and refused.

mod recorded;
mod safety;
mod syntax;

use ccm_expr::Value;
use ccm_expr::path::Path;

/// Parses a value from JSON.
fn value(json: &str) -> Value {
    serde_json::from_str::<serde_json::Value>(json).unwrap_or_else(|error| panic!("{json}: {error}")).into()
}

/// Looks a path up; panics if the path is refused.
fn find(path: &str, root: &Value) -> Option<Value> {
    let parsed = Path::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    parsed.find(root).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Formats a value as JSON, floats with a point, keys in their order.
fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Int(integer) => integer.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Text(text) => serde_json::Value::from(&**text).to_string(),
        Value::List(elements) => format!("[{}]", elements.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Map(map) => {
            let entry = |(key, element): (&std::sync::Arc<str>, &Value)| {
                format!("{}:{}", serde_json::Value::from(&**key), json(element))
            };
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(","))
        }
        #[allow(unreachable_patterns, reason = "no other kind of value is looked up here")]
        other => panic!("{other:?}"),
    }
}

/// Checks rows of a path and its result as JSON; `None` for missing.
fn check(document: &str, rows: &[(&str, Option<&str>)]) {
    let root = value(document);
    for (path, expected) in rows {
        assert_eq!(find(path, &root).as_ref().map(json).as_deref(), *expected, "{path}");
    }
}
