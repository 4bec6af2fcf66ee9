//! Allows texts with expressions in the JSON schema.

use serde_json::{Map, Value, json};

const REFERENCE: &str = "#/$defs/expression";

/// Pattern of a text that is not blank. Every text with an expression matches.
pub(crate) const VISIBLE: &str = "\\S";

pub(crate) fn definition() -> Value {
    json!({
        "description": "Text with an expression: `{{ … }}` or `${ … }`.",
        "type": "string",
        "pattern": "\\{\\{[\\s\\S]*\\}\\}|\\$\\{[\\s\\S]*\\}",
    })
}

/// Allows an expression in place of a value and of its parts.
pub(crate) fn allowed(mut schema: Value) -> Value {
    allow_in_parts(&mut schema);
    let Value::Object(keywords) = &mut schema else { return schema };
    if takes_any_text(keywords) {
        return schema;
    }
    let description = keywords.shift_remove("description");
    if let (1, Some(Value::Array(choices))) = (keywords.len(), keywords.get_mut("anyOf")) {
        choices.push(json!({ "$ref": REFERENCE }));
    } else {
        schema = json!({ "anyOf": [schema, { "$ref": REFERENCE }] });
    }
    if let Some(description) = description {
        schema["description"] = description;
    }
    schema
}

/// Allows expressions in place of the parts of a value, but not of the value itself.
pub(crate) fn allow_in_parts(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("items" | "additionalProperties" | "propertyNames", value @ Value::Object(_)) => {
                *value = allowed(value.take());
            }
            ("properties", Value::Object(properties)) => {
                for property in properties.values_mut() {
                    *property = allowed(property.take());
                }
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => {
                choices.iter_mut().for_each(allow_in_parts);
            }
            _ => {}
        }
    }
}

/// Returns `true` if the schema allows every text, and therefore every expression.
fn takes_any_text(keywords: &Map<String, Value>) -> bool {
    let is_text = |kind: &Value| *kind == "string";
    let takes_text = match keywords.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_text),
        Some(kind) => is_text(kind),
        None => !["$ref", "anyOf", "oneOf", "allOf", "enum", "const"]
            .iter()
            .any(|keyword| keywords.contains_key(*keyword)),
    };
    let narrows = |keyword: &str| match (keyword, keywords.get(keyword)) {
        (_, None) => false,
        ("pattern", Some(pattern)) => pattern != VISIBLE,
        _ => true,
    };
    let narrowing =
        ["pattern", "enum", "const", "format", "minLength", "maxLength", "not", "anyOf", "oneOf", "allOf"];
    takes_text && !narrowing.into_iter().any(narrows)
}
