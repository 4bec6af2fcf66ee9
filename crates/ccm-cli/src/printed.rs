//! How values are printed: as JSON or YAML.

use ccm_data::printed;
use ccm_expr::Value;
use ccm_yaml::Written;

/// Prints a value as JSON, a line for each part.
pub(crate) fn json(value: &Value) -> String {
    format!("{:#}\n", printed::to_json(value))
}

/// Prints a value as YAML.
pub(crate) fn yaml(value: &Value) -> String {
    ccm_yaml::write(&written(value))
}

fn written(value: &Value) -> Written {
    match value {
        Value::Null => Written::Plain("null".to_owned()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            Written::Plain(printed::to_text(value).into_owned())
        }
        Value::List(elements) => Written::List(elements.iter().map(written).collect()),
        Value::Map(map) => {
            Written::Map(map.iter().map(|(key, value)| (key.to_string(), written(value))).collect())
        }
        Value::Groups(entries) => {
            let entry = |(key, value): &(Value, Value)| (printed::to_text(key).into_owned(), written(value));
            Written::Map(entries.iter().map(entry).collect())
        }
        Value::Text(_) | Value::Bytes(_) | Value::Duration(_) | Value::Moment(_) | Value::Calendar(_) => {
            Written::Text(printed::to_text(value).into_owned())
        }
    }
}
