//! The present state as JSON.

use std::collections::BTreeMap;

use ccm_engine::{ExportRemark, ExportedState, ExportedValue, NotExported};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{PresentResource, PresentState, ResourcePresence};

/// Protocol of the document.
pub const PRESENT_STATE_PROTOCOL: &str = "io.choria.ccm.v1.resource.present";

/// State of resources that were read.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct PresentDocument {
    /// Protocol of the document.
    protocol: &'static str,
    /// The resources.
    resources: Vec<ResourceDocument>,
    /// What could not be seen.
    unseen: Vec<UnseenDocument>,
}

/// One resource.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ResourceDocument {
    /// Name of the type.
    #[serde(rename = "type")]
    type_name: String,
    /// Name of the resource.
    name: String,
    /// Presence of the resource.
    state: PresenceWord,
    /// Value of `ensure`; `null` for the default of the type.
    ensure: Option<String>,
    /// Provider, if it is not the one that suits the machine best.
    provider: Option<&'static str>,
    /// Properties without those that have their default.
    properties: Map<String, Value>,
    /// Values that only the machine decides.
    read_only: BTreeMap<&'static str, String>,
    /// Properties that are left out, because they are or may be secrets.
    secret: Vec<&'static str>,
    /// Properties that are left out, each with the reason.
    unread: BTreeMap<&'static str, String>,
    /// Reason why the state is not exported.
    not_exported: Option<ReasonDocument>,
    /// Resources that come before this one.
    require: Vec<String>,
    /// Resources that come before this one, and whose change triggers a refresh of this one.
    subscribe: Vec<String>,
}

/// Presence of a resource.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PresenceWord {
    Present,
    Absent,
    NotExported,
}

/// Reason why something is not exported.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ReasonDocument {
    /// Kind of the reason.
    kind: &'static str,
    /// The reason.
    reason: String,
    /// Advice on what to do about it.
    hint: Option<String>,
}

/// Resources of a type that could not be seen.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct UnseenDocument {
    /// Name of the type.
    #[serde(rename = "type")]
    type_name: String,
    /// Kind of the reason.
    kind: &'static str,
    /// The reason.
    reason: String,
    /// Advice on what to do about it.
    hint: Option<String>,
}

/// Returns the JSON schema of the document.
pub fn present_state_schema() -> Value {
    schema_for!(PresentDocument).to_value()
}

impl PresentState {
    /// Returns the state as JSON, without secrets.
    pub fn json(&self) -> Value {
        let unseen = self.unseen.iter().map(|unseen| UnseenDocument {
            type_name: unseen.type_name.clone(),
            kind: unseen.reason.kind.name(),
            reason: unseen.reason.reason.clone(),
            hint: unseen.reason.hint.clone(),
        });
        let document = PresentDocument {
            protocol: PRESENT_STATE_PROTOCOL,
            resources: self.resources.iter().map(resource_document).collect(),
            unseen: unseen.collect(),
        };
        serde_json::to_value(document).unwrap_or_default()
    }
}

fn resource_document(resource: &PresentResource) -> ResourceDocument {
    let ids = |ids: &[ccm_model::ResourceId]| ids.iter().map(ToString::to_string).collect();
    let mut document = ResourceDocument {
        type_name: resource.id.type_name.to_string(),
        name: resource.id.name.to_string(),
        state: PresenceWord::Absent,
        ensure: None,
        provider: None,
        properties: Map::new(),
        read_only: BTreeMap::new(),
        secret: Vec::new(),
        unread: BTreeMap::new(),
        not_exported: None,
        require: ids(&resource.require),
        subscribe: ids(&resource.subscribe),
    };
    match &resource.state {
        ResourcePresence::Absent => {}
        ResourcePresence::NotExported(NotExported { kind, reason, hint }) => {
            document.state = PresenceWord::NotExported;
            let (reason, hint) = (reason.clone(), hint.clone());
            document.not_exported = Some(ReasonDocument { kind: kind.name(), reason, hint });
        }
        ResourcePresence::Present(state) => add_state(&mut document, state),
    }
    document
}

fn add_state(document: &mut ResourceDocument, state: &ExportedState) {
    document.state = PresenceWord::Present;
    document.ensure.clone_from(&state.ensure);
    document.provider = state.provider;
    for (name, value) in &state.properties {
        let value = match value {
            ExportedValue::Json(value) => Some(value.clone()),
            ExportedValue::Content { bytes, is_private: false } => {
                str::from_utf8(bytes).ok().map(|text| Value::String(text.to_owned()))
            }
            ExportedValue::Content { .. } => None,
        };
        if let Some(value) = value {
            document.properties.insert((*name).to_owned(), value);
        } else {
            let reason = "it is no text, or not every user may read it: use `--manifest --out DIR`";
            document.unread.insert(name, reason.to_owned());
        }
    }
    for remark in &state.remarks {
        match remark {
            ExportRemark::ReadOnly { name, value } => drop(document.read_only.insert(*name, value.clone())),
            ExportRemark::Secret { property } => document.secret.push(*property),
            ExportRemark::Unread { property, reason } => {
                document.unread.insert(*property, reason.clone());
            }
        }
    }
}
