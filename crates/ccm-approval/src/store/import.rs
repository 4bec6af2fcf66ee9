//! Statements of approvers: where they come in.

use ccm_model::parse_timestamp;
use ccm_sshsig::{SignatureDemand, SignatureRefusal, VerifiedSignature};

use super::ledger::UseLedger;
use super::record::{ApprovalRecord, MAX_GRANT_MS};
use super::{ApprovalStore, EndedIntent, INBOX, IntentEnd, MAX_ENTRIES, failed, remove};
use crate::approvers::{Approvers, SignatureVerifier};
use crate::intent::{ApprovalDemand, ApprovalTime, IntentDocument};
use crate::refusal::{ApprovalRefusal, ApprovalStoreError};
use crate::statement::{
    APPROVAL_NAMESPACE, ApprovalStatement, ApproverDecision, MAX_SIGNED_STATEMENT, SignedStatement,
    StatementError,
};

/// Function that records a statement before it counts.
pub type StatementRecorder<'a> =
    &'a dyn Fn(&ImportedStatement) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Conditions of an approval, besides the approval itself.
#[derive(Clone, Copy)]
pub struct ApprovalContext<'a> {
    /// People who may approve.
    pub approvers: &'a Approvers,
    /// Verifies signatures.
    pub verifier: &'a dyn SignatureVerifier,
    /// Returns the number of the account of a name.
    pub accounts: &'a dyn Fn(&str) -> Option<u32>,
    /// Digest of the policy.
    pub policy: &'a str,
    /// Time.
    pub now: ApprovalTime,
    /// Records a statement before it counts. What can't be recorded is not accepted.
    pub record: StatementRecorder<'a>,
}

/// Statement that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedStatement {
    /// The intent.
    pub intent: IntentDocument,
    /// The statement.
    pub statement: ApprovalStatement,
    /// The one who has signed it.
    pub verified: VerifiedSignature,
    /// Number of approvals that the intent has now.
    pub found: u32,
}

/// File of the inbox.
#[derive(Debug)]
pub struct InboxEntry {
    /// Name of the file.
    pub name: String,
    /// Statement that was accepted, or the reason why not.
    pub result: Result<ImportedStatement, ApprovalRefusal>,
}

impl ApprovalStore {
    /// Accepts a signed statement. `submitter` is the number of the user who brings it, if known; it is believed for its
    /// signature alone.
    pub fn import(
        &self,
        text: &str,
        submitter: Option<u32>,
        context: &ApprovalContext<'_>,
    ) -> Result<ImportedStatement, ApprovalRefusal> {
        let (signed, statement) = SignedStatement::parse(text)?;
        let asked = statement.document()?;
        // Before the intent is looked up: those of other machines never are in this store.
        self.belongs_here(&asked, context.policy)?;
        let verified = verify(&signed, &statement, context)?;
        let lock = self.lock()?;
        let intent = self.pending_intent(&asked.id)?;
        if intent.text() != statement.intent {
            return Err(ApprovalRefusal::OtherIntent { id: asked.id });
        }
        let records = self.records()?;
        self.check(&statement, &intent, context, &records)?;
        check_approver(&intent, &verified, submitter, context)?;
        let of_intent = records.iter().filter(|(_, record)| record.is_of(&intent));
        let (fingerprint, principal) = (verified.key.fingerprint(), verified.principal.clone());
        let is_same =
            |record: &ApprovalRecord| record.principal == principal || record.fingerprint == fingerprint;
        let is_rejected = statement.decision == ApproverDecision::Reject;
        let mut found = 0;
        for (name, record) in of_intent {
            if record.lives(&intent, context.now).is_err() {
                // It can't be used any more, and its approver may approve again.
                remove(&self.approved, name)?;
                continue;
            }
            if is_same(record) && !is_rejected {
                return Err(ApprovalRefusal::SameApprover { id: intent.id, approver: principal });
            }
            found += 1;
        }
        let now = context.now;
        let record = ApprovalRecord::new((signed, statement.clone()), principal.clone(), fingerprint, now);
        found += u32::from(!is_rejected);
        let imported = ImportedStatement { intent, statement, verified, found };
        (context.record)(&imported).map_err(ApprovalRefusal::Unrecorded)?;
        let (intent, statement) = (&imported.intent, &imported.statement);
        if is_rejected {
            self.write_end(&EndedIntent {
                by: vec![principal],
                reason: statement.reason.clone(),
                signed: Some(record.signed.content()),
                ..EndedIntent::new(intent, IntentEnd::Rejected, now)
            })?;
        } else {
            let name = format!("{}.approved", statement.nonce);
            let written = self.approved.replace(&name, record.content().as_bytes());
            written.map_err(failed(&self.approved, &name, "written"))?;
        }
        drop(lock);
        Ok(imported)
    }

