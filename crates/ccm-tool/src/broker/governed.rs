//! Verdict, approval and record of a call before it runs.

use std::collections::BTreeMap;
use std::time::Duration;

use ccm_host::Command;
use ccm_model::{error_layers, sha256};
use ccm_policy::{ApprovalMode, ApprovalNeed, PolicyVerdict};
use ccm_runtime::CheckedPolicy;
use ccm_runtime::policy::{CoverageError, CoveredCommand, CoveredFiles, JudgedRequest, policy_digest};
use serde_json::{Value, json};

use super::ToolBroker;
use crate::answer::{AnswerKind, ToolAnswer};
use crate::approvals::{StoredCall, ToolApprovalRequest};
use crate::call::CodeLanguage;
use crate::caller::ToolCaller;
use crate::catalog::ToolName;
use crate::output::without_controls;
use crate::records::RecordedCall;
use crate::refusal;
use crate::sandbox::PRIVILEGED;
use crate::served_user::ServedUser;

/// Time in which a call can be approved, unless the policy has one.
const PENDING: Duration = Duration::from_secs(15 * 60);

/// Maximum length of the values of all variables of a call that an approver reads, in characters.
const MAX_VALUES: usize = 4000;

/// Call of a governed tool, as it is judged, approved and recorded.
pub(super) struct GovernedCall<'c> {
    pub(super) id: String,
    pub(super) tool: ToolName,
    pub(super) caller: &'c ToolCaller,
    pub(super) input: &'c Value,
    /// What would run.
    pub(super) action: Value,
    pub(super) described: &'c Command,
    pub(super) judged: &'c JudgedRequest,
    pub(super) sandbox: &'c str,
    pub(super) reason: Option<&'c str>,
    /// Language of code that the guard can't read.
    pub(super) code: Option<CodeLanguage>,
    /// The call needs an approval, whatever the verdict.
    pub(super) always_asks: bool,
}

/// Call that may run now.
pub(super) struct AuthorisedCall {
    /// Verdict of the policy.
    pub(super) verdict: &'static str,
    /// Rule or class that led to the verdict.
    pub(super) rule: Option<String>,
    /// Id of the approval that was used.
    pub(super) approval: Option<String>,
    /// Files of an approval that somebody else than root can exchange, with their digests. Such a call runs alone.
    pub(super) exchangeable: Option<CoveredDigests>,
}

/// Digests of files, by path.
type CoveredDigests = BTreeMap<String, String>;

/// Id of the approval that was used, and the digests of files that have to stay the same until the call begins.
type UsedApproval = (String, Option<CoveredDigests>);

impl GovernedCall<'_> {
    pub(super) fn entry<'r>(&'r self, authorised: &'r AuthorisedCall) -> RecordedCall<'r> {
        RecordedCall {
            intent: &self.id,
            tool: self.tool.name(),
            caller: self.caller,
            command: self.described,
            verdict: authorised.verdict,
            rule: authorised.rule.as_deref(),
            approval: authorised.approval.as_deref(),
        }
    }
}

impl ToolBroker {
    /// Decides on a call: it may run now, or it has an answer. A call that is not run is recorded with the reason.
    pub(super) fn authorise(
        &self,
        checked: &CheckedPolicy,
        call: &GovernedCall<'_>,
        resumed: Option<&StoredCall>,
    ) -> Result<AuthorisedCall, Box<ToolAnswer>> {
        let policy = &checked.policy;
        let judged = call.judged;
        let rule = refusal::rule(policy, judged);
        let verdict = judged.decision.verdict.name();
        let mut authorised = AuthorisedCall { verdict, rule, approval: None, exchangeable: None };
        let is_denied = judged.decision.verdict == PolicyVerdict::Deny && !judged.decision.is_allowed();
        if is_denied {
            return Err(Box::new(self.refuse(call, &authorised, refusal::denied(policy, judged, call.code))));
        }
        let must = policy.tool_settings().approval == ApprovalMode::MustRequire;
        let needs_approval = must
            || call.always_asks
            || resumed.is_some()
            || call.sandbox == PRIVILEGED
            || !judged.decision.is_allowed();
        if !needs_approval {
            return Ok(authorised);
        }
        match self.approved(checked, call, resumed) {
            Ok((approval, exchangeable)) => {
                (authorised.approval, authorised.exchangeable) = (Some(approval), exchangeable);
                Ok(authorised)
            }
            Err(answer) => Err(Box::new(self.refuse(call, &authorised, *answer))),
        }
    }

    /// Returns the digests of the files that a call runs, and `true` if somebody else than root can exchange one of them.
    pub(super) fn covered(
        &self,
        call: &GovernedCall<'_>,
    ) -> Result<(CoveredDigests, bool), (String, String)> {
        let files = CoveredFiles::new(self.session.files());
        let cover = || {
            let variables = call.action["env"].as_object().into_iter().flatten();
            let variables: Vec<(String, String)> = variables
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect();
            let run =
                CoveredCommand { program: None, analysis: &call.judged.analysis, variables: &variables };
            let covered = files.of(run)?;
            let is_open = files.exchangeable(run, &covered, &[0]).is_some();
            Ok((covered, is_open))
        };
        let covered = ServedUser::view(self.served.as_ref(), cover);
        let covered = covered.map_err(|error| (error.to_string(), "call the tool again".to_owned()))?;
        covered.map_err(|error: CoverageError| (error_layers(&error).join(": "), error.hint()))
    }

    /// Returns the answer to a call that can't run alone now.
    pub(super) fn busy(&self) -> Result<(), Box<ToolAnswer>> {
        match self.registry()?.others() {
            Ok(None) => Ok(()),
            Ok(Some(busy)) => Err(Box::new(refusal::busy(busy))),
            Err(error) => Err(Box::new(refusal::unregistered(&error))),
        }
    }

