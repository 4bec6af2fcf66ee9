//! The JSON schema (draft 2020-12) of properties.

use serde_json::{Map, Value, json};

use crate::{PropertyKind, PropertySpec};

/// Returns the schema of each property, by name. Every property may be null, which means not given.
pub fn schemas<'p>(properties: impl IntoIterator<Item = &'p PropertySpec>) -> Map<String, Value> {
    described(properties, |_| true)
}

fn described<'p>(
    properties: impl IntoIterator<Item = &'p PropertySpec>,
    is_nullable: fn(&PropertySpec) -> bool,
) -> Map<String, Value> {
    let described = |property: &PropertySpec| {
        let mut schema = schema(&property.kind);
        if is_nullable(property) {
            schema = or_null(schema);
        }
        schema["description"] = property.full_documentation().into();
        (property.name.to_owned(), schema)
    };
    properties.into_iter().map(described).collect()
}

/// Returns the schema of an object with these properties, none of which may be null.
pub fn object_schema(properties: &[PropertySpec]) -> Value {
    let required = properties.iter().filter(|property| property.required).map(|property| property.name);
    json!({
        "type": "object",
        "properties": described(properties, |_| false),
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

/// Returns the schema of a kind.
pub fn schema(kind: &PropertyKind) -> Value {
    match kind {
        PropertyKind::Boolean => json!({ "type": "boolean" }),
        PropertyKind::Integer { min, max } => {
            with(json!({ "type": "integer" }), [("minimum", json!(min)), ("maximum", json!(max))])
        }
        PropertyKind::Text(text) => {
            let types = if let [one] = text.types { json!(one) } else { json!(text.types) };
            let length = Some(text.min_length).filter(|length| *length > 0);
            with(json!({ "type": types }), [("pattern", json!(text.pattern)), ("minLength", json!(length))])
        }
        PropertyKind::Duration => json!({
            "anyOf": [
                { "type": "string", "pattern": "^\\s*(0|([0-9]*\\.?[0-9]+(ns|us|µs|ms|s|m|h|d|w)\\s*)+)\\s*$" },
                { "const": 0 },
            ]
        }),
        PropertyKind::Words(words) => {
            let value = |word: &&str| match *word {
                "true" => json!(true),
                "false" => json!(false),
                word => json!(word),
            };
            json!({ "enum": words.iter().map(value).collect::<Value>() })
        }
        PropertyKind::List(kind) => json!({ "type": "array", "items": schema(kind) }),
        PropertyKind::OneOrMany(kind) => {
            json!({ "anyOf": [schema(kind), schema(&PropertyKind::List(kind))] })
        }
        PropertyKind::Map { keys, values, min } => {
            let keys = keys.map(|pattern| json!({ "pattern": pattern }));
            let keywords =
                [least(*min), ("propertyNames", json!(keys)), ("additionalProperties", schema(values))];
            with(json!({ "type": "object" }), keywords)
        }
        PropertyKind::Record { properties, min } => {
            let names = properties.iter().filter(|property| property.required).map(|property| property.name);
            let required = Some(names.collect::<Vec<_>>()).filter(|required| !required.is_empty());
            let object = json!({
                "type": "object",
                "additionalProperties": false,
                "properties": described(*properties, |property| !property.required),
            });
            with(object, [least(*min), ("required", json!(required))])
        }
        PropertyKind::Either(kinds) => json!({ "anyOf": kinds.iter().map(schema).collect::<Value>() }),
        PropertyKind::Json => json!({}),
        PropertyKind::JsonMap => json!({ "type": "object", "additionalProperties": true }),
    }
}

fn least(min: u32) -> (&'static str, Value) {
    ("minProperties", json!(Some(min).filter(|min| *min > 0)))
}

/// Adds the keywords that are not null.
fn with<const N: usize>(mut schema: Value, keywords: [(&str, Value); N]) -> Value {
    for (keyword, value) in keywords {
        if !value.is_null() {
            schema[keyword] = value;
        }
    }
    schema
}

/// Lets a value be null.
fn or_null(mut schema: Value) -> Value {
    let Value::Object(keywords) = &mut schema else { return schema };
    if keywords.is_empty() {
        return schema;
    }
    if let Some(Value::Array(words)) = keywords.get_mut("enum") {
        words.push(Value::Null);
        return schema;
    }
    match keywords.get_mut("type") {
        Some(Value::Array(types)) => types.push("null".into()),
        Some(one) => *one = json!([one, "null"]),
        None => schema = json!({ "anyOf": [schema, { "type": "null" }] }),
    }
    schema
}
