//! Approvals of calls by a person.

use std::time::Duration;

use ccm_policy::{Analysis, ApprovalNeed, Policy, PolicyDecision};
use serde_json::Value;

use crate::caller::ToolCaller;
use crate::catalog::ToolName;

/// Call that needs an approval.
#[derive(Debug)]
pub struct ToolApprovalRequest<'c> {
    /// Id of the intent.
    pub id: &'c str,
    /// Caller.
    pub caller: &'c ToolCaller,
    /// The tool.
    pub tool: ToolName,
    /// What would run, as an object: the bytes that an approver sees, and whose digest an approval is for.
    pub action: &'c Value,
    /// Input of the call, which is kept to run the call later. It may hold values of variables.
    pub input: &'c Value,
    /// Programs with their hashes.
    pub programs: &'c [(String, String)],
    /// Analysis of the command.
    pub analysis: &'c Analysis,
    /// Decision of the policy.
    pub decision: &'c PolicyDecision,
    /// The policy.
    pub policy: &'c Policy,
    /// SHA-256 of the files of the policy.
    pub policy_digest: &'c str,
    /// Approvals that are needed.
    pub needs: &'c [ApprovalNeed],
    /// Name of the sandbox profile.
    pub sandbox: &'c str,
    /// Reason of the caller, unchecked.
    pub reason: Option<&'c str>,
}

/// Call that waits for an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentHandle {
    /// Id of the intent.
    pub intent: String,
    /// Short code of the intent, for people.
    pub code: String,
    /// Time at which the intent ends, in UTC.
    pub expires: String,
}

/// Stored call.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCall {
    /// Id of the intent.
    pub intent: String,
    /// The tool.
    pub tool: String,
    /// Input of the call.
    pub input: Value,
    /// SHA-256 of the action.
    pub action_digest: String,
}

/// State of a call that needed an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentState {
    /// Id of the intent.
    pub intent: String,
    /// Short code.
    pub code: String,
    /// State: `pending`, `approved`, `rejected`, `expired`, `used`, `withdrawn` or `void`.
    pub state: String,
    /// Time at which the intent or its approval ends, in UTC.
    pub expires: Option<String>,
    /// Approvers so far.
    pub approved_by: Vec<String>,
    /// Reason of a rejection, unchecked.
    pub reason: Option<String>,
}

/// Reason why there is no approval. Nothing may run then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApprovalFailure {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
    /// The approval is still awaited, and may come.
    pub is_pending: bool,
}

/// Store of calls that wait for an approval.
pub trait ApprovalDoor {
    /// Checks that there are approvers who can give these approvals.
    fn check_approvers(&self, policy: &Policy, needs: &[ApprovalNeed]) -> Result<(), ApprovalFailure>;

    /// Uses up one use of a grant that covers the call. Returns `false` without one.
    fn use_grant(&self, request: &ToolApprovalRequest<'_>) -> Result<bool, ApprovalFailure>;

    /// Stores a call that waits for its approval until `pending` has passed.
    fn ask(
        &self,
        request: &ToolApprovalRequest<'_>,
        pending: Duration,
    ) -> Result<IntentHandle, ApprovalFailure>;

    /// Returns a stored call of this caller.
    fn stored(&self, intent: &str, caller: &ToolCaller) -> Result<StoredCall, ApprovalFailure>;

    /// Verifies the approval of a stored call, and uses it up before the call runs. `request` is the same call,
    /// prepared again.
    fn take(&self, request: &ToolApprovalRequest<'_>) -> Result<(), ApprovalFailure>;

    /// Returns the state of an intent of this caller.
    fn state(&self, intent: &str, caller: &ToolCaller) -> Result<IntentState, ApprovalFailure>;

    /// Withdraws a call of this caller that waits.
    fn withdraw(&self, intent: &str, caller: &ToolCaller) -> Result<(), ApprovalFailure>;

    /// Withdraws all calls of this caller that wait, because nobody can resume them once its connection has ended.
    fn withdraw_all(&self, caller: &ToolCaller) -> Result<(), ApprovalFailure> {
        let _ = caller;
        Ok(())
    }
}
