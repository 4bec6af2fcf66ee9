//! Approvals of calls in the store of the machine, where `ccm approve` finds them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use ccm_approval::{
    ApprovalRefusal, ApprovalState, ApprovalStore, IntendedAction, IntendedProgram, IntendedSandbox,
    IntentCaller, IntentContent, IntentDocument, IntentEnd,
};
use ccm_host::started_by;
use ccm_model::{error_layers, sha256};
use ccm_policy::{ApprovalConditions, ApprovalNeed, Policy};
use ccm_runtime::Session;
use ccm_runtime::approval::{
    ApprovalsError, MachineIntents, approvers_hint, grant_text, intent_name, unmet_demand,
};
use ccm_runtime::policy::{
    approval_demands, asking_rules, grant_limits, intended_commands, policy_digest, unknown_parts,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approvals::{
    ApprovalDoor, ApprovalFailure, IntentHandle, IntentState, StoredCall, ToolApprovalRequest,
};
use crate::caller::{CallerKind, ToolCaller};
use crate::sandbox::PRIVILEGED;

/// Time in which an approval of a call can be used, unless the policy has one.
const VALID: Duration = Duration::from_secs(5 * 60);

/// Approvals of calls in the store of the machine.
pub(crate) struct StoredIntents {
    session: Rc<Session>,
}

/// Call as it is kept with its intent, for its owner alone: the input may hold values of variables.
#[derive(Serialize, Deserialize)]
struct KeptCall {
    tool: String,
    input: Value,
    action_digest: String,
}

impl StoredIntents {
    pub(crate) fn new(session: Rc<Session>) -> Self {
        Self { session }
    }

    fn intents(&self) -> Result<MachineIntents<'_>, ApprovalFailure> {
        let intents = self.session.governance().intents().map_err(|error| unusable(&error))?;
        intents.take_in().map_err(|error| unusable(&error))?;
        Ok(intents)
    }

    /// Finds an intent of this caller that can still be approved or used.
    fn waiting<'s>(
        &'s self,
        intent: &str,
        caller: &ToolCaller,
    ) -> Result<(MachineIntents<'s>, IntentDocument), ApprovalFailure> {
        let intents = self.intents()?;
        let found = intents.store().find(intent).map_err(|refusal| refused(&refusal, intent))?;
        if is_of(&found, caller) { Ok((intents, found)) } else { Err(unknown(intent)) }
    }

    fn record(
        intents: &MachineIntents<'_>,
        intent: &IntentDocument,
        event: &'static str,
        (approver, reason): (Option<String>, Option<String>),
    ) -> Result<(), ApprovalFailure> {
        intents.record(intent, event, approver, reason).map_err(|problem| ApprovalFailure {
            message: error_layers(&problem).join(": "),
            hints: vec!["let an operator run `ccm audit verify`".to_owned()],
            is_pending: false,
        })
    }
}

impl ApprovalDoor for StoredIntents {
    fn check_approvers(&self, policy: &Policy, needs: &[ApprovalNeed]) -> Result<(), ApprovalFailure> {
        let approvers = self.session.governance().approvers().map_err(|error| unusable(&error.into()))?;
        match approvers.first_unmet(&approval_demands(policy, needs)) {
            None => Ok(()),
            Some(demand) => {
                let (message, hint) = unmet_demand(&approvers, demand);
                Err(ApprovalFailure { message, hints: vec![hint], is_pending: false })
            }
        }
    }

    fn use_grant(&self, request: &ToolApprovalRequest<'_>) -> Result<bool, ApprovalFailure> {
        let intents = self.intents()?;
        let used = intents.use_grant(&content(&intents, request));
        let Some(used) = used.map_err(|refusal| refused(&refusal, request.id))? else { return Ok(false) };
        let notes = used.grants.iter().map(grant_text).chain([format!("for {}", request.id)]);
        let notes = notes.collect::<Vec<_>>().join("; ");
        let by: Vec<String> = used.approvals.into_iter().map(|approval| approval.principal).collect();
        Self::record(&intents, &used.intent, "used", (Some(by.join(", ")), Some(notes)))?;
        Ok(true)
    }

