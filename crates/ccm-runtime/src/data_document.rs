//! The sources of values as a document.

use ccm_data::hierarchy::EntryOutcome;
use ccm_data::layers::ValueSource;
use ccm_data::printed::to_json;
use serde::Serialize;

use crate::evaluate::EvaluatedData;

/// Name of the protocol, with its version.
const PROTOCOL: &str = "io.choria.ccm.v1.data";

/// Sources of values, for programs.
#[derive(Clone, Debug, Serialize)]
pub struct DataDocument {
    protocol: &'static str,
    hierarchy: Vec<EntryLine>,
    values: Vec<ValueLine>,
}

/// Entry of `order`.
#[derive(Clone, Debug, Serialize)]
struct EntryLine {
    /// The entry as written.
    entry: String,
    /// The entry with the values of its expressions.
    name: Option<String>,
    outcome: &'static str,
    sources: Vec<SourceName>,
    /// Data file that does not exist.
    missing_file: Option<String>,
}

/// Value that is no map, or an empty map.
#[derive(Clone, Debug, Serialize)]
struct ValueLine {
    path: Vec<String>,
    /// Word of `# @merge`, if the first key of the path has one.
    merge: Option<&'static str>,
    sources: Vec<SourceValue>,
}

#[derive(Clone, Debug, Serialize)]
struct SourceName {
    kind: &'static str,
    name: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct SourceValue {
    #[serde(flatten)]
    source: SourceName,
    value: serde_json::Value,
}

impl DataDocument {
    /// Builds the document, with secrets only if they are to be shown.
    pub fn new(data: &EvaluatedData, shows_secrets: bool) -> Self {
        let value = |origin: ccm_data::layers::ValueOrigin| {
            let sources = origin.sources.iter().map(|(source, value)| SourceValue {
                source: source_name(source),
                value: to_json(&if shows_secrets { value.clone() } else { data.redact(value) }),
            });
            ValueLine {
                merge: data.merge_of(&origin.path),
                sources: sources.collect(),
                path: origin.path.iter().map(ToString::to_string).collect(),
            }
        };
        Self {
            protocol: PROTOCOL,
            hierarchy: data.entries().iter().map(|(entry, outcome)| entry_line(entry, outcome)).collect(),
            values: data.origins().into_iter().map(value).collect(),
        }
    }

    /// Returns the document as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn entry_line(entry: &str, outcome: &EntryOutcome) -> EntryLine {
    let mut line = EntryLine {
        entry: entry.to_owned(),
        name: None,
        outcome: "empty",
        sources: Vec::new(),
        missing_file: None,
    };
    let (word, name) = match outcome {
        EntryOutcome::Empty => return line,
        EntryOutcome::NotFound { name, file } => {
            line.missing_file.clone_from(file);
            ("not_found", Some(name))
        }
        EntryOutcome::Applied { name, sources, only_merged_keys } => {
            line.sources = sources.iter().map(source_name).collect();
            (if *only_merged_keys { "applied_to_merged_keys" } else { "applied" }, Some(name))
        }
        EntryOutcome::Repeated(name) => ("repeated", Some(name)),
        EntryOutcome::NotReached(name) => ("not_reached", name.as_ref()),
        EntryOutcome::Invalid(name) => ("invalid", Some(name)),
    };
    line.name = name.cloned();
    line.outcome = word;
    line
}

fn source_name(source: &ValueSource) -> SourceName {
    let (kind, name) = match source {
        ValueSource::Data => ("data", None),
        ValueSource::Override(name) => ("override", Some(name.clone())),
        ValueSource::File(name) => ("file", Some(name.clone())),
        // The assignment may hold a secret.
        ValueSource::CommandLine(_) => ("command_line", None),
        ValueSource::Parent => ("parent", None),
    };
    SourceName { kind, name }
}
