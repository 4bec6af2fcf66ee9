//! Intents: exactly one action that somebody may approve.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use ccm_model::{display_timestamp, parse_timestamp, sha256};
use serde::{Deserialize, Serialize};

/// Namespace of the signature of an intent, as in `ssh-keygen -Y verify -n`.
pub const INTENT_NAMESPACE: &str = "ccm-intent@v1";
/// Maximum length of the bytes of an intent. With the signature of an approver it fits into the inbox.
pub const MAX_INTENT: usize = 48 << 10;
/// Largest integer that every reader of JSON keeps.
const MAX_INTEGER: u64 = 1 << 53;

/// Machine that intents belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalMachine {
    /// Id of the machine.
    pub id: String,
    /// Id of the boot.
    pub boot: String,
    /// Name of the machine, for people.
    pub name: String,
}

/// Time by both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalTime {
    /// Time of day, which may be set back.
    pub wall: SystemTime,
    /// Time since the boot of the machine, sleep included.
    pub since_boot: Duration,
}

/// Intent: one action, its caller, and the verdict of the policy. Its bytes are signed by ccm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentDocument {
    #[serde(rename = "type")]
    format: IntentFormat,
    /// Id.
    pub id: String,
    /// Short name for people, such as `7K3F`.
    pub code: String,
    /// Id of the machine.
    pub machine: String,
    /// Name of the machine, for people.
    pub host: String,
    /// Id of the boot of the machine.
    pub boot: String,
    /// Time at which it was made.
    pub created: String,
    /// Time at which it ends without an approval.
    pub expires: String,
    /// Time since the boot at which it was made, in milliseconds.
    pub uptime_ms: u64,
    /// Content that its caller has chosen and the policy has judged.
    #[serde(flatten)]
    pub content: IntentContent,
    /// Every effect of its commands, without repetition.
    pub effects: Vec<String>,
    /// Digest of the action.
    pub action_digest: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum IntentFormat {
    #[serde(rename = "ccm-intent/1")]
    First,
}

/// Content of an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentContent {
    /// Caller that asks for the action.
    pub caller: IntentCaller,
    /// Tool, such as `exec`, or `apply`.
    pub tool: String,
    /// Class of the action, such as `execute`.
    pub class: String,
    /// Class of the resource, such as `execution-node`.
    pub resource_class: String,
    /// Resource that the action belongs to, such as `exec#reload`.
    pub resource: Option<String>,
    /// Manifest that the resource stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// Purpose of the action in its resource: `command`, `guard`, `check` or `change`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Reason that the caller has written. Nobody has checked it.
    pub reason: Option<String>,
    /// The action.
    pub action: IntendedAction,
    /// Simple commands and changes of the action, in order, as the policy judged them.
    pub commands: Vec<IntendedCommand>,
    /// Programs that the action starts, as far as they are known.
    pub programs: Vec<IntendedProgram>,
    /// Parts of the action that could not be analysed.
    pub unknown: Vec<String>,
    /// Digest of the policy.
    pub policy: String,
    /// Verdict of the policy.
    pub decision: String,
    /// Names of the rules and guard classes that ask for an approval.
    pub rules: Vec<String>,
    /// Confinement of the action.
    pub sandbox: IntendedSandbox,
    /// Demands of the policy on the approval. Each has to be met.
    pub requires: Vec<ApprovalDemand>,
    /// Time that an approval can be used after it was given, in milliseconds.
    pub valid_ms: u64,
    /// Limits of a grant; `None` allows no grant.
    pub grant: Option<GrantLimits>,
}

/// Caller of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentCaller {
    /// Kind of the caller, such as `mcp`, `cli` or `apply`.
    pub kind: String,
    /// Name of the user.
    pub user: String,
    /// Number of the user.
    pub uid: u32,
    /// User who logged in before, such as the one who called `sudo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Number of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Name of the program, as it introduced itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Connection of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
}

