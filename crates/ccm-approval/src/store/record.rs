//! Approvals that were accepted, and have not been used up.

use std::time::{Duration, SystemTime};

use ccm_host::state::Directory;
use ccm_model::{display_timestamp, parse_timestamp};
use serde::{Deserialize, Serialize};

use super::{ApprovalStore, MAX_ENTRIES, failed};
use crate::intent::{ApprovalTime, IntentDocument, milliseconds};
use crate::refusal::{ApprovalRefusal, ApprovalStoreError};
use crate::statement::{ApprovalStatement, ApproverDecision, MAX_SIGNED_STATEMENT, SignedStatement};

/// Maximum length of a record.
pub(super) const MAX_RECORD: u64 = MAX_SIGNED_STATEMENT as u64 + 4096;

/// Statement that was accepted, with the time at which that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRecord {
    /// Statement and signature.
    pub signed: SignedStatement,
    /// The statement.
    pub statement: ApprovalStatement,
    /// Principal of the key.
    pub principal: String,
    /// Fingerprint of the key.
    pub fingerprint: String,
    /// Time at which it was accepted.
    pub accepted: String,
    /// Time since the boot at which it was accepted, in milliseconds.
    pub uptime_ms: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordHead {
    #[serde(rename = "type")]
    format: RecordFormat,
    principal: String,
    fingerprint: String,
    accepted: String,
    uptime_ms: u64,
}

#[derive(Serialize, Deserialize)]
enum RecordFormat {
    #[serde(rename = "ccm-accepted/1")]
    First,
}

impl ApprovalRecord {
    pub(super) fn new(
        (signed, statement): (SignedStatement, ApprovalStatement),
        principal: String,
        fingerprint: String,
        now: ApprovalTime,
    ) -> Self {
        let accepted = display_timestamp(now.wall, 1);
        let uptime_ms = milliseconds(now.since_boot);
        Self { signed, statement, principal, fingerprint, accepted, uptime_ms }
    }

    pub(super) fn content(&self) -> String {
        let head = RecordHead {
            format: RecordFormat::First,
            principal: self.principal.clone(),
            fingerprint: self.fingerprint.clone(),
            accepted: self.accepted.clone(),
            uptime_ms: self.uptime_ms,
        };
        // Every key is a text, and no value refuses to be written.
        format!("{}\n{}", serde_json::to_string(&head).unwrap_or_default(), self.signed.content())
    }

    /// Returns `true` if the record is about this intent.
    pub(super) fn is_of(&self, intent: &IntentDocument) -> bool {
        self.statement.intent == intent.text()
    }

    /// Returns `true` if the record is for more than one use.
    pub(super) fn is_grant(&self) -> bool {
        matches!(self.statement.decision, ApproverDecision::GrantAction | ApproverDecision::GrantRule(_))
    }

    /// Returns the time that it can be used after it was accepted: that of the policy, or a shorter one that the approver
    /// has signed.
    fn valid_ms(&self, intent: &IntentDocument) -> u64 {
        let content = &intent.content;
        let of_policy = match content.grant {
            Some(grant) if self.is_grant() => grant.for_ms.min(MAX_GRANT_MS),
            None if self.is_grant() => 0,
            _ => content.valid_ms,
        };
        let times = parse_timestamp(&self.statement.not_after).zip(parse_timestamp(&self.accepted));
        let signed = times.and_then(|(until, accepted)| until.duration_since(accepted).ok());
        // Counted from a moment that both clocks know, so that a clock that is set back prolongs nothing.
        signed.map_or(0, milliseconds).min(of_policy)
    }

    /// Returns the time at which the approval ends by the clock.
    pub(super) fn end(&self, intent: &IntentDocument) -> Option<SystemTime> {
        let not_after = parse_timestamp(&self.statement.not_after)?;
        let valid = Duration::from_millis(self.valid_ms(intent));
        Some(not_after.min(parse_timestamp(&self.accepted)?.checked_add(valid)?))
    }

    /// Checks that the approval can still be used, by both clocks.
    pub(super) fn lives(&self, intent: &IntentDocument, now: ApprovalTime) -> Result<(), ApprovalRefusal> {
        let valid_ms = self.valid_ms(intent);
        let not_after = &self.statement.not_after;
        if parse_timestamp(not_after).is_none_or(|until| now.wall > until) {
            return Err(ApprovalRefusal::StatementExpired { not_after: not_after.clone() });
        }
        // Another program may have accepted it after this one looked at the clock.
        let by_boot = milliseconds(now.since_boot).saturating_sub(self.uptime_ms);
        let accepted = parse_timestamp(&self.accepted);
        // A clock that was set back shows a time before: then only the time since the boot counts.
        let by_wall =
            accepted.and_then(|accepted| now.wall.duration_since(accepted).ok()).map_or(0, milliseconds);
        if by_boot.max(by_wall) >= valid_ms {
            return Err(ApprovalRefusal::ApprovalExpired { approver: self.principal.clone() });
        }
        Ok(())
    }
}

/// Maximum time of a grant.
pub(super) const MAX_GRANT_MS: u64 = 8 * 3600 * 1000;

/// Reads a record. `None` if it is not in the form that ccm writes.
pub(super) fn read_record(bytes: &[u8]) -> Option<ApprovalRecord> {
    let (head, content) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
    let RecordHead { principal, fingerprint, accepted, uptime_ms, .. } = serde_json::from_str(head).ok()?;
    let (signed, statement) = SignedStatement::parse(content).ok()?;
    Some(ApprovalRecord { signed, statement, principal, fingerprint, accepted, uptime_ms })
}

impl ApprovalStore {
    /// Reads the approvals, each with the name of its file.
    pub(super) fn records(&self) -> Result<Vec<(String, ApprovalRecord)>, ApprovalStoreError> {
        let directory: &Directory = &self.approved;
        let names = directory.some_names(MAX_ENTRIES).map_err(failed(directory, "", "read"))?;
        let read = |name: String| {
            let (bytes, _) = directory.read_foreign(&name, MAX_RECORD).ok()?;
            Some((name, read_record(&bytes)?))
        };
        Ok(names.into_iter().filter_map(read).collect())
    }
}
