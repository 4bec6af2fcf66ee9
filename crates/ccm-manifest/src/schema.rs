//! The JSON schema of a whole manifest, for editors and for people.
//!
//! It says what the loader says as far as a schema can: names, kinds of values and what must be there.
//! References, duplicates and cycles are beyond it.

use ccm_properties::{CommonProperty, NAME, PropertySet as _, TypeSpec, aliases, schemas};
use serde_json::{Map, Value, json};

use crate::document::Settings;
use crate::schema_expressions::{self as expressions, VISIBLE};

/// The JSON schema (draft 2020-12) of a manifest that may use these resource types.
pub fn schema(types: &[&dyn TypeSpec]) -> Value {
    let mut definitions = Map::new();
    let mut items = Map::new();
    for spec in types {
        let name = spec.name();
        items.insert(name.to_owned(), below_type(*spec));
        define(*spec, &mut definitions);
    }
    definitions.insert("expression".to_owned(), expressions::definition());
    let mut ccm = with_expressions(schemas(Settings::PROPERTIES));
    let resources = json!({
        "description": "What to manage, in the order in which it is done where nothing else decides. Each \
                        item holds resources of one type.",
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false,
            "properties": items,
        },
    });
    ccm.insert("resources".to_owned(), resources);
    ccm.extend(types.iter().flat_map(|spec| schemas(spec.settings())));
    let template = json!({
        "description": "The template, beside the manifest, that writes the list of resources instead.",
        "type": ["string", "null"],
        "pattern": "^[^/]+$",
    });
    ccm.insert("resources_template".to_owned(), template);
    let listed = json!({
        "required": ["resources"],
        "properties": { "resources_template": { "type": "null" } },
    });
    let generated = json!({
        "required": ["resources_template"],
        "not": { "required": ["resources"] },
        "properties": { "resources_template": { "type": "string" } },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ccm manifest",
        "description": "The state that ccm brings a machine to.",
        "type": "object",
        "required": ["ccm"],
        "additionalProperties": false,
        "properties": {
            "ccm": {
                "description": "The resources of the machine, and how to go about them.",
                "type": "object",
                "anyOf": [listed, generated],
                "additionalProperties": false,
                "properties": ccm,
            },
            "data": {
                "description": "Values that expressions know as `Data`. They may name facts and environment.",
                "type": ["object", "null"],
            },
            "hierarchy": hierarchy(),
            "overrides": {
                "description": "Values that are laid over `data`, below the names that `hierarchy` goes by.",
                "type": ["object", "null"],
                "additionalProperties": { "type": ["object", "null"] },
            },
        },
        "$defs": definitions,
    })
}

/// Which overrides count, and how.
fn hierarchy() -> Value {
    json!({
        "description": "Which of the overrides are laid over the data, and how.",
        "type": ["object", "null"],
        "required": ["order"],
        "additionalProperties": false,
        "properties": {
            "order": {
                "description": "Names of overrides, with facts in them. One whose expressions all come up \
                                empty is skipped.",
                "type": ["array", "null"],
                "items": { "type": ["string", "number", "boolean"], "pattern": VISIBLE },
            },
            "merge": {
                "description": "`first` takes the first that exists, `deep` merges all of them. Default: \
                                `first`.",
                "enum": ["first", "deep", null],
            },
        },
    })
}

/// What may stand below the key of a type: a list, one map with a name, or nothing.
fn below_type(spec: &dyn TypeSpec) -> Value {
    let name = spec.name();
    let entry = json!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": { "pattern": VISIBLE },
        "properties": { "defaults": { "$ref": format!("#/$defs/{name}.defaults") } },
        "additionalProperties": { "$ref": format!("#/$defs/{name}") },
    });
    json!({
        "description": spec.summary(),
        "anyOf": [
            {
                "description": "Each entry is a resource, written as its name with its properties below it. \
                                One of them may be `defaults`, which holds for this list alone.",
                "type": "array",
                "items": entry,
                "contains": { "required": ["defaults"] },
                "minContains": 0,
                "maxContains": 1,
            },
            { "$ref": format!("#/$defs/{name}.single") },
            { "type": "null" },
        ],
    })
}

/// Defines the three ways in which properties of a type are written: below a name, with the name among them,
/// and as defaults. The first holds them, the others point there.
fn define(spec: &dyn TypeSpec, definitions: &mut Map<String, Value>) {
    let type_name = spec.name();
    let mut below_name = common_properties(spec);
    below_name.extend(with_expressions(schemas(spec.properties())));
    for (alias, property) in aliases(spec.properties()) {
        if let Some(mut schema) = below_name.get(property).cloned() {
            schema["description"] = format!("Another name for `{property}`.").into();
            below_name.insert(alias.to_owned(), schema);
        }
    }
    let pointers = |names: &mut dyn Iterator<Item = &String>| -> Map<String, Value> {
        names
            .map(|name| (name.clone(), json!({ "$ref": format!("#/$defs/{type_name}/properties/{name}") })))
            .collect()
    };
    let defaults = pointers(&mut below_name.keys().filter(|name| *name != "alias"));
    let mut single = with_expressions(schemas([&NAME]));
    single["name"]["type"] = json!(["string", "number", "boolean"]);
    single.extend(pointers(&mut below_name.keys()));

    let object = |properties: Map<String, Value>, description: &str| {
        let mut object = json!({
            "description": description,
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": properties,
        });
        let excluding: Vec<Value> = aliases(spec.properties()).map(not_both).collect();
        if !excluding.is_empty() {
            object["allOf"] = excluding.into();
        }
        object
    };
    let mut single = object(single, spec.summary());
    single["type"] = json!("object");
    single["required"] = json!(["name"]);
    definitions.insert(type_name.to_owned(), object(below_name, spec.summary()));
    definitions.insert(format!("{type_name}.single"), single);
    let described = "What the resources of this list have unless they say otherwise.";
    definitions.insert(format!("{type_name}.defaults"), object(defaults, described));
}

/// Two names of one property exclude each other.
fn not_both((alias, name): (&str, &str)) -> Value {
    let given = json!({ "not": { "type": "null" } });
    let both = json!({
        "type": "object",
        "required": [alias, name],
        "properties": { alias: given, name: given },
    });
    json!({ "not": both })
}

/// The properties that every type has, with the values that this one knows.
fn common_properties(spec: &dyn TypeSpec) -> Map<String, Value> {
    let mut properties = schemas(CommonProperty::ALL.into_iter().map(CommonProperty::spec));
    let or_null = |values: &[&str]| values.iter().map(|value| json!(value)).chain([Value::Null]).collect();
    match spec.ensure_pattern() {
        None => properties["ensure"]["enum"] = or_null(spec.ensures()),
        Some(pattern) => {
            // What is listed comes first: an editor offers it.
            let listed = json!({ "enum": spec.ensures() });
            let other = json!({ "type": ["string", "number"], "pattern": pattern });
            properties["ensure"]["anyOf"] = json!([listed, other, { "type": "null" }]);
        }
    }
    properties["provider"]["enum"] = or_null(spec.providers());
    // Conditions are expressions without braces.
    let control = properties.shift_remove("control");
    let mut properties = with_expressions(properties);
    properties.extend(control.map(|schema| ("control".to_owned(), schema)));
    properties
}

/// Lets an expression stand in place of each value.
fn with_expressions(properties: Map<String, Value>) -> Map<String, Value> {
    properties.into_iter().map(|(name, schema)| (name, expressions::allowed(schema))).collect()
}
