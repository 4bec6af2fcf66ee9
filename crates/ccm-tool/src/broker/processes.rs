//! Calls about processes and approvals.

use ccm_host::{Command, Exit, Finished, StartError};
use ccm_policy::{Caller, PolicyRequest, ToolSet};
use ccm_runtime::CheckedPolicy;
use ccm_runtime::policy::JudgedRequest;
use serde_json::{Value, json};

use super::governed::GovernedCall;
use super::{ToolBroker, new_intent};
use crate::answer::{AnswerKind, ToolAnswer};
use crate::approvals::{ApprovalFailure, StoredCall};
use crate::caller::ToolCaller;
use crate::catalog::ToolName;
use crate::process_tools;
use crate::refusal;

/// Call about processes, before its verdict.
struct ProcessCall<'c> {
    tool: ToolName,
    input: &'c Value,
    caller: &'c ToolCaller,
    resumed: Option<&'c StoredCall>,
    /// Words of a command that does the same, for the verdict and the record.
    words: Vec<String>,
    action: Value,
}

impl ToolBroker {
    /// Lists the processes of a caller.
    pub(super) fn process_list(
        &self,
        input: &Value,
        caller: &ToolCaller,
        resumed: Option<&StoredCall>,
    ) -> ToolAnswer {
        let tool = ToolName::ProcessList;
        let action = json!({ "tool": tool.name() });
        let call = ProcessCall { tool, input, caller, resumed, words: vec!["ps".to_owned()], action };
        self.process_call(&call, |_| match self.registry() {
            Ok(registry) => process_tools::list(&registry, caller),
            Err(answer) => *answer,
        })
    }

    /// Shows a process. A process of somebody else is refused before anybody is asked.
    pub(super) fn process_inspect(
        &self,
        pid: i32,
        input: &Value,
        caller: &ToolCaller,
        resumed: Option<&StoredCall>,
    ) -> ToolAnswer {
        let tool = ToolName::ProcessInspect;
        let registry = match self.registry() {
            Ok(registry) => registry,
            Err(answer) => return *answer,
        };
        let action = json!({ "tool": tool.name(), "pid": pid });
        let words = ["ps", "-p", &pid.to_string()].map(str::to_owned).to_vec();
        let call = ProcessCall { tool, input, caller, resumed, words, action };
        match process_tools::find(&registry, caller, pid) {
            Ok(found) => self.process_call(&call, |_| process_tools::inspect(&found)),
            Err(answer) => self.refuse_process(&call, *answer),
        }
    }