    /// Returns the id of the approval of a call, which is used up now, and the files that have to be as they were approved when
    /// the call begins.
    fn approved(
        &self,
        checked: &CheckedPolicy,
        call: &GovernedCall<'_>,
        resumed: Option<&StoredCall>,
    ) -> Result<UsedApproval, Box<ToolAnswer>> {
        let policy = &checked.policy;
        let (reason, _) = refusal::reason(policy, call.judged, call.code);
        let reason = Some(&*reason).filter(|reason| !reason.is_empty());
        let door = &self.approvals;
        let mut needs = call.judged.decision.needs(policy);
        if needs.is_empty() {
            needs.push(ApprovalNeed { rule: None, conditions: ccm_policy::ApprovalConditions::default() });
        }
        if resumed.is_none()
            && let Err(failure) = door.check_approvers(policy, &needs)
        {
            let message = format!("the call needs an approval, and nobody can give one: {}", failure.message);
            let answer = ToolAnswer::error(AnswerKind::Denied, &message, reason, &failure.hints);
            return Err(Box::new(answer));
        }
        let policy_digest = policy_digest(&checked.policy);
        let values = call.action["env"].as_object().into_iter().flat_map(|variables| variables.values());
        let length: usize = values.filter_map(Value::as_str).map(|value| value.chars().count()).sum();
        if length > MAX_VALUES {
            let message = format!(
                "nobody can approve the call: its variables have {length} characters, and {MAX_VALUES} can be shown"
            );
            let hints = ["write long values to a file of the workspace".to_owned()];
            return Err(Box::new(ToolAnswer::error(AnswerKind::Denied, &message, reason, &hints)));
        }
        let (covered, is_open) = match self.covered(call) {
            Ok(covered) => covered,
            Err((error, hint)) => {
                let message = format!("nobody can approve the call: {error}");
                return Err(Box::new(ToolAnswer::error(AnswerKind::Denied, &message, reason, &[hint])));
            }
        };
        let programs: Vec<(String, String)> = covered.clone().into_iter().collect();
        let exchangeable = is_open.then_some(covered);
        let request = ToolApprovalRequest {
            id: resumed.map_or(&call.id, |stored| &stored.intent),
            caller: call.caller,
            tool: call.tool,
            action: &call.action,
            input: call.input,
            programs: &programs,
            analysis: &call.judged.analysis,
            decision: &call.judged.decision,
            policy,
            policy_digest: &policy_digest,
            needs: &needs,
            sandbox: call.sandbox,
            reason: call.reason,
        };
        let unapproved = |failure| Box::new(refusal::unapproved(&failure));
        if let Some(stored) = resumed {
            if stored.action_digest != action_digest(&call.action) {
                let message =
                    "the call is not what was to be approved: the policy or the machine has changed";
                let hints = ["call the tool again, and let the new call be approved".to_owned()];
                let answer = ToolAnswer::error(AnswerKind::ApprovalEnded, message, None, &hints);
                return Err(Box::new(answer));
            }
            if is_open {
                self.busy()?;
            }
            door.take(&request).map_err(unapproved)?;
            return Ok((stored.intent.clone(), exchangeable));
        }
        if door.use_grant(&request).map_err(unapproved)? {
            return Ok(("grant".to_owned(), exchangeable));
        }
        let of_needs = needs.iter().filter_map(|need| need.conditions.pending).min();
        let pending = of_needs.or(policy.tool_settings().pending).unwrap_or(PENDING);
        let handle = door.ask(&request, pending).map_err(unapproved)?;
        Err(Box::new(refusal::waiting(&handle, reason)))
    }

    /// Records that a call is not run, and returns its answer. A call that can't be recorded says so.
    pub(super) fn refuse(
        &self,
        call: &GovernedCall<'_>,
        authorised: &AuthorisedCall,
        answer: ToolAnswer,
    ) -> ToolAnswer {
        self.record_refusal(&call.entry(authorised), answer)
    }

    /// Records a call that was refused before its command was known.
    pub(crate) fn refuse_early(&self, tool: &str, caller: &ToolCaller, answer: ToolAnswer) -> ToolAnswer {
        let tool: String = without_controls(tool).chars().take(64).collect();
        let command = Command::new(&*tool);
        let (intent, tool, verdict) = ("", &*tool, "deny");
        let entry =
            RecordedCall { intent, tool, caller, command: &command, verdict, rule: None, approval: None };
        self.record_refusal(&entry, answer)
    }

    /// Records a call that is not run.
    pub(super) fn record_refusal(&self, entry: &RecordedCall<'_>, answer: ToolAnswer) -> ToolAnswer {
        let Ok(Some(recorder)) = self.recorder() else { return answer };
        let reason = answer.structured.get("reason").and_then(Value::as_str);
        let error = answer.structured.get("error").and_then(Value::as_str);
        let reason = match (error, reason) {
            (Some(error), Some(reason)) => format!("{error}: {reason}"),
            (Some(text), None) | (None, Some(text)) => text.to_owned(),
            (None, None) => answer.kind.name().to_owned(),
        };
        match recorder.refuse(entry, &reason) {
            Ok(()) => answer,
            Err(failure) if answer.kind == AnswerKind::ApprovalRequired => refusal::unrecorded(&failure),
            Err(failure) => answer.with("notes", json!([failure.message])),
        }
    }
}

/// Returns the SHA-256 of an action.
pub(super) fn action_digest(action: &Value) -> String {
    sha256(action.to_string().as_bytes())
}