    /// Accepts what lies in the inbox. Accepted statements are removed from it, and those that are refused for good;
    /// other files are named and stay.
    pub fn import_inbox(&self, context: &ApprovalContext<'_>) -> Result<Vec<InboxEntry>, ApprovalStoreError> {
        let inbox = self.root.enter(INBOX).map_err(failed(&self.root, INBOX, "read"))?;
        let names = inbox.some_names(MAX_ENTRIES).map_err(failed(&inbox, "", "read"))?;
        let mut entries = Vec::new();
        for name in names {
            let read = inbox.read_foreign(&name, MAX_SIGNED_STATEMENT as u64);
            let result = match read {
                Ok((bytes, owner)) => match String::from_utf8(bytes) {
                    Ok(text) => self.import(&text, Some(owner), context),
                    Err(_) => Err(StatementError::Form.into()),
                },
                Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                    Err(StatementError::TooLong { limit: MAX_SIGNED_STATEMENT }.into())
                }
                Err(error) => Err(failed(&inbox, &name, "read")(error).into()),
            };
            // What can't be read may still be being written.
            let stays = matches!(
                result,
                Err(ApprovalRefusal::Statement(_)
                    | ApprovalRefusal::Store(_)
                    | ApprovalRefusal::Unrecorded(_))
            );
            if !stays {
                remove(&inbox, &name)?;
            }
            entries.push(InboxEntry { name, result });
        }
        Ok(entries)
    }

    /// Checks a statement about an intent that waits.
    fn check(
        &self,
        statement: &ApprovalStatement,
        intent: &IntentDocument,
        context: &ApprovalContext<'_>,
        records: &[(String, ApprovalRecord)],
    ) -> Result<(), ApprovalRefusal> {
        let ledger = UseLedger::read(&self.root, &self.machine.boot)?;
        let is_known = |(_, record): &(String, ApprovalRecord)| record.statement.nonce == statement.nonce;
        if ledger.uses_of(&statement.nonce) > 0 || records.iter().any(is_known) {
            return Err(ApprovalRefusal::Replayed { nonce: statement.nonce.clone() });
        }
        if ledger.has(&intent.id) {
            return Err(ApprovalRefusal::AlreadyUsed { id: intent.id.clone() });
        }
        if self.left(intent, context.now).is_none() {
            let (id, expires) = (intent.id.clone(), intent.expires.clone());
            return Err(ApprovalRefusal::IntentExpired { id, expires });
        }
        if parse_timestamp(&statement.not_after).is_none_or(|until| context.now.wall > until) {
            return Err(ApprovalRefusal::StatementExpired { not_after: statement.not_after.clone() });
        }
        check_grant(statement, intent)
    }
}

