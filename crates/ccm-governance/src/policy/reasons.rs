//! Reasons of verdicts, as text.

use ccm_audit::RecordedVerdict;
use ccm_model::escape_control;
use ccm_policy::{
    AnalysedCommand, Analysis, ApprovalNeed, ApproverSet, CauseKind, Denial, GuardClass, GuardMode, LiftedBy,
    LiftedClass, Policy, PolicyDecision, PolicyVerdict, VerdictCause,
};

/// Maximum length of a command in a reason, in characters.
const MAX_SHOWN: usize = 200;

/// Returns the reason of a verdict on a command, with the location of the rule or setting: `rule "restarts"
/// (/etc/ccm/policy.yaml:14:11)`. `None` is the change of a resource.
pub fn cause_text(policy: &Policy, cause: &VerdictCause, command: Option<&AnalysedCommand>) -> String {
    let placed = |what: String, span| match policy.location(span) {
        Some(at) => format!("{what} ({at})"),
        None => what,
    };
    match cause.kind {
        CauseKind::Rule(rule) => {
            let found = &policy.rules()[rule];
            let is_final = found.action.deny == Some(Denial::Final);
            placed(policy.rule_label(rule), found.span) + if is_final { ", final" } else { "" }
        }
        CauseKind::Whitelist(at) => {
            placed("the whitelist does not have it".to_owned(), policy.whitelists()[at].span)
        }
        CauseKind::Pattern(at) => {
            let pattern = &policy.deny_patterns()[at];
            placed(format!("pattern `{}`", pattern.as_str()), pattern.span)
        }
        CauseKind::Class(class, finding) => {
            let what = command.and_then(|command| command.findings.get(finding));
            let what = what.map_or_else(|| class.description().to_owned(), |finding| finding.what.clone());
            let text = format!("{class}: {what}");
            match policy.class_verdict(class, ccm_policy::Caller::Tool).1 {
                Some(span) => placed(text, span),
                None => text,
            }
        }
    }
}

/// Returns the advice of the rule, or of the guard, on what to do instead.
pub fn way_out(policy: &Policy, cause: &VerdictCause, command: Option<&AnalysedCommand>) -> Option<String> {
    match cause.kind {
        CauseKind::Rule(rule) => policy.rules()[rule].say.clone(),
        CauseKind::Class(_, finding) => {
            let finding = command?.findings.get(finding)?;
            finding.way_out.map(|way_out| way_out.text().to_owned())
        }
        CauseKind::Whitelist(_) => Some("use a command of the whitelist".to_owned()),
        CauseKind::Pattern(_) => None,
    }
}

/// Returns what an approval needs: `2 of ops (alice, bob), with a touch of the key`.
pub fn need_text(policy: &Policy, need: &ApprovalNeed) -> String {
    let conditions = &need.conditions;
    let approvers = match &conditions.approvers {
        ApproverSet::All => "any approver".to_owned(),
        ApproverSet::Group(group) => match policy.approval().groups.get(group) {
            Some(members) => format!("{group} ({})", members.join(", ")),
            None => group.clone(),
        },
        ApproverSet::Listed(names) => names.join(", "),
    };
    let mut text = match (conditions.count.unwrap_or(1), &conditions.approvers) {
        (1, ApproverSet::All) => approvers,
        (count, ApproverSet::All) => format!("{count} approvers"),
        (count, _) => format!("{count} of {approvers}"),
    };
    let (touch, verification) = ("a touch of the key", "a PIN or fingerprint for the key");
    match (conditions.touch, conditions.user_verified) {
        (false, false) => {}
        (true, false) => text += &format!(", with {touch}"),
        (false, true) => text += &format!(", with {verification}"),
        (true, true) => text += &format!(", with {touch} and {verification}"),
    }
    if let Some(rule) = need.rule {
        text += &format!(", for {}", policy.rule_label(rule));
    }
    text
}

