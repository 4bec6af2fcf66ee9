//! JSON schema of a manifest: names, kinds of values and required keys, but no references, duplicates or
//! cycles.

mod expressions;

use ccm_properties::{CommonProperty, NAME, PropertySet as _, TypeSpec, aliases, schemas};
use serde_json::{Map, Value, json};

use self::expressions::VISIBLE;
use crate::read::document::Settings;
use crate::read::foreach;

/// Returns the JSON schema (draft 2020-12) of a manifest with these resource types.
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
    // An item is a type, beside which there may be a list.
    let foreach = json!({ "required": [foreach::KEY], "minProperties": 2, "maxProperties": 2 });
    let alone = json!({ "properties": { foreach::KEY: false }, "minProperties": 1, "maxProperties": 1 });
    items.insert(foreach::KEY.to_owned(), foreach_list());
    let resources = json!({
        "description": "Resources, managed in this order unless dependencies change it. Each item holds \
                        resources of one type.",
        "type": ["array", "null"],
        "items": {
            "type": "object",
            "anyOf": [alone, foreach],
            "additionalProperties": false,
            "properties": items,
        },
    });
    ccm.insert("resources".to_owned(), resources);
    let settings = types.iter().filter_map(|spec| spec.settings());
    ccm.extend(with_expressions(settings.flat_map(|view| schemas(view.keys())).collect()));
    let template = json!({
        "description": "Template in the directory of the manifest. It generates a list of resources, managed after `resources`.",
        "type": ["string", "null"],
        "pattern": "^[^/]+$",
    });
    ccm.insert("resources_template".to_owned(), template);
    let listed = json!({ "required": ["resources"], "properties": { "resources": { "type": "array" } } });
    let generated = json!({
        "required": ["resources_template"],
        "properties": { "resources_template": { "type": "string" } },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ccm manifest",
        "description": "Desired state of a machine.",
        "type": "object",
        "required": ["ccm"],
        "additionalProperties": false,
        "properties": {
            "ccm": {
                "description": "Resources and settings.",
                "type": "object",
                "anyOf": [listed, generated],
                "additionalProperties": false,
                "properties": ccm,
            },
            "data": {
                "description": "Values that expressions read as `Data`. They may use facts and the environment.",
                "type": ["object", "null"],
            },
            "hierarchy": hierarchy(),
            "overrides": {
                "description": "Values that are merged over `data`, by the names that `hierarchy` lists.",
                "type": ["object", "null"],
                "additionalProperties": { "type": ["object", "null"] },
            },
        },
        "$defs": definitions,
    })
}

/// Returns the schema of the list of a `foreach`.
fn foreach_list() -> Value {
    expressions::allowed(json!({
        "description": "List or map. The resources are made for each item, which their expressions read as \
                        `Item`; `Index` is its position, from 0. Of a map, `Item.key` and `Item.value` are an entry.",
        "type": ["array", "object"],
    }))
}

fn hierarchy() -> Value {
    json!({
        "description": "Overrides to merge over the data, and how to merge them.",
        "type": ["object", "null"],
        "required": ["order"],
        "additionalProperties": false,
        "properties": {
            "order": {
                "description": "Names of overrides and data files, which may use facts. An entry whose expressions \
                                are all empty is skipped.",
                "type": ["array", "null"],
                "items": { "type": ["string", "number", "boolean"], "pattern": VISIBLE },
            },
            "merge": {
                "description": "`first` uses the first existing override, `deep` merges all of them. Default: \
                                `first`.",
                "enum": ["first", "deep", null],
            },
            "data_dir": {
                "description": "Directory of data files. The values in its file `a/b.yaml` belong to the entry `a:b` of \
                                `order`, over the override of that name.",
                "type": ["string", "number", "boolean", "null"],
                "pattern": VISIBLE,
                "not": { "type": "string", "pattern": "\\{\\{|\\$\\{|[\\u0000-\\u001f\\u007f]" },
            },
        },
    })
}

/// Returns the schema below the key of a type: a list, one map with `name`, or null.
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
    let lone_name = json!({
        "description": "Name of a resource without properties.",
        "type": ["string", "number", "boolean"],
        "pattern": VISIBLE,
    });
    json!({
        "description": spec.summary(),
        "anyOf": [
            {
                "description": "Each entry is a resource: its name, with its properties below it, or the name alone. \
                                One entry may be `defaults`, which applies to this list only.",
                "type": "array",
                "items": { "anyOf": [entry, lone_name] },
                "contains": { "type": "object", "required": ["defaults"] },
                "minContains": 0,
                "maxContains": 1,
            },
            { "$ref": format!("#/$defs/{name}.single") },
            { "type": "null" },
        ],
    })
}

/// Defines the properties of a type below a name, with `name`, and as defaults; the last two point to the
/// first.
fn define(spec: &dyn TypeSpec, definitions: &mut Map<String, Value>) {
    let type_name = spec.name();
    let mut below_name = common_properties(spec);
    below_name.extend(with_expressions(schemas(spec.properties())));
    for (alias, property) in aliases(spec.properties()) {
        if let Some(mut schema) = below_name.get(property).cloned() {
            schema["description"] = format!("Alias of `{property}`.").into();
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
    let described = "Defaults for the resources of this list.";
    definitions.insert(format!("{type_name}.defaults"), object(defaults, described));
}

/// Returns the schema that excludes setting a property and its alias.
fn not_both((alias, name): (&str, &str)) -> Value {
    let given = json!({ "not": { "type": "null" } });
    let both = json!({
        "type": "object",
        "required": [alias, name],
        "properties": { alias: given, name: given },
    });
    json!({ "not": both })
}

/// Returns the common properties with the values that this type allows.
fn common_properties(spec: &dyn TypeSpec) -> Map<String, Value> {
    let mut properties = schemas(CommonProperty::ALL.into_iter().map(CommonProperty::spec));
    let or_null = |values: &[&str]| values.iter().map(|value| json!(value)).chain([Value::Null]).collect();
    match spec.ensure_pattern() {
        None => properties["ensure"]["enum"] = or_null(spec.ensures()),
        Some(pattern) => {
            // Editors offer the values of an enum.
            let listed = json!({ "enum": spec.ensures() });
            let other = json!({ "type": ["string", "number"], "pattern": pattern });
            properties["ensure"]["anyOf"] = json!([listed, other, { "type": "null" }]);
        }
    }
    properties["provider"]["enum"] = or_null(&spec.providers());
    // Conditions are expressions already.
    let control = properties.shift_remove("control");
    let mut properties = with_expressions(properties);
    properties.extend(control.map(|schema| ("control".to_owned(), schema)));
    properties
}

/// Allows an expression in place of each value.
fn with_expressions(properties: Map<String, Value>) -> Map<String, Value> {
    properties.into_iter().map(|(name, schema)| (name, expressions::allowed(schema))).collect()
}