/// Verifies the signature of a statement.
pub(super) fn verify(
    signed: &SignedStatement,
    statement: &ApprovalStatement,
    context: &ApprovalContext<'_>,
) -> Result<VerifiedSignature, ApprovalRefusal> {
    let demand = SignatureDemand {
        namespace: APPROVAL_NAMESPACE,
        principal: statement.approver.as_deref(),
        // One demand may need a touch and another not.
        touch: false,
        user_verified: false,
    };
    let (approvers, wall) = (context.approvers, context.now.wall);
    Ok(context.verifier.verify(approvers, &signed.text, &signed.signature, &demand, wall)?)
}

/// Checks a statement that allows more than one use.
fn check_grant(statement: &ApprovalStatement, intent: &IntentDocument) -> Result<(), ApprovalRefusal> {
    let refused = |reason| Err(ApprovalRefusal::NoGrant { id: intent.id.clone(), reason });
    let content = &intent.content;
    match &statement.decision {
        ApproverDecision::Approve | ApproverDecision::Reject => return Ok(()),
        ApproverDecision::GrantRule(rule) if content.rules != [rule.clone()] => {
            return refused("the rule of the grant is not the only one that asks");
        }
        ApproverDecision::GrantRule(_) | ApproverDecision::GrantAction => {}
    }
    let Some(limits) = content.grant else { return refused("the policy allows no grant") };
    if !content.unknown.is_empty() {
        return refused("a part of it is not known");
    }
    if limits.for_ms == 0 || limits.for_ms > MAX_GRANT_MS {
        return refused("the policy allows a grant for more than 8 hours");
    }
    if statement.uses > limits.uses {
        return Err(ApprovalRefusal::GrantTooLarge { uses: statement.uses, limit: limits.uses });
    }
    Ok(())
}

/// Checks that this person may approve the intent: one of its demands has to be met in part.
pub(super) fn check_approver(
    intent: &IntentDocument,
    verified: &VerifiedSignature,
    submitter: Option<u32>,
    context: &ApprovalContext<'_>,
) -> Result<(), ApprovalRefusal> {
    let mut refused = None;
    for demand in &intent.content.requires {
        match check_demand(demand, intent, (verified, submitter), context) {
            Ok(()) => return Ok(()),
            Err(refusal) => {
                refused.get_or_insert(refusal);
            }
        }
    }
    refused.map_or(Ok(()), Err)
}

/// Checks that this person may approve for one demand of an intent.
pub(super) fn check_demand(
    demand: &ApprovalDemand,
    intent: &IntentDocument,
    (verified, submitter): (&VerifiedSignature, Option<u32>),
    context: &ApprovalContext<'_>,
) -> Result<(), ApprovalRefusal> {
    let approver = || verified.principal.clone();
    if let Some(expected) = &demand.approvers
        && !expected.contains(&verified.principal)
    {
        return Err(ApprovalRefusal::NotAnApprover { approver: approver(), expected: expected.clone() });
    }
    let fingerprint = || verified.key.fingerprint();
    // Each signature of a security key was checked for a touch.
    if (demand.touch || demand.user_verified) && !verified.key.family().is_security_key() {
        return Err(SignatureRefusal::NoSecurityKey { fingerprint: fingerprint() }.into());
    }
    if demand.user_verified && !verified.is_user_verified {
        return Err(SignatureRefusal::UserNotVerified { fingerprint: fingerprint() }.into());
    }
    if demand.four_eyes {
        let caller = &intent.content.caller;
        let is_named =
            verified.principal == caller.user || caller.login.as_ref() == Some(&verified.principal);
        let account = (context.accounts)(&verified.principal);
        let login = caller.login.as_ref().and_then(|login| (context.accounts)(login));
        let callers = [Some(caller.uid), login];
        // Root brings in what others have signed.
        let submitter = submitter.filter(|uid| *uid != 0);
        let is_caller = |uid: Option<u32>| uid.is_some() && callers.contains(&uid);
        if is_named || is_caller(account) || is_caller(submitter) {
            return Err(ApprovalRefusal::FourEyes { approver: approver() });
        }
    }
    Ok(())
}
