//! JSON schema of a policy file, for editors.

use serde_json::{Map, Value, json};

use crate::document::GuardMode;
use crate::document::keys::{self, Key};
use crate::effect::EffectKind;
use crate::guard_class::GuardClass;
use crate::verdict::PolicyVerdict;

/// Returns the JSON schema (draft 2020-12) of a policy file.
pub fn policy_schema() -> Value {
    let mut schema = object(keys::DOCUMENT, top_level);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("ccm policy");
    schema["description"] = json!("Rules about the commands that ccm and its tools may run.");
    schema["required"] = json!(["ccm_policy"]);
    schema
}

/// Returns the schema of a map with these keys. Every value but `ccm_policy` may be null, which means not given.
fn object(keys: &[Key], value: fn(&str) -> Value) -> Value {
    let property = |(name, documentation): &Key| {
        let mut schema = value(name);
        if name != &"ccm_policy" {
            schema = json!({ "anyOf": [schema, { "type": "null" }] });
        }
        schema["description"] = json!(documentation);
        ((*name).to_owned(), schema)
    };
    let properties: Map<String, Value> = keys.iter().map(property).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn text() -> Value {
    json!({ "type": ["string", "number"], "minLength": 1 })
}

fn texts() -> Value {
    json!({ "type": "array", "items": text() })
}

fn one_or_many(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "array", "items": schema }] })
}

fn boolean() -> Value {
    json!({ "type": "boolean" })
}

fn duration() -> Value {
    json!({ "type": ["string", "number"] })
}

fn path() -> Value {
    json!({ "type": "string", "pattern": "^/" })
}

fn count(most: i64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most })
}

fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> Value {
    json!({ "enum": words.into_iter().collect::<Vec<_>>() })
}

fn classes() -> impl Iterator<Item = &'static str> {
    GuardClass::all().filter(|class| !class.is_unreadable()).map(GuardClass::name)
}

fn top_level(key: &str) -> Value {
    match key {
        "ccm_policy" => json!({ "const": 1 }),
        "workspace" => object(keys::WORKSPACE, |key| if key == "path" { path() } else { boolean() }),
        "callers" => object(keys::CALLERS, |key| match key {
            "apply" => object(keys::CALLER_APPLY, caller),
            _ => object(keys::CALLER_TOOL, caller),
        }),
        "guard" => json!({
            "type": "object",
            "propertyNames": words(GuardClass::all().map(GuardClass::name)),
            "additionalProperties": words(PolicyVerdict::ALL.map(PolicyVerdict::name)),
        }),
        "rules" => json!({ "type": "array", "items": object(keys::RULE, rule) }),
        "patterns" => object(keys::PATTERNS, |_| texts()),
        "approval" => object(keys::APPROVAL, approval),
        "sandbox" => object(keys::SANDBOX, sandbox),
        "limits" => object(keys::LIMITS, limits),
        "audit" => object(keys::AUDIT, audit),
        "tools" => object(keys::TOOLS, |_| object(keys::TOOLS_EXEC, older_form)),
        "enable_deny_patterns" | "custom_deny_patterns" | "custom_allow_patterns" => older_form(key),
        _ => texts(),
    }
}

fn older_form(key: &str) -> Value {
    if key == "enable_deny_patterns" { boolean() } else { texts() }
}

fn caller(key: &str) -> Value {
    match key {
        "guard" => words(GuardMode::WORDS.map(|(name, _)| name)),
        "signed" => words(["required", "optional"]),
        "approval" => words(["must_require", "on_ask"]),
        "tools" => json!({ "type": "array", "items": words(["read", "governed-execute", "apply"]) }),
        "users" => texts(),
        _ => duration(),
    }
}

fn rule(key: &str) -> Value {
    match key {
        "match" => object(keys::MATCH, rule_match),
        "allow" => {
            json!({ "type": "array", "minItems": 1, "items": words(classes().filter(|class| *class != "outside_workspace")) })
        }
        "ask" => json!({ "anyOf": [{ "const": true }, object(keys::ASK, ask)] }),
        "deny" => json!({ "enum": [true, "final"] }),
        "examples" => object(keys::EXAMPLES, |_| texts()),
        _ => text(),
    }
}

fn rule_match(key: &str) -> Value {
    match key {
        "program" => one_or_many(&text()),
        "args" => json!({ "type": "array", "items": { "type": ["string", "number", "boolean"] } }),
        "option" => json!({
            "type": "object",
            "propertyNames": { "pattern": "^-[^=]+$" },
            "additionalProperties": { "type": ["string", "number", "boolean", "null"] },
        }),
        "effect" => one_or_many(&words(EffectKind::ALL.map(EffectKind::name))),
        "path" => json!({ "type": "string", "pattern": "^[/*{]" }),
        _ => json!({ "type": "string", "pattern": "#" }),
    }
}

fn ask(key: &str) -> Value {
    match key {
        "approvers" => one_or_many(&text()),
        "count" => count(100),
        "touch" | "user_verified" => boolean(),
        "via" => channels(),
        "grant" => object(keys::GRANT, |key| if key == "uses" { count(1000) } else { duration() }),
        _ => duration(),
    }
}

fn channels() -> Value {
    json!({ "type": "array", "items": words(["ssh", "elicitation"]) })
}

fn approval(key: &str) -> Value {
    match key {
        "approvers" => path(),
        "groups" => json!({ "type": "object", "additionalProperties": texts() }),
        "four_eyes" => boolean(),
        _ => channels(),
    }
}

fn programs() -> Value {
    json!({ "anyOf": [words(["analysed", "any"]), { "type": "array", "items": path() }] })
}

fn sandbox(key: &str) -> Value {
    match key {
        "default" => text(),
        "programs" => programs(),
        _ => json!({
            "type": "object",
            "additionalProperties": { "anyOf": [object(keys::PROFILE, profile), { "type": "null" }] },
        }),
    }
}

fn profile(key: &str) -> Value {
    match key {
        "network" | "unix_sockets" => boolean(),
        "write" | "read" => json!({ "type": "array", "items": path() }),
        "processes" => count(1_000_000),
        "programs" => programs(),
        _ => text(),
    }
}

fn limits(key: &str) -> Value {
    match key {
        "output" => count(10_000_000),
        "parallel" => count(1000),
        "calls" => json!({ "type": "string", "pattern": "^\\s*[0-9]+\\s*/" }),
        _ => duration(),
    }
}

fn audit(key: &str) -> Value {
    if key == "required" {
        return boolean();
    }
    let receiver = json!({
        "anyOf": [
            { "const": "journald" },
            { "type": "object", "additionalProperties": false, "required": ["file"], "properties": { "file": path() } },
            {
                "type": "object",
                "additionalProperties": false,
                "required": ["command"],
                "properties": { "command": { "type": "array", "minItems": 1, "items": text() } },
            },
        ]
    });
    json!({ "type": "array", "items": receiver })
}
