//! List of intents with their states.

use std::time::Duration;

use ccm_model::{display_timestamp, error_layers, parse_timestamp};

use super::ApprovalStore;
use super::ended::{EndedIntent, IntentEnd};
use super::import::ApprovalContext;
use super::ledger::UseLedger;
use super::usage::{VerifiedRecord, choose};
use crate::intent::IntentDocument;
use crate::refusal::{ApprovalRefusal, ApprovalStoreError};

/// State of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// More approvals are needed. The approvers who have signed already.
    Waiting(Vec<String>),
    /// Everybody has signed. The action can be started.
    Approved {
        /// Approvers.
        by: Vec<String>,
        /// Time at which the approval ends, by RFC 3339.
        until: String,
        /// Number of uses that are left.
        uses: u32,
    },
    /// An approver, or the owner of the store, has refused.
    Rejected {
        /// The one who has refused.
        by: String,
        /// Reason, without control characters.
        reason: String,
    },
    /// The approval was used.
    Used,
    /// The intent has ended without a use, for a reason.
    Ended(String),
}

/// Intent with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedIntent {
    /// The intent.
    pub intent: IntentDocument,
    /// The state.
    pub state: ApprovalState,
    /// Time that is left for approvals; `None` if it is over.
    pub left: Option<Duration>,
    /// The clock was set back after the intent was made. The time since the boot counts.
    pub clock_set_back: bool,
    /// Approvals that do not count any more, each with the reason.
    pub notes: Vec<String>,
}

/// Content of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedIntents {
    /// Intents, the oldest first, also those that ended in the last days.
    pub intents: Vec<ListedIntent>,
    /// Names of files that are no intents of this machine, which are ignored.
    pub rubbish: Vec<String>,
}

impl ApprovalState {
    /// Returns `true` if the intent can still be approved or used.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Waiting(_) | Self::Approved { .. })
    }
}

impl ApprovalStore {
    /// Returns the intents that wait, as ccm has signed them. Their approvals are not looked at.
    pub fn pending(&self) -> Result<Vec<IntentDocument>, ApprovalStoreError> {
        Ok(self.read_pending()?.0)
    }

    /// Returns every intent with its state. Nothing is written.
    pub fn list(&self, context: &ApprovalContext<'_>) -> Result<ListedIntents, ApprovalStoreError> {
        let (pending, rubbish) = self.read_pending()?;
        let mut intents = Vec::new();
        for intent in pending {
            intents.push(self.state(intent, context)?);
        }
        for ended in self.ended()? {
            if intents.iter().all(|listed| listed.intent.id != ended.intent.id) {
                intents.push(self.ended_state(ended, context)?);
            }
        }
        intents.sort_by(|a, b| a.intent.id[..10].cmp(&b.intent.id[..10]));
        Ok(ListedIntents { intents, rubbish })
    }

    /// Returns an intent by its code or its id, with its state, also one that has ended.
    pub fn listed(&self, name: &str, context: &ApprovalContext<'_>) -> Result<ListedIntent, ApprovalRefusal> {
        match self.find(name) {
            Ok(intent) => Ok(self.state(intent, context)?),
            Err(refusal) => {
                let typed = crate::names::normalised(name);
                let is_named = |ended: &EndedIntent| ended.intent.code == typed || ended.intent.id == typed;
                match self.ended()?.into_iter().rev().find(is_named) {
                    Some(ended) => Ok(self.ended_state(ended, context)?),
                    None => Err(refusal),
                }
            }
        }
    }

