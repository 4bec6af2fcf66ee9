//! The JSON document of a judged command.

use ccm_policy::{AnalysedCommand, CauseKind, CommandDecision, Policy};
use serde_json::{Value, json};

use super::explained::ExplainedCommand;
use super::reasons::{cause_text, lifter_text, need_text, way_out};

impl ExplainedCommand {
    /// Returns the explanation as JSON.
    pub fn json(&self, policy: &Policy) -> Value {
        document(policy, self)
    }
}

fn document(policy: &Policy, explained: &ExplainedCommand) -> Value {
    let ExplainedCommand { analysis, decision, .. } = explained;
    let commands: Vec<Value> = analysis
        .commands
        .iter()
        .zip(&decision.commands)
        .map(|(analysed, judged)| command(policy, analysed, judged))
        .collect();
    let unreadable = analysis.unreadable.as_ref().map(|reason| {
        json!({
            "class": reason.class.name(),
            "message": reason.message,
            "hint": reason.hint,
            "start": reason.span.start,
            "end": reason.span.end,
        })
    });
    let needs = decision.needs(policy);
    json!({
        "verdict": decision.verdict.name(),
        "allowed": decision.is_allowed(),
        "guard": decision.mode.name(),
        "caller": explained.caller.name(),
        "directory": explained.directory,
        "message": decision.guard_message(analysis).map(|message| message.to_string()),
        "unreadable": unreadable,
        "commands": commands,
        "approval": needs.iter().map(|need| need_text(policy, need)).collect::<Vec<_>>(),
    })
}

fn command(policy: &Policy, analysed: &AnalysedCommand, judged: &CommandDecision) -> Value {
    let words: Vec<&str> = analysed.words.iter().map(|word| &*word.shown).collect();
    let mut classes: Vec<&str> = analysed.findings.iter().map(|finding| finding.class.name()).collect();
    classes.dedup();
    let rule = judged.cause().and_then(|cause| match cause.kind {
        CauseKind::Rule(rule) => Some(policy.rule_label(rule)),
        _ => None,
    });
    let reason = |cause| {
        json!({
            "reason": cause_text(policy, cause, Some(analysed)),
            "instead": way_out(policy, cause, Some(analysed)),
        })
    };
    let lifted = judged
        .lifted
        .iter()
        .map(|lifted| json!({ "class": lifted.class.name(), "by": lifter_text(policy, lifted.by) }));
    json!({
        "argv": words,
        "known": analysed.words.iter().all(|word| word.is_known),
        "effects": analysed.effects.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "classes": classes,
        "verdict": judged.verdict().name(),
        "rule": rule,
        "reasons": judged.causes.iter().map(reason).collect::<Vec<_>>(),
        "lifted": lifted.collect::<Vec<_>>(),
    })
}