    fn ask(
        &self,
        request: &ToolApprovalRequest<'_>,
        pending: Duration,
    ) -> Result<IntentHandle, ApprovalFailure> {
        let intents = self.intents()?;
        let (store, content) = (intents.store(), content(&intents, request));
        let failed = |error: ccm_approval::ApprovalStoreError| unusable(&error.into());
        let intent = store.request(content, pending, intents.now()).map_err(failed)?;
        let call = KeptCall {
            tool: request.tool.name().to_owned(),
            input: request.input.clone(),
            action_digest: sha256(request.action.to_string().as_bytes()),
        };
        // An object of texts always has a form in JSON.
        let text = serde_json::to_string(&call).unwrap_or_default();
        store.keep_call(&intent, &text).map_err(failed)?;
        let subject = format!("tool {} of {}", request.tool.name(), request.caller.user);
        Self::record(&intents, &intent, "requested", (None, Some(subject)))?;
        Ok(IntentHandle { intent: intent.id, code: intent.code, expires: intent.expires })
    }

    fn stored(&self, intent: &str, caller: &ToolCaller) -> Result<StoredCall, ApprovalFailure> {
        let (intents, found) = self.waiting(intent, caller)?;
        let kept = intents.store().kept_call(&found);
        let kept = kept.and_then(|text| serde_json::from_str::<KeptCall>(&text).ok());
        let KeptCall { tool, input, action_digest } = kept.ok_or_else(|| unknown(intent))?;
        Ok(StoredCall { intent: found.id, tool, input, action_digest })
    }

    fn take(&self, request: &ToolApprovalRequest<'_>) -> Result<(), ApprovalFailure> {
        let (intents, intent) = self.waiting(request.id, request.caller)?;
        if let Some(difference) = intent.content.difference(&content(&intents, request)) {
            let reason = Some(difference.clone());
            let ended = intents.store().end(&intent, IntentEnd::Void, reason.clone(), intents.now());
            ended.map_err(|refusal| refused(&refusal, request.id))?;
            Self::record(&intents, &intent, "void", (None, reason))?;
            let message = format!("{} does not count any more: {difference}", intent_name(&intent));
            let hints = vec!["call the tool again, and let the new call be approved".to_owned()];
            return Err(ApprovalFailure { message, hints, is_pending: false });
        }
        let used = intents.use_up(&intent).map_err(|refusal| refused(&refusal, &intent.code))?;
        let by: Vec<String> = used.approvals.into_iter().map(|approval| approval.principal).collect();
        let set_back = used.clock_set_back.then(|| "the clock was set back".to_owned());
        let notes = used.grants.iter().map(grant_text).chain(set_back).collect::<Vec<_>>().join("; ");
        let notes = Some(notes).filter(|notes| !notes.is_empty());
        Self::record(&intents, &intent, "used", (Some(by.join(", ")), notes))
    }

    fn state(&self, intent: &str, caller: &ToolCaller) -> Result<IntentState, ApprovalFailure> {
        let intents = self.intents()?;
        let listed = intents.with(|store, context| store.listed(intent, context));
        let listed = listed.map_err(|refusal| refused(&refusal, intent))?;
        let found = listed.intent;
        if !is_of(&found, caller) {
            return Err(unknown(intent));
        }
        let mut state = IntentState {
            code: found.code.clone(),
            state: String::new(),
            expires: Some(found.expires.clone()),
            approved_by: Vec::new(),
            reason: None,
            intent: found.id.clone(),
        };
        state.state = match listed.state {
            ApprovalState::Waiting(by) => {
                state.approved_by = by;
                "pending".to_owned()
            }
            ApprovalState::Approved { by, until, .. } => {
                (state.approved_by, state.expires) = (by, Some(until));
                "approved".to_owned()
            }
            ApprovalState::Rejected { reason, .. } => {
                state.reason = Some(reason);
                "rejected".to_owned()
            }
            ApprovalState::Used => "used".to_owned(),
            ApprovalState::Ended(why) => {
                let ended = intents.store().ended().unwrap_or_default();
                let end = ended.iter().find(|ended| ended.intent.id == found.id);
                state.reason = Some(why);
                end.map_or(IntentEnd::Expired, |ended| ended.end).as_str().to_owned()
            }
        };
        Ok(state)
    }

