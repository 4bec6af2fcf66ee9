//! Answers to calls that the policy refuses or that wait.

use ccm_policy::{AnalysedCommand, Policy, PolicyVerdict};
use ccm_runtime::policy::{JudgedRequest, cause_text, refusal_text};

use crate::answer::{AnswerKind, ToolAnswer};
use crate::approvals::{ApprovalFailure, IntentHandle};
use crate::call::CodeLanguage;
use crate::process_registry::{BusyCalls, RegistryError};
use crate::records::RecordFailure;

/// Returns the answer to a call that the policy denies: the message of the guard, the reason, and what to do instead.
pub(crate) fn denied(policy: &Policy, judged: &JudgedRequest, code: Option<CodeLanguage>) -> ToolAnswer {
    let (reason, hints) = reason(policy, judged, code);
    let message = judged.decision.guard_message(&judged.analysis);
    let message =
        message.map_or_else(|| "the policy denies this command".to_owned(), |message| message.to_string());
    ToolAnswer::error(AnswerKind::Denied, &message, Some(&reason), &hints)
}

/// Returns the reason of a verdict, and what to do instead. Code is judged as an argument of its runtime, which is not
/// how it runs, so that only its language is shown.
pub(crate) fn reason(
    policy: &Policy,
    judged: &JudgedRequest,
    code: Option<CodeLanguage>,
) -> (String, Vec<String>) {
    let commands = &judged.analysis.commands;
    let (reason, mut hints) = match code {
        None => refusal_text(policy, &judged.decision, commands, false),
        Some(language) => {
            let nameless: Vec<_> = commands
                .iter()
                .map(|command| AnalysedCommand { words: Vec::new(), ..command.clone() })
                .collect();
            let (reason, hints) = refusal_text(policy, &judged.decision, &nameless, false);
            (format!("{} code: {reason}", language.name()), hints)
        }
    };
    hints.dedup();
    if hints.is_empty() && judged.decision.verdict == PolicyVerdict::Deny {
        hints.push("write the command differently, or ask an operator to run it".to_owned());
    }
    (reason, hints)
}

/// Returns the rule or class that led to a verdict stricter than allow.
pub(crate) fn rule(policy: &Policy, judged: &JudgedRequest) -> Option<String> {
    if let Some(unreadable) = &judged.analysis.unreadable {
        return Some(unreadable.class.to_string());
    }
    let at = judged.decision.strictest().filter(|_| judged.decision.verdict != PolicyVerdict::Allow)?;
    let cause = judged.decision.commands.get(at)?.cause()?;
    Some(cause_text(policy, cause, None))
}

/// Returns the answer to a call that waits for an approval.
pub(crate) fn waiting(handle: &IntentHandle, reason: Option<&str>) -> ToolAnswer {
    let approve = format!("ccm approve {}", handle.code);
    let mut text =
        format!("approval required: intent {} ({}), until {}", handle.intent, handle.code, handle.expires);
    if let Some(reason) = reason {
        text += &format!("\nreason: {}", ccm_model::escape_control(reason));
    }
    text += &format!("\napprove with: {approve}\nthen call `resume` with the intent {}", handle.intent);
    let structured = serde_json::json!({
        "status": AnswerKind::ApprovalRequired.name(),
        "intent": handle.intent,
        "code": handle.code,
        "expires": handle.expires,
        "approve_with": approve,
        "reason": reason,
    });
    ToolAnswer { kind: AnswerKind::ApprovalRequired, text, structured }
}

/// Returns the answer to a call without a usable approval.
pub(crate) fn unapproved(failure: &ApprovalFailure) -> ToolAnswer {
    let kind = if failure.is_pending { AnswerKind::ApprovalRequired } else { AnswerKind::ApprovalEnded };
    ToolAnswer::error(kind, &failure.message, None, &failure.hints)
}

/// Returns the answer to a call that can't be recorded.
pub(crate) fn unrecorded(failure: &RecordFailure) -> ToolAnswer {
    let mut hints = failure.hints.clone();
    hints.push("let an operator run `ccm audit verify`".to_owned());
    ToolAnswer::error(
        AnswerKind::NotTried,
        &failure.message,
        Some("nothing runs that can't be recorded"),
        &hints,
    )
}

/// Returns the answer to a call that can't begin beside others.
pub(crate) fn busy(busy: BusyCalls) -> ToolAnswer {
    let hint = match busy {
        BusyCalls::Others => "wait until other calls have ended, end what they left running, and call again",
        BusyCalls::Alone => "call again when it has ended",
    };
    ToolAnswer::error(AnswerKind::NotTried, &busy.to_string(), None, &[hint.to_owned()])
}

/// Returns the answer to a call whose files were exchanged just before it began.
pub(crate) fn exchanged() -> ToolAnswer {
    let message = "a file of the call has changed after its approval was used";
    let hints = ["call the tool again, and let the new call be approved".to_owned()];
    ToolAnswer::error(AnswerKind::ApprovalEnded, message, None, &hints)
}

/// Returns the answer to a call whose processes can't be recorded.
pub(crate) fn unregistered(error: &RegistryError) -> ToolAnswer {
    let message = ccm_model::error_layers(error).join(": ");
    let hint = "let an operator look at the state directory".to_owned();
    ToolAnswer::error(AnswerKind::NotTried, &message, None, &[hint])
}