/// Action that is executed exactly as it stands here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntendedAction {
    /// Program and arguments; empty for a change without a command.
    pub argv: Vec<String>,
    /// Text for a shell, which is then the last word of `argv`.
    pub shell: Option<String>,
    /// Change without a command: its lines, with properties and differences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<String>,
    /// Image of the container that the command runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Working directory.
    pub cwd: String,
    /// User that the action runs as; `None` is the user of ccm.
    pub user: Option<String>,
    /// Salted hashes of the variables of the environment.
    pub env: BTreeMap<String, String>,
    /// Values of these variables, if a caller with fewer rights sent them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_values: BTreeMap<String, String>,
    /// Standard input, unless its text may not be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Digest of standard input.
    pub stdin_sha256: Option<String>,
    /// Time limit in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Further properties of the resource that say how and when the command runs, with their values as JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
}

/// Simple command or change, with the verdict of the policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntendedCommand {
    /// Text for people.
    pub text: String,
    /// Effects, such as `service: restart nginx`.
    pub effects: Vec<String>,
    /// Verdict, such as `ask`.
    pub verdict: String,
    /// Rules and guard classes that ask, such as `rule "restarts" (/etc/ccm/policy.yaml:14:3)`.
    pub reasons: Vec<String>,
}

/// Program that an action starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntendedProgram {
    /// Path without links.
    pub path: String,
    /// Digest of the file.
    pub sha256: String,
}

/// Confinement of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntendedSandbox {
    /// Name of the profile; `None` is a sandbox that has no name, or no sandbox.
    pub profile: Option<String>,
    /// Digest of the confinement; `None` is no sandbox.
    pub digest: Option<String>,
}

/// Demands of the policy on an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalDemand {
    /// The demand in words, for people.
    pub text: String,
    /// Number of approvers, at least 1.
    pub count: u32,
    /// Principals who may approve; `None` is everybody in the file of approvers.
    pub approvers: Option<Vec<String>>,
    /// The approver must differ from the caller.
    pub four_eyes: bool,
    /// The key has to be a security key, which was touched.
    pub touch: bool,
    /// The security key has to verify its user by PIN or fingerprint.
    pub user_verified: bool,
}

/// Limits of a grant: an approval for more than one action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantLimits {
    /// Maximum number of uses.
    pub uses: u32,
    /// Maximum time in milliseconds.
    pub for_ms: u64,
}

/// Error of an intent. Nothing can be approved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IntentError {
    /// The bytes are not in the form that ccm writes.
    #[error("not an intent in the form that ccm writes")]
    Form,
    /// The intent is too long to be shown and signed.
    #[error("the intent has {length} bytes, which is more than {limit}: it can't be shown whole")]
    TooLong {
        /// Length in bytes.
        length: usize,
        /// Maximum length.
        limit: usize,
    },
    /// An integer is too large.
    #[error("`{name}` is too large: {value}")]
    Integer {
        /// Name of the field.
        name: &'static str,
        /// Its value.
        value: u64,
    },
    /// The content contradicts itself.
    #[error("`{name}` does not belong to the rest of the intent")]
    Contradiction {
        /// Name of the field.
        name: &'static str,
    },
}

impl IntentDocument {
    /// Makes an intent that ends after `pending` without an approval.
    pub fn new(
        id: String,
        code: String,
        content: IntentContent,
        pending: Duration,
        machine: &ApprovalMachine,
        now: ApprovalTime,
    ) -> Result<Self, IntentError> {
        let expires = now.wall.checked_add(pending).unwrap_or(now.wall);
        let document = Self {
            format: IntentFormat::First,
            id,
            code,
            machine: machine.id.clone(),
            host: machine.name.clone(),
            boot: machine.boot.clone(),
            created: display_timestamp(now.wall, 1),
            expires: display_timestamp(expires, 1),
            uptime_ms: milliseconds(now.since_boot),
            effects: effects(&content.commands),
            action_digest: content.action.digest()?,
            content,
        };
        document.check()?;
        let length = document.text().len();
        if length > MAX_INTENT {
            return Err(IntentError::TooLong { length, limit: MAX_INTENT });
        }
        Ok(document)
    }