    fn withdraw(&self, intent: &str, caller: &ToolCaller) -> Result<(), ApprovalFailure> {
        let (intents, found) = self.waiting(intent, caller)?;
        let ended = intents.store().end(&found, IntentEnd::Withdrawn, None, intents.now());
        ended.map_err(|refusal| refused(&refusal, intent))?;
        Self::record(&intents, &found, "withdrawn", (None, None))
    }

    fn withdraw_all(&self, caller: &ToolCaller) -> Result<(), ApprovalFailure> {
        let intents = self.intents()?;
        let listed = intents.with(ApprovalStore::list).map_err(|error| unusable(&error.into()))?;
        let waiting = listed.intents.into_iter().filter(|listed| listed.state.is_live());
        for found in waiting.map(|listed| listed.intent).filter(|intent| is_of(intent, caller)) {
            let reason = Some("its connection has ended".to_owned());
            let ended = intents.store().end(&found, IntentEnd::Withdrawn, reason.clone(), intents.now());
            ended.map_err(|refusal| refused(&refusal, &found.id))?;
            Self::record(&intents, &found, "withdrawn", (None, reason))?;
        }
        Ok(())
    }
}

/// Returns what the store keeps of a call.
fn content(intents: &MachineIntents<'_>, request: &ToolApprovalRequest<'_>) -> IntentContent {
    let ToolApprovalRequest { caller, analysis, decision, policy, needs, .. } = request;
    let conditions: Vec<ApprovalConditions> = needs.iter().map(|need| need.conditions.clone()).collect();
    let of_needs = conditions.iter().filter_map(|conditions| conditions.valid).min();
    let valid = of_needs.or(policy.tool_settings().valid).unwrap_or(VALID);
    let mut unknown = unknown_parts(analysis);
    unknown.extend(analysis.unreadable.iter().map(|unreadable| unreadable.message.clone()));
    let mut rules = asking_rules(policy, decision);
    if rules.is_empty() {
        rules.push("every call".to_owned());
    }
    let is_confined = !matches!(request.sandbox, PRIVILEGED | "none");
    let digest = || format!("sha256:{}", sha256(request.action["sandbox"].to_string().as_bytes()));
    IntentContent {
        caller: intent_caller(caller),
        tool: request.tool.name().to_owned(),
        class: "execute".to_owned(),
        resource_class: "execution-node".to_owned(),
        resource: None,
        manifest: None,
        purpose: None,
        reason: request.reason.map(str::to_owned),
        action: action(intents, request),
        commands: intended_commands(policy, decision, analysis),
        programs: request
            .programs
            .iter()
            .map(|(path, sha256)| IntendedProgram { path: path.clone(), sha256: sha256.clone() })
            .collect(),
        policy: policy_digest(policy),
        decision: decision.verdict.name().to_owned(),
        rules,
        sandbox: IntendedSandbox {
            profile: is_confined.then(|| request.sandbox.to_owned()),
            digest: is_confined.then(digest),
        },
        requires: approval_demands(policy, needs),
        valid_ms: u64::try_from(valid.as_millis()).unwrap_or(u64::MAX).max(1000),
        grant: grant_limits(&conditions).filter(|_| unknown.is_empty()),
        unknown,
    }
}

