//! The result of validations as a document.

use ccm_model::{Diagnostic, Label, Location, Severity, SourceMap, event_schema};
use schemars::JsonSchema;
use serde::Serialize;

use ccm_model::Findings;

/// Name of the protocol, with its version.
const PROTOCOL: &str = "io.choria.ccm.v1.validation";
/// Name of the protocol of errors, with its version.
const ERROR_PROTOCOL: &str = "io.choria.ccm.v1.error";
/// Kind of an error that concerns the command and not a text.
const COMMAND_KIND: &str = "command";

/// Result of validating manifests, for programs.
#[derive(Clone, Debug, Serialize)]
pub struct ValidationDocument {
    protocol: &'static str,
    valid: bool,
    manifests: Vec<ValidatedManifest>,
    not_manifests: Vec<String>,
    children: Vec<ValidatedChild>,
}

/// Manifest that is checked as a part of another one.
#[derive(Clone, Debug, Serialize)]
pub struct ValidatedChild {
    /// Name of the manifest: its path as it was found.
    pub manifest: String,
    /// Name of the manifest that applies it.
    pub applied_by: String,
}

/// Result of validating one manifest, for this machine or for another one.
#[derive(Clone, Debug, Serialize)]
pub struct ValidatedManifest {
    /// Name of the manifest: its path as it was given.
    pub manifest: String,
    /// File with the facts of the machine. `None` for this machine.
    pub machine: Option<String>,
    /// Number of resources of a valid manifest.
    pub resources: Option<usize>,
    /// `true` if there is no error.
    pub valid: bool,
    /// Errors, warnings and notes.
    pub findings: Vec<Finding>,
}

/// Error, warning or note.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Finding {
    /// `error`, `warning` or `note`.
    severity: &'static str,
    /// Name that stays the same when the message changes; `command` for an error in no text.
    kind: &'static str,
    /// What is wrong.
    message: String,
    /// Beginning of the text that is wrong.
    location: Option<Location>,
    /// End of the text that is wrong.
    end: Option<Location>,
    /// Other places that belong to the finding.
    labels: Vec<LabelLine>,
    /// Advice on what to do.
    hints: Vec<String>,
    /// Property of the resource.
    property: Option<String>,
}

/// Reason why a command has no result, for programs: such as a manifest that is refused.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ErrorDocument {
    /// Protocol `io.choria.ccm.v1.error`.
    protocol: &'static str,
    /// The error in one line.
    error: String,
    /// Exit code of the command.
    exit_code: u8,
    /// Advice for the error as a whole.
    hints: Vec<String>,
    /// All errors and warnings that led to it.
    diagnostics: Vec<Finding>,
}

/// Place that belongs to a finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct LabelLine {
    /// Beginning of the place.
    location: Option<Location>,
    /// What the place has to do with the finding.
    text: String,
}

/// Returns the JSON schema of a line of events, with [`ErrorDocument`] among its definitions.
pub fn schema_of_events() -> serde_json::Value {
    let add = |generator: &mut schemars::SchemaGenerator| {
        generator.subschema_for::<ErrorDocument>();
    };
    event_schema(add).to_value()
}

impl ValidationDocument {
    /// Builds a document. `not_manifests` names the files of given directories without a `ccm` key.
    pub fn new(manifests: Vec<ValidatedManifest>, not_manifests: Vec<String>) -> Self {
        let valid = manifests.iter().all(|manifest| manifest.valid);
        Self { protocol: PROTOCOL, valid, manifests, not_manifests, children: Vec::new() }
    }

    /// Adds the manifests of given directories that are checked as a part of another one.
    #[must_use]
    pub fn with_children(self, children: Vec<ValidatedChild>) -> Self {
        Self { children, ..self }
    }

    /// Returns the document as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns `true` if all manifests are valid.
    pub fn is_valid(&self) -> bool {
        self.valid
    }
}

impl ErrorDocument {
    /// Builds the document of a command that ended with an exit code. Without a message of its own, the error is the
    /// first diagnostic.
    pub fn new(message: &str, exit_code: u8, hints: Vec<String>, diagnostics: Vec<Finding>) -> Self {
        let first = diagnostics.first().map_or("", |first| &*first.message);
        let error = if message.is_empty() { first } else { message }.to_owned();
        Self { protocol: ERROR_PROTOCOL, error, exit_code, hints, diagnostics }
    }

    /// Returns the document as JSON, with each text passed through a function that removes secrets.
    pub fn json(&self, redact: &dyn Fn(&str) -> String) -> serde_json::Value {
        redacted_texts(serde_json::to_value(self).unwrap_or_default(), redact)
    }
}

/// Passes each text of a value through a function.
fn redacted_texts(value: serde_json::Value, redact: &dyn Fn(&str) -> String) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(text) => Value::String(redact(&text)),
        Value::Array(values) => {
            Value::Array(values.into_iter().map(|value| redacted_texts(value, redact)).collect())
        }
        Value::Object(fields) => Value::Object(
            fields.into_iter().map(|(key, value)| (key, redacted_texts(value, redact))).collect(),
        ),
        other => other,
    }
}

impl Finding {
    /// Builds the finding of an error that concerns the command and not a text.
    pub fn of_command(message: String, hints: Vec<String>) -> Self {
        let found = Self::error(ccm_model::DiagnosticKind::Missing, message);
        Self { kind: COMMAND_KIND, hints, ..found }
    }

    /// Builds the finding of a difference from a plan. `kind` names the difference.
    pub fn of_plan(kind: &'static str, message: String) -> Self {
        let found = Self::error(ccm_model::DiagnosticKind::Missing, message);
        Self { kind, ..found }
    }

    /// Builds the finding of an error without a location.
    pub fn error(kind: ccm_model::DiagnosticKind, message: String) -> Self {
        Self::of(&Diagnostic::without_location(kind, message), &SourceMap::default())
    }

    /// Sets the location.
    #[must_use]
    pub fn at(self, location: Option<Location>) -> Self {
        Self { location, ..self }
    }

    /// Builds findings for programs.
    pub fn of_all(findings: &Findings) -> Vec<Self> {
        findings.diagnostics.iter().map(|found| Self::of(found, &findings.texts)).collect()
    }

    fn of(diagnostic: &Diagnostic, texts: &SourceMap) -> Self {
        let Diagnostic { severity, kind, message, labels, hints, property, missing: _ } = diagnostic;
        let end = |label: &Label| {
            let name = texts.locate(label.span)?.0.to_owned();
            let end = texts.get(label.span.source)?.position(label.span.end as usize);
            Some(Location { file: name, line: end.line, column: end.column })
        };
        let label =
            |label: &Label| LabelLine { location: texts.location(label.span), text: label.text.clone() };
        Self {
            severity: match severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            kind: kind.as_str(),
            message: message.clone(),
            location: labels.first().and_then(|label| texts.location(label.span)),
            end: labels.first().and_then(end),
            labels: labels.iter().filter(|label| !label.text.is_empty()).map(label).collect(),
            hints: hints.clone(),
            property: property.as_ref().map(ToString::to_string),
        }
    }
}