    /// Sends a signal to a process. A process of somebody else is refused before anybody is asked.
    pub(super) fn process_kill(
        &self,
        (pid, signal): (i32, &'static str),
        input: &Value,
        caller: &ToolCaller,
        resumed: Option<&StoredCall>,
    ) -> ToolAnswer {
        let tool = ToolName::ProcessKill;
        let registry = match self.registry() {
            Ok(registry) => registry,
            Err(answer) => return *answer,
        };
        let found = process_tools::find(&registry, caller, pid);
        // The start is part of what is approved: the number alone may belong to another process later.
        let (started, name) = match &found {
            Ok(found) => (Some(found.process.started), Some(found.process.name.clone())),
            Err(_) => (None, None),
        };
        let action = json!({
            "tool": tool.name(),
            "pid": pid,
            "started": started,
            "name": name,
            "signal": signal,
        });
        let words = ["kill", "-s", signal.trim_start_matches("SIG"), &pid.to_string()];
        let words = words.map(str::to_owned).to_vec();
        let call = ProcessCall { tool, input, caller, resumed, words, action };
        match found {
            Ok(found) => self.process_call(&call, |intent| process_tools::kill(&found, signal, intent)),
            Err(answer) => self.refuse_process(&call, *answer),
        }
    }

    fn process_call(&self, call: &ProcessCall<'_>, act: impl FnOnce(&str) -> ToolAnswer) -> ToolAnswer {
        let checked = match self.policy_for(ToolSet::GovernedExecute, call.caller) {
            Ok(Some(checked)) => checked,
            Ok(None) => {
                return ToolAnswer::error(AnswerKind::NotTried, "this machine has no policy", None, &[]);
            }
            Err(answer) => return *answer,
        };
        let (judged, described) = self.judged(checked, call);
        let governed = governed(call, &judged, &described);
        let authorised = match self.authorise(checked, &governed, call.resumed) {
            Ok(authorised) => authorised,
            Err(answer) => return *answer,
        };
        let Ok(Some(recorder)) = self.recorder() else {
            return ToolAnswer::error(AnswerKind::NotTried, "there is no audit log", None, &[]);
        };
        let entry = governed.entry(&authorised);
        if let Err(failure) = recorder.begin(&entry) {
            return refusal::unrecorded(&failure);
        }
        let answer = act(&governed.id);
        let ended = ended(&described, &answer);
        match recorder.end(&entry, ended.as_ref()) {
            Ok(()) => answer,
            Err(failure) => answer.with("notes", json!([failure.message])),
        }
    }

    /// Records a call that is refused whatever the policy says.
    fn refuse_process(&self, call: &ProcessCall<'_>, answer: ToolAnswer) -> ToolAnswer {
        let Ok(Some(checked)) = self.policy_for(ToolSet::GovernedExecute, call.caller) else { return answer };
        let (judged, described) = self.judged(checked, call);
        let governed = governed(call, &judged, &described);
        let verdict = super::governed::AuthorisedCall {
            verdict: "deny",
            rule: None,
            approval: None,
            exchangeable: None,
        };
        self.refuse(&governed, &verdict, answer)
    }

    fn judged(&self, checked: &CheckedPolicy, call: &ProcessCall<'_>) -> (JudgedRequest, Command) {
        let directory = self.directory.display().to_string();
        let request = PolicyRequest::words(call.words.clone(), directory);
        // Only a signal is judged: reading is decided by the set.
        let request = match call.tool {
            ToolName::ProcessKill => request,
            _ => PolicyRequest::words(Vec::<String>::new(), "/"),
        };
        let judged =
            self.session.governance().judge(&checked.policy, &request, Caller::Tool, Some(&call.caller.user));
        let mut words = call.words.iter();
        let program = words.next().cloned().unwrap_or_default();
        let described = Command {
            args: words.map(Into::into).collect(),
            cwd: self.directory.to_path_buf(),
            ..Command::new(program)
        };
        (judged, described)
    }

    /// Withdraws a call that waits for its approval.
    pub(super) fn cancel(&self, intent: &str, caller: &ToolCaller) -> ToolAnswer {
        match self.approvals.withdraw(intent, caller) {
            Ok(()) => {
                ToolAnswer::document(json!({ "status": "done", "intent": intent, "state": "withdrawn" }))
            }
            Err(failure) => refusal::unapproved(&failure),
        }
    }

    /// Ends the connection of a caller: its calls that wait for an approval are withdrawn. A caller without a connection
    /// is a user, who can go on in another process.
    pub fn end_connection(&self, caller: &ToolCaller) -> Result<(), ApprovalFailure> {
        if caller.connection.is_none() { Ok(()) } else { self.approvals.withdraw_all(caller) }
    }

    /// Shows the state of a call that needed an approval.
    pub(super) fn approval_status(&self, intent: &str, caller: &ToolCaller) -> ToolAnswer {
        match self.approvals.state(intent, caller) {
            Ok(state) => ToolAnswer::document(json!({
                "status": "done",
                "intent": state.intent,
                "code": state.code,
                "state": state.state,
                "expires": state.expires,
                "approved_by": state.approved_by,
                "reason": state.reason,
            })),
            Err(failure) => refusal::unapproved(&failure),
        }
    }
}

fn governed<'c>(
    call: &ProcessCall<'c>,
    judged: &'c JudgedRequest,
    described: &'c Command,
) -> GovernedCall<'c> {
    GovernedCall {
        id: call.resumed.map_or_else(new_intent, |stored| stored.intent.clone()),
        tool: call.tool,
        caller: call.caller,
        input: call.input,
        action: call.action.clone(),
        described,
        judged,
        sandbox: "none",
        reason: None,
        code: None,
        always_asks: call.tool == ToolName::ProcessKill,
    }
}

/// Returns the end of a call that runs no command, as it is recorded.
fn ended(described: &Command, answer: &ToolAnswer) -> Result<Finished, StartError> {
    if answer.kind == AnswerKind::Done {
        return Ok(Finished {
            exit: Exit::Code(0),
            stdout: ccm_host::CapturedOutput::default(),
            stderr: ccm_host::CapturedOutput::default(),
            unredacted: None,
            duration: std::time::Duration::ZERO,
            left_running: Vec::new(),
            unkillable: Vec::new(),
            enforced: None,
            reached: Vec::new(),
            container: None,
        });
    }
    let source = std::io::Error::other(answer.text.clone());
    Err(StartError::Spawn { program: described.program.clone(), source })
}