    /// Returns the state of an intent that waits.
    pub fn state(
        &self,
        intent: IntentDocument,
        context: &ApprovalContext<'_>,
    ) -> Result<ListedIntent, ApprovalStoreError> {
        let clock_set_back =
            parse_timestamp(&intent.created).is_some_and(|created| context.now.wall < created);
        let left = self.left(&intent, context.now);
        let listed = |intent, state, notes| ListedIntent { intent, state, left, clock_set_back, notes };
        if let Err(refusal) = self.belongs_here(&intent, context.policy) {
            let why = match refusal {
                ApprovalRefusal::OtherBoot { .. } => "the machine was started again",
                ApprovalRefusal::PolicyChanged { .. } => "the policy has changed",
                _ => "it is one of another machine",
            };
            return Ok(listed(intent, ApprovalState::Ended(why.to_owned()), Vec::new()));
        }
        let found = self.verified_records(&intent, context)?;
        let notes = found.refused.iter().map(|(approver, refusal)| match refusal {
            ApprovalRefusal::ApprovalExpired { .. } | ApprovalRefusal::StatementExpired { .. } => {
                format!("the approval of {approver} has expired")
            }
            refusal => {
                let causes = error_layers(refusal).join(": ");
                format!("the approval of {approver} does not count any more: {causes}")
            }
        });
        let notes = notes.collect();
        let ledger = UseLedger::read(&self.root, &self.machine.boot)?;
        let mut records = found.records;
        records.retain(|found| uses_left(found, &ledger) > 0);
        let chosen = choose(&intent, records, context);
        let by = chosen.records.iter().map(|found| found.record.principal.clone()).collect();
        let state = if chosen.missing == 0 {
            let ends = chosen
                .records
                .iter()
                .filter_map(|found| found.record.end(&found.record.statement.document().ok()?));
            let until = display_timestamp(ends.min().unwrap_or(context.now.wall), 1);
            let uses = chosen.records.iter().map(|found| uses_left(found, &ledger)).min().unwrap_or(1);
            ApprovalState::Approved { by, until, uses }
        } else if left.is_none() {
            ApprovalState::Ended("its time is over".to_owned())
        } else {
            ApprovalState::Waiting(by)
        };
        Ok(listed(intent, state, notes))
    }

    /// Returns the state of an intent that has ended. A grant may have uses left.
    fn ended_state(
        &self,
        ended: EndedIntent,
        context: &ApprovalContext<'_>,
    ) -> Result<ListedIntent, ApprovalStoreError> {
        let EndedIntent { intent, end, by, reason, .. } = ended;
        let left = self.left(&intent, context.now);
        let text = || ccm_model::escape_control(reason.as_deref().unwrap_or_default()).into_owned();
        // A use of a grant has an intent of its own, which lists nothing.
        let is_granted = self.records()?.iter().any(|(_, record)| record.is_grant() && record.is_of(&intent));
        if is_granted {
            let granted = self.state(intent.clone(), context)?;
            if matches!(granted.state, ApprovalState::Approved { .. }) {
                return Ok(granted);
            }
        }
        let state = match end {
            IntentEnd::Used => ApprovalState::Used,
            IntentEnd::Rejected if left.is_some() => {
                ApprovalState::Rejected { by: by.join(", "), reason: text() }
            }
            IntentEnd::Rejected => ApprovalState::Ended(format!("it was rejected: {}", text())),
            IntentEnd::Withdrawn => ApprovalState::Ended("it was withdrawn".to_owned()),
            IntentEnd::Void | IntentEnd::Expired => ApprovalState::Ended(text()),
        };
        Ok(listed_end(intent, state, left))
    }

    /// Returns the intents that were rejected and whose time is not over.
    pub fn rejected(&self, now: crate::intent::ApprovalTime) -> Result<Vec<EndedIntent>, ApprovalStoreError> {
        let mut ended = self.ended()?;
        ended.retain(|ended| ended.end == IntentEnd::Rejected && self.left(&ended.intent, now).is_some());
        Ok(ended)
    }
}

fn listed_end(intent: IntentDocument, state: ApprovalState, left: Option<Duration>) -> ListedIntent {
    ListedIntent { intent, state, left, clock_set_back: false, notes: Vec::new() }
}

fn uses_left(found: &VerifiedRecord, ledger: &UseLedger) -> u32 {
    let statement = &found.record.statement;
    statement.uses.saturating_sub(ledger.uses_of(&statement.nonce))
}
