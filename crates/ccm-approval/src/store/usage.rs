//! Using up an approval: once, before its action starts.

use ccm_model::parse_timestamp;
use ccm_sshsig::VerifiedSignature;

use super::import::{ApprovalContext, check_approver, check_demand, verify};
use super::ledger::{LedgerUse, UseLedger};
use super::record::ApprovalRecord;
use super::{ApprovalStore, EndedIntent, IntentEnd, failed};
use crate::intent::{IntendedProgram, IntentContent, IntentDocument};
use crate::refusal::{ApprovalRefusal, ApprovalStoreError};
use crate::statement::ApproverDecision;

/// Approval that was used up. Its action may be started, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedApproval {
    /// The intent. Nothing but its action may be started.
    pub intent: IntentDocument,
    /// Approvals that were used.
    pub approvals: Vec<ApprovalRecord>,
    /// Uses of grants among them.
    pub grants: Vec<GrantUse>,
    /// The clock was set back after the intent was made.
    pub clock_set_back: bool,
}

/// Use of a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantUse {
    /// Intent that the grant was given for.
    pub granted: IntentDocument,
    /// Rule of the grant; `None` is a grant for one action.
    pub rule: Option<String>,
    /// Number of this use, from 1.
    pub number: u32,
    /// Number of uses of the grant.
    pub uses: u32,
}

/// Approval whose signature is valid now, with the name of its file.
pub(super) struct VerifiedRecord {
    pub(super) name: String,
    pub(super) record: ApprovalRecord,
    pub(super) by: VerifiedSignature,
}

/// Approvals of an intent, and the reasons why others do not count.
#[derive(Default)]
pub(super) struct VerifiedRecords {
    pub(super) records: Vec<VerifiedRecord>,
    /// Approvals of exactly this intent that do not count, each with its approver.
    pub(super) refused: Vec<(String, ApprovalRefusal)>,
}

/// Approvals that were chosen for an intent.
pub(super) struct ChosenRecords {
    pub(super) records: Vec<VerifiedRecord>,
    /// Number of approvals that are missing.
    pub(super) missing: u32,
}

impl ApprovalStore {
    /// Uses up the approvals of an intent, or grants that hold for it. When this returns a value, the use is on the disk,
    /// and never again will there be one. `digest` returns the digest of a program now.
    pub fn use_up(
        &self,
        id: &str,
        digest: &dyn Fn(&str) -> Option<String>,
        context: &ApprovalContext<'_>,
    ) -> Result<UsedApproval, ApprovalRefusal> {
        let intent = self.pending_intent(id)?;
        self.belongs_here(&intent, context.policy)?;
        let verified = self.verified_records(&intent, context)?;
        let _lock = self.lock()?;
        // Another program may have used it, or its approvals, meanwhile.
        self.still_waits(&intent)?;
        self.take(intent, verified, digest, context)
    }

