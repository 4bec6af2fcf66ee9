//! Using up an approval: once, before its action starts.

use ccm_model::parse_timestamp;

use super::ApprovalStore;
use super::import::{ApprovalContext, check_approver};
use super::ledger::{LedgerUse, UseLedger};
use super::record::ApprovalRecord;
use crate::intent::{IntendedProgram, IntentDocument};
use crate::refusal::ApprovalRefusal;
use crate::statement::ApproverDecision;

/// Approval that was used up. Its action may be started, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedApproval {
    /// The intent. Nothing but its action may be started.
    pub intent: IntentDocument,
    /// Approvals that were used.
    pub approvals: Vec<ApprovalRecord>,
    /// The clock was set back after the intent was made.
    pub clock_set_back: bool,
}

impl ApprovalStore {
    /// Uses up the approvals of an intent, or grants that hold for it. When this returns a value, the use is on the disk,
    /// and never again will there be one. `digest` returns the digest of a program now.
    pub async fn use_up(
        &self,
        id: &str,
        digest: &dyn Fn(&str) -> Option<String>,
        context: &ApprovalContext<'_>,
    ) -> Result<UsedApproval, ApprovalRefusal> {
        let intent = self.pending_intent(id)?;
        self.belongs_here(&intent, context.policy)?;
        let verified = self.verified_records(&intent, context).await?;
        let lock = self.lock()?;
        // Another program may have used it, or its approvals, meanwhile.
        let intent = self.pending_intent(&intent.id)?;
        let ledger = UseLedger::read(&self.root, &self.machine.boot)?;
        if ledger.has(&intent.id) {
            return Err(ApprovalRefusal::AlreadyUsed { id: intent.id });
        }
        let now = self.records()?;
        let is_there = |name: &String| now.iter().any(|(there, _)| there == name);
        let has_uses =
            |record: &ApprovalRecord| ledger.uses_of(&record.statement.nonce) < record.statement.uses;
        let records =
            verified.into_iter().filter(|(name, record)| is_there(name) && has_uses(record)).collect();
        let approvals = self.enough(&intent, records, context)?;
        check_programs(&intent.content.programs, digest)?;
        let nonces = approvals.iter().map(|(_, record)| record.statement.nonce.clone()).collect();
        let used = LedgerUse { boot: self.machine.boot.clone(), intent: intent.id.clone(), nonces };
        ledger.append(&self.root, &used)?;
        let name = format!("{}.json", intent.id);
        let moved = self.pending.move_into(&name, &self.used);
        moved.map_err(super::failed(&self.pending, &name, "moved"))?;
        self.remove(&self.pending, &format!("{}.sig", intent.id))?;
        for (name, record) in &approvals {
            if !record.is_grant() {
                self.remove(&self.approved, name)?;
            }
        }
        drop(lock);
        let set_back = parse_timestamp(&intent.created).is_some_and(|created| context.now.wall < created);
        let approvals = approvals.into_iter().map(|(_, record)| record).collect();
        Ok(UsedApproval { intent, approvals, clock_set_back: set_back })
    }

    /// Returns the approvals of an intent, and the grants that hold for it, whose signatures are still valid.
    async fn verified_records(
        &self,
        intent: &IntentDocument,
        context: &ApprovalContext<'_>,
    ) -> Result<Vec<(String, ApprovalRecord)>, ApprovalRefusal> {
        let mut records = Vec::new();
        let mut refused = None;
        for (name, mut record) in self.records()? {
            let is_own = record.is_of(intent);
            let Ok(granted) = record.statement.document() else { continue };
            if !is_own && !holds_for(&record, &granted, intent) {
                continue;
            }
            let checked = async {
                self.belongs_here(&granted, context.policy)?;
                record.lives(&granted, context.now)?;
                // A key may have been revoked, or have left the file of approvers, since the approval.
                let verified = self.verify(&record.signed, &record.statement, &granted, context).await?;
                check_approver(intent, &verified, None, context)?;
                Ok(verified)
            };
            match checked.await {
                Ok(verified) => {
                    record.principal = verified.principal;
                    record.fingerprint = verified.key.fingerprint();
                    records.push((name, record));
                }
                Err(refusal) if is_own => {
                    refused.get_or_insert(refusal);
                }
                Err(ApprovalRefusal::Store(error)) => return Err(error.into()),
                Err(_) => {}
            }
        }
        match refused {
            // Too few are left: the reason is that of the one that is missing.
            Some(refusal) if records.len() < needed(intent) => Err(refusal),
            _ => Ok(records),
        }
    }

    /// Returns as many approvals as the intent needs, each by another person with another key.
    fn enough(
        &self,
        intent: &IntentDocument,
        records: Vec<(String, ApprovalRecord)>,
        context: &ApprovalContext<'_>,
    ) -> Result<Vec<(String, ApprovalRecord)>, ApprovalRefusal> {
        let mut chosen: Vec<(String, ApprovalRecord)> = Vec::new();
        for (name, record) in records {
            let is_same = |(_, other): &(String, ApprovalRecord)| {
                other.principal == record.principal || other.fingerprint == record.fingerprint
            };
            if !chosen.iter().any(is_same) && chosen.len() < needed(intent) {
                chosen.push((name, record));
            }
        }
        if chosen.len() >= needed(intent) {
            return Ok(chosen);
        }
        if self.left(intent, context.now).is_none() {
            let (id, expires) = (intent.id.clone(), intent.expires.clone());
            return Err(ApprovalRefusal::IntentExpired { id, expires });
        }
        Err(ApprovalRefusal::Waiting {
            id: intent.id.clone(),
            found: u32::try_from(chosen.len()).unwrap_or(u32::MAX),
            needed: intent.content.requires.count,
        })
    }
}

fn needed(intent: &IntentDocument) -> usize {
    usize::try_from(intent.content.requires.count).unwrap_or(usize::MAX)
}

/// Returns `true` if a grant that was given for one intent holds for another.
fn holds_for(record: &ApprovalRecord, granted: &IntentDocument, intent: &IntentDocument) -> bool {
    let (given, asked) = (&granted.content, &intent.content);
    let is_known = given.unknown.is_empty() && asked.unknown.is_empty();
    match &record.statement.decision {
        ApproverDecision::GrantAction => is_known && granted.asks_the_same(intent),
        ApproverDecision::GrantRule(rule) => {
            is_known
                && given.rules == [rule.clone()]
                && asked.rules == given.rules
                && (&given.policy, &given.sandbox, &given.requires, &given.tool)
                    == (&asked.policy, &asked.sandbox, &asked.requires, &asked.tool)
                && (&given.caller.kind, given.caller.uid, &given.caller.login)
                    == (&asked.caller.kind, asked.caller.uid, &asked.caller.login)
                && given.action.user == asked.action.user
                && (&granted.machine, &granted.boot) == (&intent.machine, &intent.boot)
        }
        ApproverDecision::Approve | ApproverDecision::Reject => false,
    }
}

fn check_programs(
    programs: &[IntendedProgram],
    digest: &dyn Fn(&str) -> Option<String>,
) -> Result<(), ApprovalRefusal> {
    match programs.iter().find(|program| digest(&program.path).as_ref() != Some(&program.sha256)) {
        Some(program) => Err(ApprovalRefusal::ProgramChanged { path: program.path.clone() }),
        None => Ok(()),
    }
}