/// Returns what lifted a guard class, with its location: `rule "feature branches" (/etc/ccm/policy.yaml:9:5)`.
pub fn lifter_text(policy: &Policy, by: LiftedBy) -> String {
    let (what, span) = match by {
        LiftedBy::Rule(rule) => (policy.rule_label(rule), policy.rules()[rule].span),
        LiftedBy::Pattern(at) => {
            let pattern = &policy.allow_patterns()[at];
            (format!("pattern `{}`", escape_control(pattern.as_str())), pattern.span)
        }
    };
    match policy.location(span) {
        Some(at) => format!("{what} ({at})"),
        None => what,
    }
}

/// Returns the text of a command for a reason. A command that hides its arguments is shown as its program.
pub(crate) fn shown_command(command: &AnalysedCommand, is_sensitive: bool) -> String {
    let shown =
        if is_sensitive { command.base_name().unwrap_or("a command").to_owned() } else { command.shown() };
    if shown.chars().count() <= MAX_SHOWN {
        return shown;
    }
    let cut: String = shown.chars().take(MAX_SHOWN).collect();
    cut + "…"
}

/// Returns a decision as the audit log records it.
pub(crate) fn recorded_verdict(
    policy: &Policy,
    decision: &PolicyDecision,
    analysis: &Analysis,
    is_sensitive: bool,
) -> RecordedVerdict {
    let verdict = match decision.verdict {
        PolicyVerdict::Allow => "allow".to_owned(),
        refused if decision.is_allowed() => format!("{}, only reported", refused.name()),
        refused => refused.name().to_owned(),
    };
    let of_lifted = |lifted: &LiftedClass| {
        let by = match lifted.by {
            LiftedBy::Rule(rule) => policy.rule_label(rule),
            LiftedBy::Pattern(pattern) => format!("pattern `{}`", policy.allow_patterns()[pattern].as_str()),
        };
        format!("{by} allows {}", lifted.class)
    };
    let rule = decision.strictest().and_then(|at| {
        let command = analysis.commands.get(at).filter(|_| !is_sensitive);
        decision.commands[at].cause().map(|cause| cause_text(policy, cause, command))
    });
    let rule = rule.or_else(|| decision.commands.iter().flat_map(|one| &one.lifted).map(of_lifted).next());
    let unreadable = || decision.unreadable.as_ref().map(|found| found.class.to_string());
    RecordedVerdict { verdict, rule: rule.or_else(unreadable), approval: None }
}

/// Returns the reason and the advice of a decision that does not allow a command, or a change. `is_sensitive` leaves the
/// arguments out.
pub fn refusal_text(
    policy: &Policy,
    decision: &PolicyDecision,
    commands: &[AnalysedCommand],
    is_sensitive: bool,
) -> (String, Vec<String>) {
    if let Some(unreadable) = decision.unreadable.as_ref().filter(|_| decision.verdict == PolicyVerdict::Deny)
    {
        let reason = if is_sensitive {
            format!("{}: the text can't be read", unreadable.class)
        } else {
            format!("{}: {}", unreadable.class, unreadable.message)
        };
        return (reason, unreadable.hint.iter().map(|hint| (*hint).to_owned()).collect());
    }
    let Some(at) = decision.strictest() else { return (String::new(), Vec::new()) };
    let command = commands.get(at);
    let Some(cause) = decision.commands[at].cause() else { return (String::new(), Vec::new()) };
    // What was found may quote arguments.
    let of_cause = cause_text(policy, cause, command.filter(|_| !is_sensitive));
    let mut reason = of_cause;
    if let Some(command) = command.filter(|command| !command.words.is_empty()) {
        reason = format!("`{}`: {reason}", shown_command(command, is_sensitive));
    }
    let mut hints: Vec<String> = way_out(policy, cause, command).into_iter().collect();
    if decision.verdict == PolicyVerdict::Ask {
        let needs = decision.needs(policy);
        hints.extend(needs.iter().map(|need| format!("get the approval of {}", need_text(policy, need))));
    }
    if decision.mode != GuardMode::Audit
        && let CauseKind::Class(class, _) = cause.kind
        && class != GuardClass::OutsideWorkspace
    {
        hints.push(format!("if it is right, add a rule with `allow: [{class}]` to the policy"));
    }
    (reason, hints)
}
