//! Requests for an approval: what exactly would run, and what an approver signs.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use ccm_model::parse_timestamp;
use serde::{Deserialize, Serialize};

pub(super) const REQUEST_TYPE: &str = "ccm-intent/1";
const GRANT_TYPE: &str = "ccm-approval/1";

/// Command or change that waits for an approval. Its bytes are stored once and never written again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRequest {
    #[serde(rename = "type")]
    pub(crate) format: String,
    /// Name, which no other request has. It begins with the code.
    pub id: String,
    /// Short name for people.
    pub code: String,
    /// Name of the machine.
    pub machine: String,
    pub(crate) boot: String,
    /// Time since the boot, in seconds.
    pub(crate) since_boot: u64,
    /// Time of the request, by RFC 3339.
    pub created: String,
    /// Time at which the request ends, by RFC 3339.
    pub expires: String,
    /// Time for which an approval can be used, in seconds.
    pub valid: u64,
    /// Maximum number of uses of an approval.
    pub uses: u32,
    /// User who ran ccm.
    pub user: String,
    /// Manifest of the run.
    pub manifest: String,
    /// Resource that would be changed, or whose command would run.
    pub resource: String,
    /// Purpose: `command`, `guard`, `check` or `change`.
    pub purpose: String,
    /// Kind of the action, for tools that count them.
    pub class: String,
    /// Kind of the machine, for tools that count them.
    pub resource_class: String,
    /// Exactly what would run.
    pub action: RequestedAction,
    /// The simple commands, for people.
    pub commands: Vec<RequestedCommand>,
    /// The sha256 of the policy.
    pub policy: String,
    /// Approvals that are needed.
    pub needs: Vec<RequestedNeed>,
}

/// Exactly what would run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedAction {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Working directory.
    pub directory: String,
    /// User of the command; `None` is the user of ccm.
    pub user: Option<String>,
    /// Variables with salted digests of their values.
    pub environment: BTreeMap<String, String>,
    /// Standard input.
    pub stdin: Option<String>,
    /// Time limit in milliseconds.
    pub timeout: Option<u64>,
    /// Sandbox, in words.
    pub sandbox: Option<String>,
    /// Image of the container.
    pub image: Option<String>,
    /// Programs by their paths, each with its sha256.
    pub programs: BTreeMap<String, String>,
    /// Change of a resource, in words, with its properties and its diff.
    pub change: Vec<String>,
}

/// Simple command of a request, as the policy judges it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedCommand {
    /// The command.
    pub text: String,
    /// Some of its words are not known before it runs.
    pub is_partly_unknown: bool,
    /// Its effects.
    pub effects: Vec<String>,
    /// The verdict.
    pub verdict: String,
    /// Rules and guard classes that ask, with their locations.
    pub reasons: Vec<String>,
}

/// Approval that is needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedNeed {
    /// The need in words.
    pub text: String,
    /// Approvers; `None` for each of the file of approvers.
    pub approvers: Option<Vec<String>>,
    /// Number of different approvers.
    pub count: u32,
    /// A security key has to be touched.
    pub touch: bool,
    /// The approver may not be the user who ran ccm.
    pub four_eyes: bool,
}

/// Statement of an approver about a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantedApproval {
    #[serde(rename = "type")]
    format: String,
    decision: String,
    not_after: String,
    uses: u32,
    nonce: String,
    /// The whole request, byte for byte.
    intent: String,
}

impl ApprovalRequest {
    /// Reads a request; `None` for anything else.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let request: Self = serde_json::from_slice(bytes).ok()?;
        (request.format == REQUEST_TYPE && request.id.starts_with(&request.code)).then_some(request)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        // A struct of texts and numbers always has a form in JSON.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the time at which the request ends.
    pub fn end(&self) -> Option<SystemTime> {
        parse_timestamp(&self.expires)
    }

    pub(super) fn pending_time(&self) -> Duration {
        let created = parse_timestamp(&self.created);
        let times = self.end().zip(created);
        times.and_then(|(end, created)| end.duration_since(created).ok()).unwrap_or_default()
    }

    /// Returns `true` if both are about the same command or change of the same resource.
    pub(super) fn has_subject_of(&self, other: &Self) -> bool {
        (&self.manifest, &self.resource, &self.purpose, &self.action.argv)
            == (&other.manifest, &other.resource, &other.purpose, &other.action.argv)
    }

    /// Returns what differs from a later request with the same subject, as a clause.
    pub(super) fn difference(&self, later: &Self) -> Option<String> {
        let (one, other) = (&self.action, &later.action);
        if self.policy != later.policy {
            return Some("the policy has changed".to_owned());
        }
        if one.directory != other.directory {
            return Some("the working directory has changed".to_owned());
        }
        if let Some(name) = changed_key(&one.environment, &other.environment) {
            return Some(format!("the variable {name} has changed"));
        }
        if let Some(path) = changed_key(&one.programs, &other.programs) {
            return Some(format!("the program {path} has changed"));
        }
        let parts = [
            (one.user == other.user, "the user of the command has changed"),
            (one.stdin == other.stdin, "standard input has changed"),
            (one.timeout == other.timeout, "the time limit has changed"),
            (one.sandbox == other.sandbox, "the sandbox has changed"),
            (one.image == other.image, "the image has changed"),
            (one.change == other.change, "the change is another one"),
            (self.user == later.user, "another user runs ccm"),
            (self.needs == later.needs, "other approvals are needed"),
        ];
        parts.into_iter().find(|(is_same, _)| !is_same).map(|(_, what)| what.to_owned())
    }
}

fn changed_key<'k>(
    one: &'k BTreeMap<String, String>,
    other: &'k BTreeMap<String, String>,
) -> Option<&'k String> {
    one.keys().chain(other.keys()).find(|key| one.get(*key) != other.get(*key))
}

impl GrantedApproval {
    pub(super) fn new(request: &[u8], not_after: &str, uses: u32, nonce: u128) -> Self {
        Self {
            format: GRANT_TYPE.to_owned(),
            decision: "approve".to_owned(),
            not_after: not_after.to_owned(),
            uses,
            nonce: format!("{nonce:032x}"),
            intent: String::from_utf8_lossy(request).into_owned(),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let statement: Self = serde_json::from_slice(bytes).ok()?;
        (statement.format == GRANT_TYPE && statement.decision == "approve").then_some(statement)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        // A struct of texts and numbers always has a form in JSON.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    pub(super) fn is_about(&self, request: &[u8]) -> bool {
        self.intent.as_bytes() == request
    }

    pub(super) fn end(&self) -> Option<SystemTime> {
        parse_timestamp(&self.not_after)
    }

    pub(super) fn uses(&self) -> u32 {
        self.uses
    }
}