    /// Reads the text of an intent, which has to be exactly the text that ccm writes.
    pub fn parse(text: &str) -> Result<Self, IntentError> {
        if text.len() > MAX_INTENT {
            return Err(IntentError::TooLong { length: text.len(), limit: MAX_INTENT });
        }
        let document: Self = serde_json::from_str(text).map_err(|_| IntentError::Form)?;
        document.check()?;
        if document.text() == text { Ok(document) } else { Err(IntentError::Form) }
    }

    /// Returns its text: one line of JSON without a line end. Its bytes are what is signed.
    pub fn text(&self) -> String {
        // Every key is a text, and no value refuses to be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the digest of its bytes.
    pub fn digest(&self) -> String {
        format!("sha256:{}", sha256(self.text().as_bytes()))
    }

    fn check(&self) -> Result<(), IntentError> {
        let contradiction = |name| Err(IntentError::Contradiction { name });
        let IntentContent { action, commands, requires, valid_ms, grant, .. } = &self.content;
        let grant = grant.map_or(0, |grant| grant.for_ms);
        for (name, value) in [("uptime_ms", self.uptime_ms), ("valid_ms", *valid_ms), ("for_ms", grant)] {
            if value > MAX_INTEGER {
                return Err(IntentError::Integer { name, value });
            }
        }
        if action.digest()? != self.action_digest {
            return contradiction("action_digest");
        }
        if effects(commands) != self.effects {
            return contradiction("effects");
        }
        if action.argv.is_empty() == action.change.is_empty() {
            return contradiction("argv");
        }
        if let Some(stdin) = &action.stdin
            && action.stdin_sha256.as_ref() != Some(&sha256(stdin.as_bytes()))
        {
            return contradiction("stdin_sha256");
        }
        if action.shell.is_some() && action.shell.as_ref() != action.argv.last() {
            return contradiction("shell");
        }
        if requires.is_empty() || requires.iter().any(|demand| demand.count == 0) {
            return contradiction("count");
        }
        if !is_id(&self.id) || !is_code(&self.code) {
            return contradiction("id");
        }
        match (parse_timestamp(&self.created), parse_timestamp(&self.expires)) {
            (Some(created), Some(expires)) if created <= expires => Ok(()),
            _ => contradiction("expires"),
        }
    }

    /// Returns the time that an approval is waited for.
    pub fn pending(&self) -> Duration {
        let times = parse_timestamp(&self.created).zip(parse_timestamp(&self.expires));
        times.and_then(|(created, expires)| expires.duration_since(created).ok()).unwrap_or_default()
    }
}

impl IntendedAction {
    /// Returns the digest of the action, which has one value for one action, however it is written.
    pub fn digest(&self) -> Result<String, IntentError> {
        if let Some(value) = self.timeout_ms.filter(|value| *value > MAX_INTEGER) {
            return Err(IntentError::Integer { name: "timeout_ms", value });
        }
        let canonical = serde_json_canonicalizer::to_vec(self).map_err(|_| IntentError::Form)?;
        Ok(format!("sha256:{}", sha256(&canonical)))
    }
}

/// Returns milliseconds, at most as many as JSON can hold.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(MAX_INTEGER).min(MAX_INTEGER)
}

fn effects(commands: &[IntendedCommand]) -> Vec<String> {
    let mut effects: Vec<String> = Vec::new();
    for effect in commands.iter().flat_map(|command| &command.effects) {
        if !effects.contains(effect) {
            effects.push(effect.clone());
        }
    }
    effects
}

/// Digits of codes and ids, without those that look alike.
pub(crate) const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
pub(crate) const CODE_LENGTH: usize = 4;
pub(crate) const ID_LENGTH: usize = 26;

pub(crate) fn is_id(text: &str) -> bool {
    text.len() == ID_LENGTH && text.bytes().all(|byte| DIGITS.contains(&byte))
}

fn is_code(text: &str) -> bool {
    text.len() == CODE_LENGTH && text.bytes().all(|byte| DIGITS.contains(&byte))
}