    /// Uses up a grant that holds for an action, which needs no intent of its own. `None` without such a grant.
    pub fn use_grant(
        &self,
        asked: &IntentContent,
        digest: &dyn Fn(&str) -> Option<String>,
        context: &ApprovalContext<'_>,
    ) -> Result<Option<UsedApproval>, ApprovalRefusal> {
        if !self.records()?.iter().any(|(_, record)| record.is_grant()) {
            return Ok(None);
        }
        let intent = self.draft(asked.clone(), std::time::Duration::ZERO, context.now, &[])?;
        let verified = self.verified_records(&intent, context)?;
        let _lock = self.lock()?;
        match self.take(intent, verified, digest, context) {
            Ok(used) => Ok(Some(used)),
            Err(ApprovalRefusal::Waiting { .. } | ApprovalRefusal::IntentExpired { .. }) => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns the intent that a grant would hold for, if there is such a grant. Nothing is written.
    pub fn is_granted(
        &self,
        asked: &IntentContent,
        context: &ApprovalContext<'_>,
    ) -> Result<Option<IntentDocument>, ApprovalStoreError> {
        if !self.records()?.iter().any(|(_, record)| record.is_grant()) {
            return Ok(None);
        }
        let intent = self.draft(asked.clone(), std::time::Duration::ZERO, context.now, &[])?;
        let listed = self.state(intent, context)?;
        let is_granted = matches!(listed.state, super::ApprovalState::Approved { .. });
        Ok(is_granted.then_some(listed.intent))
    }

    /// Uses up approvals while the store is locked.
    fn take(
        &self,
        intent: IntentDocument,
        verified: VerifiedRecords,
        digest: &dyn Fn(&str) -> Option<String>,
        context: &ApprovalContext<'_>,
    ) -> Result<UsedApproval, ApprovalRefusal> {
        let ledger = UseLedger::read(&self.root, &self.machine.boot)?;
        if ledger.has(&intent.id) {
            return Err(ApprovalRefusal::AlreadyUsed { id: intent.id });
        }
        let VerifiedRecords { mut records, refused } = verified;
        let there = self.records()?;
        records.retain(|found| {
            let statement = &found.record.statement;
            there.iter().any(|(name, _)| *name == found.name)
                && ledger.uses_of(&statement.nonce) < statement.uses
        });
        let chosen = choose(&intent, records, context);
        if chosen.missing > 0 {
            // Too few are left: the reason is that of the one that is missing.
            let refusal = refused.into_iter().next().map(|(_, refusal)| refusal);
            return Err(refusal.unwrap_or_else(|| self.waiting(&intent, &chosen, context)));
        }
        check_programs(&intent.content.programs, digest)?;
        let grants = chosen.records.iter().filter_map(|found| grant_use(&found.record, &ledger)).collect();
        let nonces = chosen.records.iter().map(|found| found.record.statement.nonce.clone()).collect();
        let used = LedgerUse { boot: self.machine.boot.clone(), intent: intent.id.clone(), nonces };
        ledger.append(&self.root, &used)?;
        self.tidy(&intent, &chosen.records, context)?;
        let set_back = parse_timestamp(&intent.created).is_some_and(|created| context.now.wall < created);
        let approvals = chosen.records.into_iter().map(|found| found.record).collect();
        Ok(UsedApproval { intent, approvals, grants, clock_set_back: set_back })
    }

    /// Moves what was used out of the way. Nothing of this has to reach the disk: the line of the ledger decides.
    fn tidy(
        &self,
        intent: &IntentDocument,
        used: &[VerifiedRecord],
        context: &ApprovalContext<'_>,
    ) -> Result<(), ApprovalStoreError> {
        let mut ended = EndedIntent::new(intent, IntentEnd::Used, context.now);
        ended.by = used.iter().map(|found| found.record.principal.clone()).collect();
        let name = format!("{}.json", intent.id);
        let written = self.ended.replace_unsynced(&name, ended.text().as_bytes());
        written.map_err(failed(&self.ended, &name, "written"))?;
        self.remove_pending_unsynced(intent)?;
        for found in used.iter().filter(|found| !found.record.is_grant()) {
            let removed = self.approved.remove_unsynced(&found.name);
            removed.map_err(failed(&self.approved, &found.name, "removed"))?;
        }
        Ok(())
    }

    /// Returns the approvals of an intent, and the grants that hold for it, whose signatures are still valid.
    pub(super) fn verified_records(
        &self,
        intent: &IntentDocument,
        context: &ApprovalContext<'_>,
    ) -> Result<VerifiedRecords, ApprovalStoreError> {
        let mut found = VerifiedRecords::default();
        for (name, mut record) in self.records()? {
            let is_own = record.is_of(intent);
            let Ok(granted) = record.statement.document() else { continue };
            if !is_own && !holds_for(&record, &granted, intent) {
                continue;
            }
            let check = || {
                self.belongs_here(&granted, context.policy)?;
                record.lives(&granted, context.now)?;
                // A key may have been revoked, or have left the file of approvers, since the approval.
                let verified = verify(&record.signed, &record.statement, context)?;
                check_approver(intent, &verified, None, context)?;
                Ok(verified)
            };
            match check() {
                Ok(by) => {
                    record.principal.clone_from(&by.principal);
                    record.fingerprint = by.key.fingerprint();
                    found.records.push(VerifiedRecord { name, record, by });
                }
                Err(ApprovalRefusal::Store(error)) => return Err(error),
                Err(refusal) if is_own => found.refused.push((record.principal, refusal)),
                Err(_) => {}
            }
        }
        Ok(found)
    }

    fn waiting(
        &self,
        intent: &IntentDocument,
        chosen: &ChosenRecords,
        context: &ApprovalContext<'_>,
    ) -> ApprovalRefusal {
        let id = intent.id.clone();
        if self.left(intent, context.now).is_none() {
            return ApprovalRefusal::IntentExpired { id, expires: intent.expires.clone() };
        }
        let found = u32::try_from(chosen.records.len()).unwrap_or(u32::MAX);
        ApprovalRefusal::Waiting { id, found, needed: found.saturating_add(chosen.missing) }
    }
}

fn grant_use(record: &ApprovalRecord, ledger: &UseLedger) -> Option<GrantUse> {
    let statement = &record.statement;
    let rule = match &statement.decision {
        ApproverDecision::GrantRule(rule) => Some(rule.clone()),
        ApproverDecision::GrantAction => None,
        ApproverDecision::Approve | ApproverDecision::Reject => return None,
    };
    let number = ledger.uses_of(&statement.nonce).saturating_add(1);
    Some(GrantUse { granted: statement.document().ok()?, rule, number, uses: statement.uses })
}

/// Chooses as many approvals as the demands of an intent need, each by another person with another key.
pub(super) fn choose(
    intent: &IntentDocument,
    records: Vec<VerifiedRecord>,
    context: &ApprovalContext<'_>,
) -> ChosenRecords {
    let mut people: Vec<(VerifiedRecord, bool)> = Vec::new();
    for found in records {
        let is_same = |(other, _): &(VerifiedRecord, bool)| {
            other.record.principal == found.record.principal
                || other.record.fingerprint == found.record.fingerprint
        };
        if !people.iter().any(is_same) {
            people.push((found, false));
        }
    }
    let mut missing: u32 = 0;
    for demand in &intent.content.requires {
        let mut needed = demand.count;
        // Who was chosen for another demand counts for this one as well.
        for is_chosen in [true, false] {
            for (found, chosen) in people.iter_mut().filter(|(_, chosen)| *chosen == is_chosen) {
                if needed > 0 && check_demand(demand, intent, (&found.by, None), context).is_ok() {
                    *chosen = true;
                    needed -= 1;
                }
            }
        }
        missing = missing.saturating_add(needed);
    }
    let chosen = people.into_iter().filter(|(_, chosen)| *chosen).map(|(found, _)| found);
    ChosenRecords { records: chosen.collect(), missing }
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
                && (&given.policy, &given.sandbox, &given.requires, given.valid_ms, given.grant, &given.tool)
                    == (
                        &asked.policy,
                        &asked.sandbox,
                        &asked.requires,
                        asked.valid_ms,
                        asked.grant,
                        &asked.tool,
                    )
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
