//! Grants: approvals for several uses, of one action or of what a rule matches.

use std::time::Duration;

use ccm_approval::{ApproverDecision, IntentDocument};
use ccm_host::started_by;

use super::desk::{ApprovalLimits, ApproveError, of_refusal};
use super::intents::ApprovalsError;
use crate::governance::Governance;
use crate::policy::policy_digest;

/// Terms of an approval: what exactly an approver signs besides the intent.
#[derive(Clone, Debug)]
pub struct ApprovalTerms {
    pub(super) decision: ApproverDecision,
    /// Number of uses.
    pub uses: u32,
    /// Time for which the approval can be used.
    pub valid: Duration,
}

/// Rule of a grant, as its approver has to see it.
#[derive(Clone, Debug)]
pub struct GrantedRule {
    /// Name for people, such as `rule "restarts"`.
    pub label: String,
    /// File and line of the rule.
    pub location: Option<String>,
    /// The rule as it is written, a line for each key.
    pub lines: Vec<String>,
}

impl ApprovalTerms {
    /// Returns `true` for more than one use, or for more than one action.
    pub fn is_grant(&self) -> bool {
        self.decision != ApproverDecision::Approve
    }
}

/// Returns the terms of an approval within the limits of the policy.
pub fn approval_terms(
    intent: &IntentDocument,
    limits: &ApprovalLimits,
) -> Result<ApprovalTerms, ApproveError> {
    let content = &intent.content;
    let uses = limits.uses.unwrap_or(1);
    let decision = match &limits.rule {
        Some(rule) => ApproverDecision::GrantRule(asking_rule(intent, rule)?),
        None if uses == 1 => ApproverDecision::Approve,
        None => ApproverDecision::GrantAction,
    };
    let is_grant = decision != ApproverDecision::Approve;
    if limits.rule.is_some() && content.grant.is_none() {
        return Err(ApproveError::NoGrant(intent.code.clone()));
    }
    let most_uses = content.grant.map_or(1, |grant| grant.uses);
    if uses > most_uses || uses == 0 {
        return Err(ApproveError::Uses(most_uses));
    }
    let most = content.grant.filter(|_| is_grant).map_or(content.valid_ms, |grant| grant.for_ms);
    let most = Duration::from_millis(most);
    let valid = limits.valid.unwrap_or(most);
    if valid > most {
        return Err(ApproveError::Time(most.as_secs()));
    }
    Ok(ApprovalTerms { decision, uses, valid })
}

/// Returns the name of a rule in an intent, which only this rule asks for.
fn asking_rule(intent: &IntentDocument, rule: &str) -> Result<String, ApproveError> {
    let asking = &intent.content.rules;
    match &asking[..] {
        [only] if only == rule || *only == format!("rule \"{}\"", rule.escape_debug()) => Ok(only.clone()),
        _ => Err(ApproveError::OtherRule {
            rule: rule.to_owned(),
            code: intent.code.clone(),
            asking: asking.clone(),
        }),
    }
}

/// Returns the name of the person who runs ccm.
pub(super) fn person() -> String {
    let by = started_by();
    by.sudo_user.or(by.user).unwrap_or_else(|| by.uid.to_string())
}

impl Governance {
    /// Returns the rule that a grant is for; `None` for a grant of one action. The policy has to be the one that asked.
    pub fn granted_rule(
        &self,
        intent: &IntentDocument,
        terms: &ApprovalTerms,
    ) -> Result<Option<GrantedRule>, ApproveError> {
        let ApproverDecision::GrantRule(label) = &terms.decision else { return Ok(None) };
        let checked = self.policy().map_err(ApprovalsError::from)?;
        let policy = checked.map(|checked| &checked.policy);
        let policy = policy.filter(|policy| policy_digest(policy) == intent.content.policy);
        let other = || ApproveError::OtherPolicy(intent.code.clone());
        let policy = policy.ok_or_else(other)?;
        let mut rules = policy.rules().iter().enumerate();
        let (_, rule) = rules.find(|(at, _)| policy.rule_label(*at) == *label).ok_or_else(other)?;
        let location = policy.location(rule.span).map(|location| location.to_string());
        Ok(Some(GrantedRule { label: label.clone(), location, lines: rule.written.clone() }))
    }

    /// Takes back a grant that was used already. Without one, the error says how the intent has ended.
    pub(super) fn take_back_grant(
        &self,
        code: &str,
        reason: &str,
        ended: ApproveError,
    ) -> Result<(), ApproveError> {
        let Some(intents) = self.existing_intents()? else { return Err(ended) };
        let granted = intents.store().used_grant(code).map_err(ApprovalsError::from)?;
        let Some(intent) = granted else { return Err(ended) };
        intents.record(&intent, "rejected", None, Some(reason.to_owned()))?;
        let taken = intents.store().take_back(&intent, &person(), reason, intents.now());
        taken.map_err(|refusal| of_refusal(refusal, code))
    }
}
