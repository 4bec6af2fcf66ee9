//! Reading of an input object by the table of its fields.

use ccm_model::{
    Diagnostic, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Scalar, ScalarStyle, SourceId, Span, closest,
    escape_control,
};
use ccm_properties::{PropertySet, PropertySpec, aliases};
use serde_json::{Map, Value};

use super::ToolInputError;
use crate::catalog::ToolName;

/// Maximum number of elements of a list, and of variables.
const MAX_ELEMENTS: usize = 4096;

/// Reads an input: an object of known fields with right values, none of those missing that are required.
pub(super) fn read<T: PropertySet>(tool: ToolName, input: &Value) -> Result<T, ToolInputError> {
    let tool = tool.name();
    let Some(fields) = input.as_object() else {
        let message = format!("the input of `{tool}` must be an object, found {}", json_kind(input));
        return Err(ToolInputError::new(message, format!("pass an object with {}", names(T::PROPERTIES))));
    };
    check_names(tool, fields, T::PROPERTIES)?;
    let mut read = T::default();
    for (name, value) in fields {
        if let Value::Array(_) | Value::Object(_) = value
            && let count = value.as_array().map_or(0, Vec::len) + value.as_object().map_or(0, Map::len)
            && count > MAX_ELEMENTS
        {
            let message = format!("`{name}` of `{tool}` has {count} elements; the limit is {MAX_ELEMENTS}");
            let hint = "write the data to a file of the workspace, and pass its path";
            return Err(ToolInputError::new(message, hint));
        }
        let canonical =
            aliases(T::PROPERTIES).find(|(alias, _)| alias == name).map_or(&**name, |(_, name)| name);
        let key = NodeKey { text: canonical.into(), span: Span::default() };
        let mut errors = Vec::new();
        read.set(&NodeEntry { key, value: node(value, 0) }, &mut errors);
        if let Some(error) = errors.into_iter().next() {
            return Err(located(tool, name, value, error));
        }
    }
    Ok(read)
}

/// Finds a field that does not exist, a required one that is missing, and one that is given by two names.
fn check_names(
    tool: &str,
    fields: &Map<String, Value>,
    properties: &'static [PropertySpec],
) -> Result<(), ToolInputError> {
    let known =
        || properties.iter().map(|field| field.name).chain(aliases(properties).map(|(alias, _)| alias));
    if let Some(unknown) = fields.keys().find(|name| !known().any(|known| known == *name)) {
        let shown: String = unknown.chars().take(64).collect();
        let message = format!("`{tool}` has no field `{}`", escape_control(&shown));
        let hint = match closest(unknown, known()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("use {}", names(properties)),
        };
        return Err(ToolInputError::new(message, hint));
    }
    let is_given = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    if let Some(missing) = properties.iter().find(|field| field.required && !is_given(field.name)) {
        let (name, documentation) = (missing.name, missing.documentation_without_default());
        let mut characters = documentation.trim_end_matches('.').chars();
        let first = characters.next().map(|first| first.to_ascii_lowercase());
        let meaning: String = first.into_iter().chain(characters).collect();
        return Err(ToolInputError::new(
            format!("`{tool}` needs `{name}`"),
            format!("add `{name}`: {meaning}"),
        ));
    }
    match aliases(properties).find(|(alias, name)| is_given(alias) && is_given(name)) {
        None => Ok(()),
        Some((alias, name)) => {
            let message = format!("`{name}` and `{alias}` are the same field, and both are given");
            Err(ToolInputError::new(message, "keep one of them"))
        }
    }
}

/// Converts a value. Its span is its position: 0 for that of the field, 1 for its first element. No field has lists
/// within lists, so those are left out.
fn node(value: &Value, position: usize) -> Node {
    let scalar = |text: &str, style| NodeValue::Scalar(Scalar { text: text.into(), style });
    let is_field = position == 0;
    let children = |count: usize| 1..=if is_field { count } else { 0 };
    let value = match value {
        Value::Null => scalar("null", ScalarStyle::Plain),
        Value::Bool(value) => scalar(&value.to_string(), ScalarStyle::Plain),
        Value::Number(number) => scalar(&number.to_string(), ScalarStyle::Plain),
        Value::String(text) => scalar(text, ScalarStyle::Quoted),
        Value::Array(list) => NodeValue::List(
            list.iter().zip(children(list.len())).map(|(value, at)| node(value, at)).collect(),
        ),
        Value::Object(map) => {
            let entry = |((name, value), at): ((&String, &Value), usize)| NodeEntry {
                key: NodeKey { text: name.as_str().into(), span: Span::default() },
                value: node(value, at),
            };
            NodeValue::Map(NodeMap::new(map.iter().zip(children(map.len())).map(entry).collect()))
        }
    };
    Node { value, span: Span::new(SourceId(0), position, position) }
}

/// Adds the field, and the element of it, that an error is about.
fn located(tool: &str, name: &str, value: &Value, error: Diagnostic) -> ToolInputError {
    let position = error.span().map_or(0, |span| span.start as usize);
    let place = match (position.checked_sub(1), value) {
        (Some(at), Value::Object(map)) => {
            format!("{name}.{}", map.keys().nth(at).map(String::as_str).unwrap_or_default())
        }
        (Some(at), _) => format!("{name}[{at}]"),
        (None, _) => name.to_owned(),
    };
    let hint = error.hints.into_iter().next().unwrap_or_default();
    ToolInputError::new(format!("`{place}` of `{tool}` {}", error.message), hint)
}

/// Returns the kind of a JSON value, with its article.
pub fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn names(properties: &[PropertySpec]) -> String {
    match properties {
        [] => "no field".to_owned(),
        names => names.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", "),
    }
}
