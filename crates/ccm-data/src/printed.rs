//! Values as text: within other text, and as JSON.

use std::borrow::Cow;

use ccm_expr::Value;

/// Formats a value within a text: null is empty, lists and maps are JSON.
pub fn to_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::Bool(true) => Cow::Borrowed("true"),
        Value::Bool(false) => Cow::Borrowed("false"),
        Value::Int(number) => Cow::Owned(number.to_string()),
        Value::Float(number) => Cow::Owned(format_float(*number)),
        Value::Text(text) => Cow::Borrowed(text),
        Value::List(_) | Value::Map(_) | Value::Groups(_) => Cow::Owned(to_json(value).to_string()),
        // Kinds that only expressions have.
        Value::Bytes(_) | Value::Duration(_) | Value::DateTime(_) | Value::Calendar(_) => {
            Cow::Owned(value.to_string())
        }
    }
}

/// Converts to JSON; NaN and infinities become null.
pub fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(boolean) => (*boolean).into(),
        Value::Int(number) => (*number).into(),
        // Whole numbers without a fraction, as everywhere else.
        Value::Float(number) => match format_float(*number).parse::<i64>() {
            Ok(whole) => whole.into(),
            Err(_) => (*number).into(),
        },
        Value::Text(text) => (**text).into(),
        Value::List(elements) => elements.iter().map(to_json).collect(),
        Value::Map(map) => map.iter().map(|(key, value)| (key.to_string(), to_json(value))).collect(),
        Value::Groups(entries) => {
            entries.iter().map(|(key, value)| (to_text(key).into_owned(), to_json(value))).collect()
        }
        Value::Bytes(_) | Value::Duration(_) | Value::DateTime(_) | Value::Calendar(_) => {
            value.to_string().into()
        }
    }
}

/// Formats a number with the fewest digits that identify it; NaN and infinities as in YAML.
pub(crate) fn format_float(number: f64) -> String {
    if number.is_nan() {
        ".nan".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { ".inf".to_owned() } else { "-.inf".to_owned() }
    } else if number == 0.0 {
        // Minus zero is printed as zero.
        "0".to_owned()
    } else if (1e-5..1e17).contains(&number.abs()) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_within_a_text() {
        for (value, text) in [
            (Value::Null, ""),
            (Value::Bool(true), "true"),
            (Value::Bool(false), "false"),
            (Value::Int(-7), "-7"),
            (Value::Float(1.5), "1.5"),
            (Value::Float(2.0), "2"),
            (Value::Float(-0.25), "-0.25"),
            (Value::Float(1e300), "1e300"),
            (Value::Float(1.5e-9), "1.5e-9"),
            (Value::Float(f64::NEG_INFINITY), "-.inf"),
            (Value::text("a \"b\""), "a \"b\""),
            (Value::list([Value::Int(1), Value::text("ä\""), Value::Null]), r#"[1,"ä\"",null]"#),
            (Value::list([Value::Float(2.0), Value::Float(f64::NAN)]), "[2,null]"),
            (Value::map([("b", Value::Int(1)), ("a", Value::list([]))]), r#"{"b":1,"a":[]}"#),
        ] {
            assert_eq!(to_text(&value), text, "{value:?}");
        }
    }
}
