//! Calls that run commands.

use std::cell::RefCell;
use std::io;

use ccm_host::{CancellationLevel, Command, StartError, own_process, search_path};
use ccm_model::error_layers;
use ccm_policy::{Policy, ToolSet};
use ccm_runtime::Commands;
use serde_json::Value;

use super::governed::{AuthorisedCall, GovernedCall};
use super::{CallContext, CallProgress, ToolBroker, new_intent};
use crate::answer::{AnswerKind, ToolAnswer};
use crate::approvals::StoredCall;
use crate::call::{CommandCall, CommandText, ToolCall};
use crate::caller::ToolCaller;
use crate::catalog::ToolName;
use crate::execution;
use crate::input::normalise;
use crate::output::without_controls;
use crate::prepared::{CallPlace, PreparedCall};
use crate::process_registry::RegistryError;
use crate::records::RecordedCall;
use crate::refusal;
use crate::served_user::ServedUser;

/// Call whose beginning is recorded and whose end is not.
pub(super) struct BegunCall {
    intent: String,
    tool: ToolName,
    command: Command,
    verdict: &'static str,
}

/// Returns the answer to a call whose time limit is above that of the policy.
fn refused_timeout(call: &CommandCall, policy: &Policy) -> Option<ToolAnswer> {
    let most = policy.limits().max_timeout;
    let asked = call.timeout.filter(|asked| *asked > most)?;
    let message = format!(
        "`timeoutMs` is {}, and the policy of this machine allows {} (`limits: max_timeout`)",
        asked.as_millis(),
        most.as_millis()
    );
    let hint = format!("use at most {}", most.as_millis());
    Some(ToolAnswer::error(AnswerKind::BadInput, &message, None, &[hint]))
}

impl ToolBroker {
    /// Runs a command, if the policy lets it.
    pub(super) async fn command(
        &self,
        call: CommandCall,
        input: &Value,
        context: CallContext<'_>,
        begun: &RefCell<Option<BegunCall>>,
        resumed: Option<&StoredCall>,
    ) -> ToolAnswer {
        let caller = context.caller;
        let checked = match self.policy_for(ToolSet::GovernedExecute, caller) {
            Ok(Some(checked)) => checked,
            // The set needs a policy.
            Ok(None) => {
                return ToolAnswer::error(AnswerKind::NotTried, "this machine has no policy", None, &[]);
            }
            Err(answer) => return *answer,
        };
        if let Some(answer) = refused_timeout(&call, &checked.policy) {
            return self.refuse_early(call.tool.name(), caller, answer);
        }
        let commands = match self.session.commands() {
            Ok(commands) => commands,
            Err(error) => {
                let message = error_layers(&error).join(": ");
                return ToolAnswer::error(AnswerKind::NotTried, &message, None, &[]);
            }
        };
        let place = CallPlace {
            session: &self.session,
            commands,
            policy: &checked.policy,
            caller,
            directory: &self.directory,
            served: self.served.as_ref(),
        };
        let prepared = match PreparedCall::prepare(call, &place).await {
            Ok(prepared) => prepared,
            Err(error) => {
                let hint = error.hint().to_owned();
                return ToolAnswer::error(AnswerKind::NotTried, &error.to_string(), None, &[hint]);
            }
        };
        let governed = GovernedCall {
            id: resumed.map_or_else(new_intent, |stored| stored.intent.clone()),
            tool: prepared.call.tool,
            caller,
            input,
            action: prepared.action(&caller.user),
            described: &prepared.described,
            judged: &prepared.judged,
            sandbox: &prepared.sandbox.profile,
            reason: prepared.call.reason.as_deref(),
            code: prepared.code(),
            always_asks: false,
        };
        let verdict = || AuthorisedCall {
            verdict: prepared.judged.decision.verdict.name(),
            rule: refusal::rule(&checked.policy, &prepared.judged),
            approval: None,
            exchangeable: None,
        };
        if let Some(message) = prepared.refused_directory {
            let reason =
                format!("the working directory {} is outside the workspace", prepared.directory.display());
            let hint = "use a directory of the workspace as `workingDir`".to_owned();
            let answer = ToolAnswer::error(AnswerKind::Denied, &message.to_string(), Some(&reason), &[hint]);
            return self.refuse(&governed, &verdict(), answer);
        }
        let missing = ServedUser::view(self.served.as_ref(), || missing_program(&prepared));
        if let Some(error) = missing.ok().flatten() {
            let closed = ccm_host::ClosedPlan::default();
            let answer = execution::answer(&prepared, &governed.id, &Err(error), &closed, usize::MAX);
            return self.refuse(&governed, &verdict(), answer);
        }
        let authorised = match self.authorise(checked, &governed, resumed) {
            Ok(authorised) => authorised,
            Err(answer) => return *answer,
        };
        let authorised = (&governed, &authorised);
        self.run(&prepared, authorised, (commands, &checked.policy), context, begun).await
    }