fn action(intents: &MachineIntents<'_>, request: &ToolApprovalRequest<'_>) -> IntendedAction {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let action = request.action;
    let argv: Vec<String> = action["argv"].as_array().into_iter().flatten().map(text).collect();
    let shell =
        argv.last().filter(|last| argv.get(1).is_some_and(|word| word == "-c") || last.contains('\n'));
    let salt = intents.store().salt();
    let variables = |field: &str| action[field].as_object().into_iter().flatten();
    let env: BTreeMap<String, String> =
        variables("env_sha256").map(|(name, hash)| (name.clone(), salt.hash(name, &text(hash)))).collect();
    // What is no command has no words, but a name and its values.
    let values = action.as_object().into_iter().flatten().filter(|_| argv.is_empty());
    IntendedAction {
        shell: shell.cloned(),
        change: values.map(|(name, value)| format!("{name}: {}", text(value))).collect(),
        image: None,
        cwd: action["cwd"].as_str().unwrap_or("/").to_owned(),
        user: Some(request.caller.user.clone()),
        env,
        env_values: variables("env").map(|(name, value)| (name.clone(), text(value))).collect(),
        stdin: None,
        stdin_sha256: None,
        timeout_ms: action["timeout_ms"].as_u64(),
        properties: BTreeMap::new(),
        argv,
    }
}

fn intent_caller(caller: &ToolCaller) -> IntentCaller {
    let (kind, login) = match caller.kind {
        CallerKind::Cli => ("cli", started_by().sudo_user),
        CallerKind::Mcp => ("mcp", None),
    };
    IntentCaller {
        kind: kind.to_owned(),
        user: caller.user.clone(),
        uid: caller.uid,
        login,
        pid: Some(caller.pid),
        client: caller.client.clone(),
        connection: caller.connection.clone(),
    }
}

/// Returns `true` if an intent is one of this caller.
fn is_of(intent: &IntentDocument, caller: &ToolCaller) -> bool {
    let of_intent = &intent.content.caller;
    of_intent.kind != "apply" && (of_intent.uid, &of_intent.connection) == (caller.uid, &caller.connection)
}

fn unknown(intent: &str) -> ApprovalFailure {
    ApprovalFailure {
        message: format!("no call of this user waits for an approval as `{}`", intent.escape_debug()),
        hints: vec!["call the tool again, and use the `intent` of its answer".to_owned()],
        is_pending: false,
    }
}

fn refused(refusal: &ApprovalRefusal, name: &str) -> ApprovalFailure {
    let message = error_layers(refusal).join(": ");
    let (hint, is_pending) = match refusal {
        ApprovalRefusal::NotPending { .. } => return unknown(name),
        ApprovalRefusal::Waiting { .. } => {
            (format!("let an approver run `ccm approve {name}`, and then call `resume` again"), true)
        }
        ApprovalRefusal::Rejected { .. } => ("do something else, or ask the approver".to_owned(), false),
        _ => ("call the tool again, and let the new call be approved".to_owned(), false),
    };
    ApprovalFailure { message, hints: vec![hint], is_pending }
}

fn unusable(error: &ApprovalsError) -> ApprovalFailure {
    let hint = match error {
        ApprovalsError::Approvers(error) => format!("let an operator {}", approvers_hint(error)),
        ApprovalsError::Policy(_) => "let an operator run `ccm policy check`".to_owned(),
        ApprovalsError::Audit(_) => "let an operator run `ccm audit verify`".to_owned(),
        ApprovalsError::Store(
            ccm_approval::ApprovalStoreError::Intent(_) | ccm_approval::ApprovalStoreError::Unshowable(_),
        ) => "split the call into smaller ones: nobody can approve what can't be shown whole".to_owned(),
        ApprovalsError::Store(error) if error.is_full() => {
            "`resume` or `cancel` earlier calls, or let an approver approve or reject what waits".to_owned()
        }
        _ => "let an operator look at /var/lib/ccm/approvals".to_owned(),
    };
    ApprovalFailure { message: error_layers(error).join(": "), hints: vec![hint], is_pending: false }
}
