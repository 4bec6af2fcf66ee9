//! Requests of programs, and their answers.

use ccm_model::{
    Diagnostic, DiagnosticKind, ManifestErrors, Node, NodeEntry, NodeValue, SourceId, SourceMap, Span,
    closest, escape_control, escape_json,
};
use ccm_yaml::Limits;
use serde_json::{Value, json};

use super::tree::{WrittenName, manifest_of};
use super::{DeclaredResource, REQUESTS};
use crate::session::Session;

/// Protocol of a request.
const REQUEST: &str = "io.choria.ccm.v1.resource.ensure.request";

/// Protocol of an answer.
const RESPONSE: &str = "io.choria.ccm.v1.resource.ensure.response";

/// Name of a request in messages.
const NAME: &str = "the request";

const KEYS: [&str; 3] = ["protocol", "type", "properties"];

/// Maximum nesting of a request.
const MAX_DEPTH: usize = 64;

/// Reads a request, which is a document of JSON or YAML.
pub(super) fn read(text: &str) -> Result<DeclaredResource, Vec<Diagnostic>> {
    let source = SourceId::default();
    let limits = Limits { depth: MAX_DEPTH, ..Limits::default() };
    let root = ccm_yaml::parse(source, text, &limits)?;
    let start = Span::new(source, 0, 0);
    let error = |kind, span, message: String| vec![Diagnostic::error(kind, span, message)];
    let Some(Node { value: NodeValue::Map(mut map), span: whole }) = root else {
        let found = root.map_or_else(|| "nothing".to_owned(), |node| node.describe());
        return Err(error(
            DiagnosticKind::WrongType,
            start,
            format!("expected a map with a request, found {found}"),
        ));
    };
    let unknown = map.entries().iter().find(|entry| !KEYS.contains(&&*entry.key.text));
    if let Some(NodeEntry { key, .. }) = unknown {
        let message = format!("unknown key `{}`", escape_control(&key.text));
        let found = Diagnostic::error(DiagnosticKind::UnknownKey, key.span, message);
        return Err(vec![found.with_suggestion(closest(&key.text, KEYS))]);
    }
    let protocol = map.take("protocol").and_then(|entry| entry.value.as_text().map(str::to_owned));
    if protocol.as_deref() != Some(REQUEST) {
        let found = escape_control(&protocol.unwrap_or_default()).into_owned();
        return Err(error(
            DiagnosticKind::InvalidValue,
            start,
            format!("invalid protocol \"{found}\", expected \"{REQUEST}\""),
        ));
    }
    let missing =
        |what: &str| error(DiagnosticKind::Missing, start, format!("missing {what} in the request"));
    let Some(type_name) = map.take("type").and_then(|entry| written(&entry.value)) else {
        return Err(missing("type"));
    };
    let properties = map.take("properties").map(|entry| entry.value);
    let Some(Node { value: NodeValue::Map(mut properties), .. }) = properties else {
        return Err(missing("properties"));
    };
    let Some(name) = properties.take("name").and_then(|entry| written(&entry.value)) else {
        return Err(missing("the property `name`"));
    };
    // A resource without properties has to have a place as well.
    let name = if name.span.end == 0 { WrittenName { span: whole, ..name } } else { name };
    let root = manifest_of(&type_name, &name, properties);
    let (text_name, record_name) = (NAME.to_owned(), REQUESTS.to_owned());
    Ok(DeclaredResource { text_name, text: text.into(), root, record_name })
}

fn written(node: &Node) -> Option<WrittenName> {
    node.as_text().map(|text| WrittenName { text: text.to_owned(), span: node.span })
}

/// Returns the answer with the state of a resource, a line of JSON.
pub(super) fn state(line: &str) -> String {
    format!("{{\"protocol\":\"{RESPONSE}\",\"state\":{}}}", line.trim_end())
}

/// Returns the answer to a request that could not be carried out, as JSON.
pub fn failure(error: &str) -> String {
    escape_json(&json!({ "protocol": RESPONSE, "error": error }).to_string()).into_owned()
}

/// Returns the answer to a request with errors.
pub(super) fn errors(errors: &ManifestErrors) -> String {
    let texts: &SourceMap = &errors.0.texts;
    let one = |found: &Diagnostic| {
        let location = found.span().and_then(|span| texts.location(span));
        let location = location.map(|location| format!(" at {location}")).unwrap_or_default();
        let hints = found.hints.iter().map(|hint| format!("; {hint}"));
        let message = match found.kind {
            DiagnosticKind::UnknownProperty => found.message.as_str().into(),
            _ => found.one_line(),
        };
        hints.fold(format!("{message}{location}"), |text, hint| text + &hint)
    };
    let only_errors =
        errors.0.diagnostics.iter().filter(|found| found.severity == ccm_model::Severity::Error);
    failure(&only_errors.map(one).collect::<Vec<_>>().join("\n"))
}

impl Session {
    /// Returns the JSON schema of requests and answers.
    pub fn request_schema(&self) -> Value {
        let manifest = self.schema();
        let mut definitions = manifest["$defs"].as_object().cloned().unwrap_or_default();
        let request = |name: &str| {
            json!({
                "properties": {
                    "type": { "const": name },
                    "properties": { "$ref": format!("#/$defs/{name}.single") },
                },
            })
        };
        let types = self.type_names();
        let by_type: Vec<Value> = types.iter().map(|name| request(name)).collect();
        let mut events = crate::findings::schema_of_events();
        let state = json!({ "$ref": "#/$defs/TransactionLine" });
        let of_events = events.get_mut("$defs").map(Value::take).unwrap_or_default();
        definitions.extend(of_events.as_object().cloned().unwrap_or_default());
        definitions.insert(
            "request".to_owned(),
            json!({
                "description": "Resource to ensure.",
                "type": "object",
                "required": KEYS,
                "additionalProperties": false,
                "properties": {
                    "protocol": { "const": REQUEST },
                    "type": { "description": "Type of the resource.", "enum": types },
                    "properties": { "description": "Name and properties of the resource.", "type": "object", "required": ["name"] },
                },
                "oneOf": by_type,
            }),
        );
        definitions.insert(
            "response".to_owned(),
            json!({
                "description": "What was done about a request: the resource with its outcome, or the reason why nothing was done.",
                "type": "object",
                "required": ["protocol"],
                "additionalProperties": false,
                "properties": {
                    "protocol": { "const": RESPONSE },
                    "state": state,
                    "error": { "description": "Errors, one in a line.", "type": "string" },
                },
                "oneOf": [{ "required": ["state"] }, { "required": ["error"] }],
            }),
        );
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "ccm ensure api",
            "description": "Request or answer of `ccm ensure api pipe`.",
            "anyOf": [{ "$ref": "#/$defs/request" }, { "$ref": "#/$defs/response" }],
            "$defs": definitions,
        })
    }
}