    /// Records and runs a call that may run.
    async fn run(
        &self,
        prepared: &PreparedCall,
        (governed, authorised): (&GovernedCall<'_>, &AuthorisedCall),
        (commands, policy): (&dyn Commands, &Policy),
        context: CallContext<'_>,
        begun: &RefCell<Option<BegunCall>>,
    ) -> ToolAnswer {
        let CallContext { caller, canceller, on_progress } = context;
        let entry = governed.entry(authorised);
        // A record is written when the command can start, and not while another one runs.
        let _turn = tokio::select! {
            biased;
            turn = self.turn.lock() => turn,
            () = canceller.reached(CancellationLevel::Stop) => {
                let hint = "call the tool again".to_owned();
                let message = "Command cancelled before it started";
                let answer = ToolAnswer::error(AnswerKind::CommandFailed, message, None, &[hint]);
                return self.refuse(governed, authorised, answer);
            }
        };
        let Ok(Some(recorder)) = self.recorder() else {
            return ToolAnswer::error(AnswerKind::NotTried, "there is no audit log", None, &[]);
        };
        let is_alone = authorised.exchangeable.is_some();
        let registered = match self.registry() {
            Ok(registry) => {
                registry.begin(caller, (governed.tool.name(), &governed.id), own_process(), is_alone)
            }
            Err(answer) => return *answer,
        };
        let registered = match registered {
            Ok(registered) => registered,
            Err(RegistryError::Busy(busy)) => return self.refuse(governed, authorised, refusal::busy(busy)),
            Err(error) => return refusal::unregistered(&error),
        };
        // From here on, no other call can exchange a file that was compared with the approval.
        if let Some(approved) = &authorised.exchangeable
            && self.covered(governed).ok().is_none_or(|(found, _)| found != *approved)
        {
            return self.refuse(governed, authorised, refusal::exchanged());
        }
        if let Err(failure) = recorder.begin(&entry) {
            return refusal::unrecorded(&failure);
        }
        *begun.borrow_mut() = Some(BegunCall {
            intent: governed.id.clone(),
            tool: governed.tool,
            command: prepared.described.clone(),
            verdict: authorised.verdict,
        });
        on_progress(CallProgress::Started { intent: &governed.id });
        let mut on_line = |stream, line: &str| {
            let text = without_controls(line);
            on_progress(CallProgress::Line { stream, text: &text });
        };
        let (result, closed) = match execution::ready(prepared, commands) {
            Ok(ready) => {
                let doors = (commands, self.session.files());
                ready.run(prepared, doors, canceller.cancellation(), &mut on_line).await
            }
            Err(error) => (Err(error), ccm_host::ClosedPlan::default()),
        };
        let left = result.as_ref().map(|finished| finished.left_running.clone()).unwrap_or_default();
        registered.end(&left);
        let limit = usize::try_from(policy.limits().output).unwrap_or(usize::MAX);
        let answer = execution::answer(prepared, &governed.id, &result, &closed, limit);
        *begun.borrow_mut() = None;
        if let Err(failure) = recorder.end(&entry, result.as_ref()) {
            let note = format!("the end of the call is not recorded: {}", failure.message);
            return answer.with("notes", vec![note]);
        }
        match recorder.forward(policy, commands).await {
            not_forwarded if not_forwarded.is_empty() => answer,
            not_forwarded => answer.with("notes", not_forwarded),
        }
    }

    /// Records the end of a call that a panic has ended.
    pub(super) fn end_after_panic(&self, caller: &ToolCaller, begun: Option<BegunCall>) {
        let (Ok(Some(recorder)), Some(begun)) = (self.recorder(), begun) else { return };
        let entry = RecordedCall {
            intent: &begun.intent,
            tool: begun.tool.name(),
            caller,
            command: &begun.command,
            verdict: begun.verdict,
            rule: None,
            approval: None,
        };
        let source = io::Error::other("ccm failed while the command ran");
        let error = StartError::Spawn { program: begun.command.program.clone(), source };
        // The answer says that ccm failed. The log shows a call that was interrupted.
        let _not_recorded = recorder.end(&entry, Err(&error));
    }

    /// Runs a call that was approved.
    pub(super) async fn resume(
        &self,
        intent: &str,
        context: CallContext<'_>,
        begun: &RefCell<Option<BegunCall>>,
    ) -> ToolAnswer {
        let stored = match self.stored(intent, context.caller) {
            Ok(stored) => stored,
            Err(answer) => return *answer,
        };
        let caller = context.caller;
        match normalise(&stored.tool, &stored.input) {
            Ok(ToolCall::Command(call)) => {
                self.command(call, &stored.input, context, begun, Some(&stored)).await
            }
            Ok(ToolCall::Apply(call)) => {
                Box::pin(self.apply(&call, &stored.input, context, Some(&stored))).await
            }
            Ok(ToolCall::ProcessList) => self.process_list(&stored.input, caller, Some(&stored)),
            Ok(ToolCall::ProcessInspect { pid }) => {
                self.process_inspect(pid, &stored.input, caller, Some(&stored))
            }
            Ok(ToolCall::ProcessKill { pid, signal }) => {
                self.process_kill((pid, signal), &stored.input, caller, Some(&stored))
            }
            Ok(_) | Err(_) => {
                let hint = "call the tool again".to_owned();
                let message = "the stored call can't be run by this version of ccm";
                ToolAnswer::error(AnswerKind::ApprovalEnded, message, None, &[hint])
            }
        }
    }

    fn stored(&self, intent: &str, caller: &ToolCaller) -> Result<StoredCall, Box<ToolAnswer>> {
        self.approvals.stored(intent, caller).map_err(|failure| Box::new(refusal::unapproved(&failure)))
    }
}

/// Returns the error of a program that is not there. Nobody is asked to approve what can't start.
fn missing_program(prepared: &PreparedCall) -> Option<StartError> {
    let CommandText::Words(words) = &prepared.call.text else { return None };
    let has_own_path = search_path(&prepared.call.environment).is_some();
    if prepared.judged.decision.verdict == ccm_policy::PolicyVerdict::Deny || has_own_path {
        return None;
    }
    let program = prepared.judged.analysis.commands.first()?.program.as_ref()?;
    let name = words.first()?;
    if program.location.is_some() || program.name.as_ref() != Some(name) || name.contains('/') {
        return None;
    }
    Some(StartError::NotFound { name: name.clone(), path: String::new() })
}
