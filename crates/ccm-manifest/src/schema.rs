//! The JSON schema of a whole manifest, for editors and for people.
//!
//! It says what the loader says as far as a schema can: names, kinds of values and what must be there.
//! References, duplicates and cycles are beyond it.

use std::collections::BTreeSet;

use ccm_model::TypeSpec;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::common_properties::CommonProperties;
use crate::document::Settings;
use crate::draft::supported_providers;
use crate::later;
use crate::schema_expressions::{self as expressions, VISIBLE};

/// What a reference looks like.
const REFERENCE: &str = "^[^#]+#[\\s\\S]";

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
    let settings = properties_of(root_schema::<Settings>()).into_iter();
    let mut ccm: Map<String, Value> =
        settings.map(|(name, schema)| (name, expressions::allowed(schema))).collect();
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
    for schema in types.iter().filter_map(|spec| spec.settings_schema()) {
        ccm.extend(properties_of(schema.to_value()));
    }
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

/// The names of all properties that a resource of that type knows, those of later versions included.
pub(crate) fn property_names(spec: &dyn TypeSpec) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = properties_of(root_schema::<CommonProperties>())
        .into_iter()
        .chain(properties_of(spec.schema().to_value()))
        .map(|(name, _)| name)
        .collect();
    names.extend(spec.aliases().iter().map(|(alias, _)| (*alias).to_owned()));
    names.extend(spec.not_yet().iter().chain(&later::PROPERTIES).map(|name| (*name).to_owned()));
    names
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
    let mut own = spec.schema().to_value();
    prefix_references(&mut own, type_name);
    if let Some(Value::Object(inner)) = own.get_mut("$defs").map(Value::take) {
        for (name, mut schema) in inner {
            expressions::within(&mut schema);
            definitions.insert(format!("{type_name}.{name}"), schema);
        }
    }
    let mut below_name = common_properties(spec);
    let name = below_name.shift_remove("name").unwrap_or_default();
    let own = properties_of(own).into_iter().filter(|(name, _)| !spec.not_yet().contains(&&**name));
    below_name.extend(own.map(|(name, schema)| (name, expressions::allowed(schema))));
    for (alias, property) in spec.aliases() {
        if let Some(mut schema) = below_name.get(*property).cloned() {
            if let Value::Object(schema) = &mut schema {
                schema.insert("description".to_owned(), format!("Another name for `{property}`.").into());
            }
            below_name.insert((*alias).to_owned(), schema);
        }
    }
    let pointers = |names: &mut dyn Iterator<Item = &String>| -> Map<String, Value> {
        names
            .map(|name| (name.clone(), json!({ "$ref": format!("#/$defs/{type_name}/properties/{name}") })))
            .collect()
    };
    let defaults = pointers(&mut below_name.keys().filter(|name| *name != "alias"));
    let mut single = Map::from_iter([("name".to_owned(), name)]);
    single.extend(pointers(&mut below_name.keys()));

    let object = |properties: Map<String, Value>, description: &str| {
        let mut object = json!({
            "description": description,
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": properties,
        });
        if !spec.aliases().is_empty() {
            object["allOf"] = spec.aliases().iter().map(not_both).collect();
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
fn not_both((alias, name): &(&str, &str)) -> Value {
    let given = json!({ "not": { "type": "null" } });
    let both = json!({
        "type": "object",
        "required": [alias, name],
        "properties": { *alias: given, *name: given },
    });
    json!({ "not": both })
}

/// The properties that every type has, with the values that this one knows.
fn common_properties(spec: &dyn TypeSpec) -> Map<String, Value> {
    let mut properties = properties_of(root_schema::<CommonProperties>());
    let mut set = |property: &str, keyword: &str, value: Value| {
        if let Some(Value::Object(schema)) = properties.get_mut(property) {
            schema.insert(keyword.to_owned(), value);
        }
    };
    set("name", "type", json!(["string", "number", "boolean"]));
    set("name", "pattern", VISIBLE.into());
    set("alias", "pattern", VISIBLE.into());
    set("require", "items", json!({ "type": "string", "pattern": REFERENCE }));
    set("subscribe", "items", json!({ "type": "string", "pattern": REFERENCE }));
    let or_null = |values: &[&str]| values.iter().map(|value| json!(value)).chain([Value::Null]).collect();
    match spec.ensure_pattern() {
        None => set("ensure", "enum", or_null(spec.ensures())),
        Some(pattern) => {
            // What is listed comes first: an editor offers it.
            let listed = json!({ "enum": spec.ensures() });
            let other = json!({ "type": ["string", "number"], "pattern": pattern });
            set("ensure", "anyOf", json!([listed, other, { "type": "null" }]));
        }
    }
    set("provider", "enum", or_null(&supported_providers(spec)));
    // Conditions are expressions without braces.
    let control = properties.shift_remove("control");
    let mut properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name, expressions::allowed(schema))).collect();
    properties.extend(control.map(|schema| ("control".to_owned(), schema)));
    properties
}

fn root_schema<T: JsonSchema>() -> Value {
    SchemaGenerator::default().into_root_schema_for::<T>().to_value()
}

/// The properties of an object's schema, each of which may be null: that means not given.
fn properties_of(mut schema: Value) -> Map<String, Value> {
    match schema.get_mut("properties").map(Value::take) {
        Some(Value::Object(properties)) => {
            properties.into_iter().map(|(name, schema)| (name, or_null(schema))).collect()
        }
        _ => Map::new(),
    }
}

fn or_null(mut schema: Value) -> Value {
    let Value::Object(keywords) = &mut schema else { return schema };
    // Comes from `#[serde(default)]`, and says nothing to a reader.
    if keywords.get("default").is_some_and(Value::is_null) {
        keywords.shift_remove("default");
    }
    let is_choice =
        ["enum", "const", "anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| keywords.contains_key(*key));
    if accepts_null(keywords) {
        return schema;
    }
    match keywords.get_mut("type") {
        Some(Value::Array(kinds)) if !is_choice => kinds.push("null".into()),
        Some(kind @ Value::String(_)) if !is_choice => *kind = json!([kind, "null"]),
        _ => {
            let description = keywords.shift_remove("description");
            let mut either = json!({ "anyOf": [schema, { "type": "null" }] });
            if let Some(description) = description {
                either["description"] = description;
            }
            return either;
        }
    }
    schema
}

/// Tells whether a schema says outright that null is fine.
fn accepts_null(keywords: &Map<String, Value>) -> bool {
    let is_null =
        |kind: &Value| *kind == "null" || kind.as_array().is_some_and(|kinds| kinds.contains(&"null".into()));
    let any_is_null = |schemas: &Value| {
        schemas
            .as_array()
            .is_some_and(|schemas| schemas.iter().any(|schema| schema.get("type").is_some_and(is_null)))
    };
    match (keywords.get("enum"), keywords.get("anyOf"), keywords.get("type")) {
        (Some(values), _, _) => values.as_array().is_some_and(|values| values.contains(&Value::Null)),
        (_, Some(schemas), _) => any_is_null(schemas),
        (_, _, Some(kind)) => is_null(kind),
        _ => keywords.is_empty(),
    }
}

/// Makes the references within a type's schema point to where its definitions go.
fn prefix_references(schema: &mut Value, type_name: &str) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match value {
                    Value::String(target) if keyword == "$ref" => {
                        if let Some(name) = target.strip_prefix("#/$defs/") {
                            *target = format!("#/$defs/{type_name}.{name}");
                        }
                    }
                    _ => prefix_references(value, type_name),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| prefix_references(value, type_name)),
        _ => {}
    }
}
