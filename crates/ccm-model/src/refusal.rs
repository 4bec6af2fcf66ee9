//! Refusals of the gate of a run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Decision of the gate that prevents a command or a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Kind of the refusal.
    pub kind: RefusalKind,
    /// Reason, for people.
    pub reason: String,
    /// Advice on what to do about it.
    pub hints: Vec<String>,
}

/// Kind of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The policy denies it.
    Denied,
    /// An approval is needed first.
    ApprovalRequired {
        /// Intent that waits for the approval. `None` if none was recorded, as in noop.
        intent: Option<Intent>,
    },
}

/// Name of a recorded intent: a command or a change that waits for an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Intent(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            RefusalKind::Denied => "not allowed",
            RefusalKind::ApprovalRequired { .. } => "needs an approval",
        };
        write!(formatter, "{what}: {}", self.reason)
    }
}
