//! What an approver does: look at intents, sign or reject them.

use std::time::Duration;

use ccm_approval::{
    APPROVAL_NAMESPACE, ApprovalRefusal, ApprovalScreen, ApprovalState, ApprovalStore, ApproverDecision,
    ImportedStatement, IntentDocument, ListedIntent, PendingReader, ScreenError, SignedStatement,
    StatementError,
};
use ccm_host::SigningKey;
use ccm_sshsig::VerifiedSignature;

use super::grants::{approval_terms, person};
use super::intents::{ApprovalsError, MachineIntents};
use super::{SignError, SignatureFailure};
use crate::audit::AuditProblem;
use crate::governance::Governance;

/// Reason for which an intent was not approved or rejected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApproveError {
    /// No intent has the code.
    #[error("nothing waits for an approval as `{}`", .0.escape_debug())]
    Unknown(String),
    /// The intent has ended.
    #[error("{code} can't be approved any more: {reason}")]
    Ended {
        /// Code of the intent.
        code: String,
        /// The reason.
        reason: String,
    },
    /// The signature is not one of the exported statement.
    #[error("nothing was exported for {0}")]
    NotExported(String),
    /// The intent can't be shown whole.
    #[error("{code} can't be shown whole, so that nobody can approve it")]
    Unshowable {
        /// Code of the intent.
        code: String,
        /// The reason.
        source: ScreenError,
    },
    /// The approval is refused.
    #[error(transparent)]
    Refused(ApprovalRefusal),
    /// The signature does not count.
    #[error("the signature does not count")]
    Signature(#[from] SignatureFailure),
    /// More uses were asked for than the rule allows.
    #[error("the rule allows at most {0} uses of an approval")]
    Uses(u32),
    /// A grant was asked for, and the policy allows none.
    #[error("the policy allows no grant for {0}")]
    NoGrant(String),
    /// The rule is not the only one that asks.
    #[error("{} is not the only rule that asks for {code}: {}", rule.escape_debug(), asking.join(", "))]
    OtherRule {
        /// Name of the rule.
        rule: String,
        /// Code of the intent.
        code: String,
        /// Names of the rules and guard classes that ask.
        asking: Vec<String>,
    },
    /// The policy is not the one that asked, so that the rule of a grant can't be shown.
    #[error("the policy is not the one that asked for {0}")]
    OtherPolicy(String),
    /// A longer time was asked for than the policy allows.
    #[error("an approval counts for at most {0} seconds")]
    Time(u64),
    /// Only the owner of the store can do this.
    #[error("only root can do this with an intent of the machine")]
    OwnerOnly,
    /// Nothing was signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The policy requires a record in the audit log, and there can be none.
    #[error("it can't be recorded in the audit log, as the policy requires")]
    Audit(#[from] AuditProblem),
    /// The approvals can't be used.
    #[error(transparent)]
    Approvals(#[from] ApprovalsError),
}

/// Limits that an approver sets.
#[derive(Clone, Debug, Default)]
pub struct ApprovalLimits {
    /// Time for which the approval can be used.
    pub valid: Option<Duration>,
    /// Number of uses.
    pub uses: Option<u32>,
    /// Rule for whose matches the approval is, instead of one action.
    pub rule: Option<String>,
}

/// Intent that somebody has approved.
#[derive(Clone, Debug)]
pub struct ApprovedIntent {
    /// The approver.
    pub by: VerifiedSignature,
    /// The state of the intent then; `None` if the signed statement lies in the inbox, until ccm reads it.
    pub state: Option<ApprovalState>,
}

/// Store in which an intent was found.
enum IntentPlace<'s> {
    Own(Box<MachineIntents<'s>>),
    Machine(PendingReader),
}

impl Governance {
    /// Returns the intents that wait, were approved, rejected or used, or have ended, the oldest first.
    pub fn approval_requests(&self) -> Result<Vec<ListedIntent>, ApprovalsError> {
        let mut listed = Vec::new();
        if let Some(reader) = self.of_machine()? {
            let waiting = reader.waiting()?;
            listed.extend(waiting.into_iter().map(|intent| self.listed_of_machine(intent)));
        }
        if let Some(intents) = self.existing_intents()? {
            intents.take_in()?;
            listed.extend(intents.with(ApprovalStore::list)?.intents);
        }
        Ok(listed)
    }

    /// Returns an intent by its code or its name.
    pub fn approval_request(&self, code: &str) -> Result<ListedIntent, ApproveError> {
        let (place, intent) = self.find(code)?;
        match place {
            IntentPlace::Own(intents) => Ok(intents
                .with(|store, context| store.state(intent, context))
                .map_err(ApprovalsError::from)?),
            IntentPlace::Machine(_) => Ok(self.listed_of_machine(intent)),
        }
    }

    /// Returns the statement to sign on another machine, always the same for one intent.
    pub fn export_request(&self, code: &str) -> Result<String, ApproveError> {
        let (intents, intent) = self.find_own(code)?;
        check_open(&intents, &intent)?;
        intents.store().export(&intent, intents.now()).map_err(|refusal| of_refusal(refusal, code))
    }

    /// Rejects an intent for good. Its owner needs no key, because a refusal gives nobody a right; a member of the group
    /// signs it.
    pub fn reject_request(
        &self,
        code: &str,
        reason: &str,
        key: Option<&SigningKey>,
    ) -> Result<(), ApproveError> {
        let (place, intent) = match self.find(code) {
            Err(error @ ApproveError::Ended { .. }) => return self.take_back_grant(code, reason, error),
            found => found?,
        };
        let intents = match (place, key) {
            (IntentPlace::Own(intents), None) => intents,
            (place, Some(key)) => {
                let decision = ApproverDecision::Reject;
                let valid = Duration::from_millis(intent.content.valid_ms);
                let decision = (decision, 0, Some(reason.to_owned()));
                self.sign_decision(&place, &intent, decision, valid, key)?;
                return Ok(());
            }
            (IntentPlace::Machine(_), None) => return Err(ApproveError::OwnerOnly),
        };
        check_open(&intents, &intent)?;
        intents.record(&intent, "rejected", None, Some(reason.to_owned()))?;
        let rejected = intents.store().reject(&intent, &person(), reason, intents.now());
        rejected.map_err(|refusal| of_refusal(refusal, code))
    }

    /// Approves an intent with the key of the person at the terminal.
    pub fn approve_request(
        &self,
        code: &str,
        key: &SigningKey,
        limits: &ApprovalLimits,
    ) -> Result<ApprovedIntent, ApproveError> {
        let (place, intent) = self.find(code)?;
        let terms = approval_terms(&intent, limits)?;
        self.sign_decision(&place, &intent, (terms.decision, terms.uses, None), terms.valid, key)
    }

    /// Approves an intent with a signature of its exported statement.
    pub fn import_approval(&self, code: &str, signature: String) -> Result<ApprovedIntent, ApproveError> {
        let (intents, intent) = self.find_own(code)?;
        check_open(&intents, &intent)?;
        let accepted =
            intents.recording(|store, context| store.import_signature(&intent, signature, context));
        accepted_state(&intents, accepted.map_err(|refusal| of_refusal(refusal, code))?)
    }

    fn sign_decision(
        &self,
        place: &IntentPlace<'_>,
        intent: &IntentDocument,
        (decision, uses, reason): (ApproverDecision, u32, Option<String>),
        valid: Duration,
        key: &SigningKey,
    ) -> Result<ApprovedIntent, ApproveError> {
        let code = &intent.code;
        let unshowable = |source| ApproveError::Unshowable { code: code.clone(), source };
        ApprovalScreen::of(intent).map_err(unshowable)?;
        if let IntentPlace::Own(intents) = place {
            check_open(intents, intent)?;
        }
        let now = self.doors.clock().now();
        let until = now.checked_add(valid).unwrap_or(now);
        let of_statement = |error: StatementError| ApproveError::Refused(error.into());
        let made = ApprovalStore::statement(intent, decision, None, (uses, reason), until);
        let text = made.and_then(|statement| statement.text()).map_err(of_statement)?;
        let approvers = self.approvers().map_err(ApprovalsError::from)?;
        let (signature, by) = self.sign(key, APPROVAL_NAMESPACE, text.as_bytes(), Some(&approvers))?;
        let signed = SignedStatement { text, signature };
        let refused = |refusal| of_refusal(refusal, code);
        match (place, by) {
            (IntentPlace::Own(intents), _) => {
                let content = signed.content();
                let accepted = intents.recording(|store, context| store.import(&content, None, context));
                accepted_state(intents, accepted.map_err(refused)?)
            }
            (IntentPlace::Machine(reader), Some(by)) => {
                reader.submit(&signed).map_err(refused)?;
                Ok(ApprovedIntent { by, state: None })
            }
            // With approvers, a signature has one.
            (IntentPlace::Machine(_), None) => Err(ApproveError::OwnerOnly),
        }
    }

    /// Finds an intent by its code or its whole name.
    fn find(&self, name: &str) -> Result<(IntentPlace<'_>, IntentDocument), ApproveError> {
        let mut refusal = ApprovalRefusal::NotPending { name: name.to_owned() };
        if let Some(intents) = self.existing_intents()? {
            intents.take_in()?;
            match intents.store().find(name) {
                Ok(intent) => return Ok((IntentPlace::Own(Box::new(intents)), intent)),
                Err(found) => refusal = found,
            }
        }
        if let Ok(Some(reader)) = self.of_machine()
            && let Ok(intent) = reader.find(name)
        {
            return Ok((IntentPlace::Machine(reader), intent));
        }
        Err(of_refusal(refusal, name))
    }

    fn find_own(&self, name: &str) -> Result<(Box<MachineIntents<'_>>, IntentDocument), ApproveError> {
        match self.find(name)? {
            (IntentPlace::Own(intents), intent) => Ok((intents, intent)),
            (IntentPlace::Machine(_), _) => Err(ApproveError::OwnerOnly),
        }
    }
}

/// Returns the state of an intent after a statement about it was accepted.
fn accepted_state(
    intents: &MachineIntents<'_>,
    accepted: ImportedStatement,
) -> Result<ApprovedIntent, ApproveError> {
    let ImportedStatement { intent, statement, verified, .. } = accepted;
    let state = if statement.decision == ApproverDecision::Reject {
        let reason = statement.reason.unwrap_or_default();
        ApprovalState::Rejected { by: verified.principal.clone(), reason }
    } else {
        let listed = intents.with(|store, context| store.state(intent, context));
        listed.map_err(ApprovalsError::from)?.state
    };
    Ok(ApprovedIntent { by: verified, state: Some(state) })
}

fn check_open(intents: &MachineIntents<'_>, intent: &IntentDocument) -> Result<(), ApproveError> {
    let listed = intents.with(|store, context| store.state(intent.clone(), context));
    match listed.map_err(ApprovalsError::from)?.state {
        ApprovalState::Ended(reason) => Err(ApproveError::Ended { code: intent.code.clone(), reason }),
        _ => Ok(()),
    }
}

pub(super) fn of_refusal(refusal: ApprovalRefusal, code: &str) -> ApproveError {
    let ended = |reason: String| ApproveError::Ended { code: code.to_uppercase(), reason };
    match refusal {
        ApprovalRefusal::NotPending { .. } => ApproveError::Unknown(code.to_owned()),
        ApprovalRefusal::NotExported { .. } => ApproveError::NotExported(code.to_uppercase()),
        ApprovalRefusal::AlreadyUsed { .. } => ended("it was used".to_owned()),
        ApprovalRefusal::Rejected { reason, .. } => ended(format!("it was rejected: {reason}")),
        ApprovalRefusal::Withdrawn { .. } => ended("it was withdrawn".to_owned()),
        ApprovalRefusal::Void { reason, .. } => ended(reason),
        ApprovalRefusal::OtherBoot { .. } => ended("the machine was started again".to_owned()),
        ApprovalRefusal::PolicyChanged { .. } => ended("the policy has changed".to_owned()),
        ApprovalRefusal::IntentExpired { .. } => ended("its time is over".to_owned()),
        ApprovalRefusal::Store(error) => ApproveError::Approvals(error.into()),
        ApprovalRefusal::Unrecorded(error) => match error.downcast::<AuditProblem>() {
            Ok(problem) => ApproveError::Audit(*problem),
            Err(error) => ApproveError::Refused(ApprovalRefusal::Unrecorded(error)),
        },
        other => ApproveError::Refused(other),
    }
}
