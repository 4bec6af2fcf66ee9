//! Plans as documents: what a run would do on one machine, and digests of what that was computed from.

use std::collections::BTreeMap;
use std::time::SystemTime;

use ccm_model::{Action, SourceVersion, escape_json, parse_timestamp};
use serde::{Deserialize, Serialize};

/// Format of plans, with its version.
pub const PLAN_FORMAT: &str = "ccm-plan/1";
/// Beginning of the names of all versions of the format.
const FORMAT_FAMILY: &str = "ccm-plan/";

/// Plan of a run on one machine.
///
/// Digests are computed with a key of the machine, so that nobody else can guess a short state or a secret from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanDocument {
    /// Format with its version, [`PLAN_FORMAT`].
    #[serde(rename = "type")]
    pub format: String,
    /// Random name of the plan, by which its use is recorded.
    pub id: String,
    /// Version of ccm.
    pub ccm: String,
    /// Machine that the plan is for.
    pub machine: PlannedMachine,
    /// Time of the plan, by RFC 3339.
    pub issued: String,
    /// Time at which the plan expires, by RFC 3339.
    pub expires: String,
    /// Digest of the policy; `None` without a policy.
    pub policy: Option<String>,
    /// Options that select what is done.
    pub options: PlannedOptions,
    /// Manifests, in the order in which they are applied.
    pub manifests: Vec<PlannedManifest>,
    /// Keyed digest of everything above.
    pub seal: String,
}

/// Machine that a plan is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedMachine {
    /// Id, as in the audit log.
    pub id: String,
    /// Name of the host.
    pub name: String,
    /// Name of the key of the digests, which lies in the state directory.
    pub key: String,
}

/// Options of a planned run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedOptions {
    /// Resources that alone are applied, with what they require.
    pub only: Vec<String>,
    /// Resources that are left out.
    pub skip: Vec<String>,
    /// The run stops after the first failure.
    pub fail_on_error: bool,
}

/// Manifest of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedManifest {
    /// Name: an absolute path, or the name that a source gives it.
    pub name: String,
    /// Version of the source that it is taken from.
    pub source: Option<SourceVersion>,
    /// Files that were read to load it, with their digests.
    pub files: BTreeMap<String, String>,
    /// Files of values on the command line, in their order.
    pub hiera: Vec<String>,
    /// Digest of the data, with the values of the command line.
    pub data: String,
    /// Facts that expressions name, with their digests.
    pub facts: BTreeMap<String, String>,
    /// Resources, in the order of the run.
    pub resources: Vec<PlannedResource>,
}

/// Resource of a plan. Its texts are without secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedResource {
    /// Type and name.
    pub id: String,
    /// Expected outcome.
    pub outcome: PlannedOutcome,
    /// Action; `None` if there is none, or if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// Message of noop about the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Reason of the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Error of a resource that would fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Reason for which the change is not known before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// The policy asks for an approval.
    #[serde(default, skip_serializing_if = "is_false")]
    pub needs_approval: bool,
    /// Change of content as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Digest of the state that the decision was made from; `None` if none was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Digest of the change with everything that the texts hide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// Expected outcome of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedOutcome {
    /// The resource is changed.
    Change,
    /// The resource is refreshed.
    Refresh,
    /// The resource stays as it is.
    Unchanged,
    /// The resource is skipped.
    Skipped,
    /// The resource fails.
    Failed,
}

/// Reason for which a text is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanTextError {
    /// The text is no plan of ccm.
    #[error("it is not a plan in the form that ccm writes")]
    Form,
    /// The plan has a format of another version of ccm.
    #[error("its format is `{found}`, and this version of ccm reads `{PLAN_FORMAT}`")]
    OtherFormat {
        /// Format of the plan.
        found: String,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl PlanDocument {
    /// Reads the text of a plan. A plan that was edited is read as well, as long as it has the form of one.
    pub fn parse(text: &str) -> Result<Self, PlanTextError> {
        let value: serde_json::Value = serde_json::from_str(text).map_err(|_| PlanTextError::Form)?;
        match value.get("type").and_then(serde_json::Value::as_str) {
            Some(PLAN_FORMAT) => {}
            Some(other) if other.starts_with(FORMAT_FAMILY) => {
                return Err(PlanTextError::OtherFormat { found: other.chars().take(40).collect() });
            }
            _ => return Err(PlanTextError::Form),
        }
        let plan: Self = serde_json::from_str(text).map_err(|_| PlanTextError::Form)?;
        let are_times = [&plan.issued, &plan.expires].iter().all(|time| parse_timestamp(time).is_some());
        // The id becomes the name of a file.
        let is_id = plan.id.len() == 32 && plan.id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if are_times && is_id { Ok(plan) } else { Err(PlanTextError::Form) }
    }

    /// Returns the text, which is what is written and signed.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{}\n", escape_json(&text))
    }

    /// Returns the bytes that the seal is computed from.
    pub(crate) fn sealed_bytes(&self) -> Vec<u8> {
        Self { seal: String::new(), ..self.clone() }.text().into_bytes()
    }

    /// Returns the time of the plan.
    pub(crate) fn issued_at(&self) -> Option<SystemTime> {
        parse_timestamp(&self.issued)
    }

    /// Returns the time at which the plan expires.
    pub fn expires_at(&self) -> Option<SystemTime> {
        parse_timestamp(&self.expires)
    }

    /// Returns all resources with the names of their manifests.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &PlannedResource)> {
        self.manifests
            .iter()
            .flat_map(|manifest| manifest.resources.iter().map(|resource| (&*manifest.name, resource)))
    }
}

impl PlannedResource {
    /// Returns `true` if the resource is changed or refreshed, as far as that is known.
    pub fn is_change(&self) -> bool {
        matches!(self.outcome, PlannedOutcome::Change | PlannedOutcome::Refresh)
    }
}

impl PlannedOutcome {
    /// Returns the word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Change => "would change",
            Self::Refresh => "would be refreshed",
            Self::Unchanged => "unchanged",
            Self::Skipped => "skipped",
            Self::Failed => "would fail",
        }
    }
}
