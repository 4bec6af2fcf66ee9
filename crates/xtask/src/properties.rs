//! Tables of the properties of types.

use ccm_manifest::CommonProperties;
use ccm_model::TypeSpec;
use schemars::schema_for;
use serde_json::Value;

use crate::cell;

/// The table of a type's properties, or of those that every type has.
pub(crate) fn of(name: &str) -> Result<String, String> {
    Ok(table(&schema(name)?))
}

/// The schema of the properties of a type, or of those that every type has.
fn schema(name: &str) -> Result<Value, String> {
    if name == "every resource" {
        return Ok(schema_for!(CommonProperties).to_value());
    }
    let types = ccm_resources::types();
    let found = types.iter().find(|found| found.name() == name);
    let spec: &dyn TypeSpec = *found.ok_or_else(|| format!("there is no type `{name}`"))?;
    Ok(spec.schema().to_value())
}

fn table(schema: &Value) -> String {
    let mut table = "| Property | Type | Default | Meaning |\n|---|---|---|---|\n".to_owned();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let description = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        let (meaning, default) = match description.split_once(" Default: ") {
            Some((meaning, default)) => (meaning, default.trim_end_matches('.')),
            None => (&*description, "—"),
        };
        table += &format!("| `{name}` | {} | {} | {} |\n", kind(property), cell(default), cell(meaning));
    }
    table
}

/// What a value may be, in words.
fn kind(schema: &Value) -> String {
    if let Some(choices) = schema["anyOf"].as_array() {
        let kinds: Vec<String> = choices.iter().map(kind).filter(|kind| kind != "null").collect();
        return kinds.join(" or ");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values
            .iter()
            .filter(|value| !value.is_null())
            .map(|value| format!("`{}`", plain(value)))
            .collect();
        return values.join(", ");
    }
    if !schema["const"].is_null() {
        return format!("`{}`", plain(&schema["const"]));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).filter(|one| *one != "null").collect()
        }
        _ => Vec::new(),
    };
    match types[..] {
        ["array"] => format!("list of {}", several(&kind(&schema["items"]))),
        ["object"] => "map".to_owned(),
        ["integer"] => "number".to_owned(),
        ["string"] if schema["pattern"] == "^/" => "absolute path".to_owned(),
        ["string" | "number" | "boolean", _, ..] | ["string"] => "text".to_owned(),
        [one] => one.to_owned(),
        _ => "null".to_owned(),
    }
}

fn several(kind: &str) -> String {
    if kind == "text" { kind.to_owned() } else { format!("{kind}s") }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
