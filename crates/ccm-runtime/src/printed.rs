//! Values as text.

use std::time::Duration;

use ccm_data::printed;
use ccm_expr::Value;
use ccm_model::escape_json;
use ccm_yaml::YamlValue;

/// Returns a value as JSON, a line for each part.
pub fn json(value: &Value) -> String {
    document(&printed::to_json(value))
}

/// Returns a JSON document, a line for each part.
pub fn document(json: &serde_json::Value) -> String {
    escape_json(&format!("{json:#}\n")).into_owned()
}

/// Returns whole seconds in the form that ccm reads, without units that are zero: `1h30m`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let parts =
        [(seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let written = parts.iter().filter(|(number, _)| *number > 0);
    let text = written.fold(String::new(), |text, (number, unit)| text + &format!("{number}{unit}"));
    if text.is_empty() { "0".to_owned() } else { text }
}

/// Returns a value as YAML.
pub fn yaml(value: &Value) -> String {
    ccm_yaml::write(&written(value))
}

/// Returns a JSON document as YAML.
pub fn yaml_document(json: &serde_json::Value) -> String {
    ccm_yaml::write(&of_json(json))
}

fn of_json(json: &serde_json::Value) -> YamlValue {
    match json {
        serde_json::Value::String(text) => YamlValue::Text(text.clone()),
        serde_json::Value::Array(values) => YamlValue::List(values.iter().map(of_json).collect()),
        serde_json::Value::Object(map) => {
            YamlValue::Map(map.iter().map(|(key, value)| (key.clone(), of_json(value))).collect())
        }
        other => YamlValue::Plain(other.to_string()),
    }
}

/// Returns a value as a word without quotes. A list is JSON on one line.
pub fn word(value: &Value) -> String {
    match value {
        Value::List(_) => printed::to_json(value).to_string(),
        value => printed::to_text(value).into_owned(),
    }
}

fn written(value: &Value) -> YamlValue {
    match value {
        Value::Null => YamlValue::Plain("null".to_owned()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            YamlValue::Plain(printed::to_text(value).into_owned())
        }
        Value::List(elements) => YamlValue::List(elements.iter().map(written).collect()),
        Value::Map(map) => {
            YamlValue::Map(map.iter().map(|(key, value)| (key.to_string(), written(value))).collect())
        }
        Value::Groups(entries) => {
            let entry = |(key, value): &(Value, Value)| (printed::to_text(key).into_owned(), written(value));
            YamlValue::Map(entries.iter().map(entry).collect())
        }
        Value::Text(_) | Value::Bytes(_) | Value::Duration(_) | Value::DateTime(_) | Value::Calendar(_) => {
            YamlValue::Text(printed::to_text(value).into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn a_duration_is_written_as_ccm_reads_it() {
        for text in ["0", "1s", "5m", "1h30m", "1d", "7d", "1d1h1m1s"] {
            assert_eq!(duration(ccm_model::parse_duration(text).expect("a duration")), text);
        }
    }
}
