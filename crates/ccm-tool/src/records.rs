//! Records of calls in an audit log.

use ccm_host::{Command, Finished, Local, StartError};
use ccm_policy::Policy;
use ccm_runtime::Commands;

use crate::caller::ToolCaller;

/// Call as it is recorded. Values of variables, standard input and output are never part of a record.
#[derive(Clone, Copy, Debug)]
pub struct RecordedCall<'c> {
    /// Id of the intent of the call.
    pub intent: &'c str,
    /// Name of the tool; of one that does not exist, as the caller writes it.
    pub tool: &'c str,
    /// Caller.
    pub caller: &'c ToolCaller,
    /// The command, not redacted: code and scripts are its last argument.
    pub command: &'c Command,
    /// Verdict of the policy.
    pub verdict: &'static str,
    /// Rule or guard class that led to the verdict.
    pub rule: Option<&'c str>,
    /// Id of the approval that was used.
    pub approval: Option<&'c str>,
}

/// Reason why a call can't be recorded. Nothing may run then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RecordFailure {
    /// What can't be recorded, and why.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

/// Audit log that takes the records of calls.
pub trait CallRecorder {
    /// Records a call before its command starts. The record is on the disk when this returns.
    fn begin(&self, call: &RecordedCall<'_>) -> Result<(), RecordFailure>;

    /// Records the end of a call that began, and seals the log.
    fn end(
        &self,
        call: &RecordedCall<'_>,
        result: Result<&Finished, &StartError>,
    ) -> Result<(), RecordFailure>;

    /// Records a call that was not run, with the reason.
    fn refuse(&self, call: &RecordedCall<'_>, reason: &str) -> Result<(), RecordFailure>;

    /// Hands seals of the log on to the receivers that the policy names. Returns those that were not handed on.
    fn forward<'a>(&'a self, _policy: &'a Policy, _commands: &'a dyn Commands) -> Local<'a, Vec<String>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}
