//! Parts of an intent that a decision of the policy gives: commands, rules, demands and grants.

use ccm_approval::{ApprovalDemand, GrantLimits, IntendedCommand};
use ccm_model::{SourceId, sha256};
use ccm_policy::{
    Analysis, ApprovalConditions, ApprovalNeed, ApproverSet, CauseKind, Policy, PolicyDecision, PolicyVerdict,
};

use super::reasons::{cause_text, need_text};

/// Returns the simple commands of an analysis, as the policy judged them.
pub fn intended_commands(
    policy: &Policy,
    decision: &PolicyDecision,
    analysis: &Analysis,
) -> Vec<IntendedCommand> {
    let commands = analysis.commands.iter().zip(&decision.commands);
    commands
        .map(|(command, judged)| IntendedCommand {
            text: if command.words.is_empty() { "(no program)".to_owned() } else { command.shown() },
            // That a program is started is in the text.
            effects: command
                .effects
                .iter()
                .map(ToString::to_string)
                .filter(|effect| !effect.starts_with("run"))
                .collect(),
            verdict: judged.verdict().name().to_owned(),
            reasons: judged
                .causes
                .iter()
                .filter(|cause| cause.verdict == PolicyVerdict::Ask)
                .map(|cause| cause_text(policy, cause, Some(command)))
                .collect(),
        })
        .collect()
}

/// Returns the commands that have words which nobody knows before they run.
pub fn unknown_parts(analysis: &Analysis) -> Vec<String> {
    let unknown = analysis.commands.iter().filter(|command| command.words.iter().any(|word| !word.is_known));
    unknown.map(ccm_policy::AnalysedCommand::shown).collect()
}

/// Returns the names of the rules and guard classes that ask, without repetition.
pub fn asking_rules(policy: &Policy, decision: &PolicyDecision) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    let causes = decision.commands.iter().flat_map(|command| &command.causes);
    for cause in causes.filter(|cause| cause.verdict == PolicyVerdict::Ask) {
        let name = match cause.kind {
            CauseKind::Rule(rule) => policy.rule_label(rule),
            CauseKind::Class(class, _) => class.to_string(),
            CauseKind::Pattern(_) => "pattern".to_owned(),
            CauseKind::Whitelist(_) => "whitelist".to_owned(),
        };
        if !rules.contains(&name) {
            rules.push(name);
        }
    }
    rules
}

/// Returns the demands of needed approvals.
pub fn approval_demands(policy: &Policy, needs: &[ApprovalNeed]) -> Vec<ApprovalDemand> {
    let settings = policy.approval();
    let demand = |need: &ApprovalNeed| ApprovalDemand {
        text: need_text(policy, need),
        count: need.conditions.count.unwrap_or(1),
        approvers: match &need.conditions.approvers {
            ApproverSet::All => None,
            // The policy was checked: the group exists.
            ApproverSet::Group(group) => Some(settings.groups.get(group).cloned().unwrap_or_default()),
            ApproverSet::Listed(names) => Some(names.clone()),
        },
        four_eyes: settings.four_eyes,
        touch: need.conditions.touch,
        user_verified: need.conditions.user_verified,
    };
    needs.iter().map(demand).collect()
}

/// Returns the limits of a grant, if every need allows one.
pub fn grant_limits(conditions: &[ApprovalConditions]) -> Option<GrantLimits> {
    let grants: Option<Vec<_>> = conditions.iter().map(|conditions| conditions.grant).collect();
    let grants = grants?;
    let uses = grants.iter().map(|grant| grant.uses).min()?;
    let time = grants.iter().map(|grant| grant.time).min()?;
    Some(GrantLimits { uses, for_ms: u64::try_from(time.as_millis()).ok()? })
}

/// Returns the SHA-256 of the files of a policy.
pub fn policy_digest(policy: &Policy) -> String {
    let sources = (0..).map_while(|number| policy.texts().get(SourceId(number)));
    digest_of_files(sources.map(|source| (&*source.name, &*source.text)))
}

/// Returns the SHA-256 of files with names and texts: that of the output of `sha256sum` on them.
pub(crate) fn digest_of_files<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> String {
    let lines = files
        .fold(String::new(), |lines, (name, text)| lines + &format!("{}  {name}\n", sha256(text.as_bytes())));
    sha256(lines.as_bytes())
}
