//! Approvers who are not the owner of the store: members of the group read what waits, and sign for the inbox.

use std::path::Path;
use std::time::Duration;

use ccm_approval::{ApprovalState, ApprovalStoreError, IntentDocument, ListedIntent, PendingReader};
use ccm_host::current_user;
use ccm_model::parse_timestamp;

use crate::governance::Governance;

/// Directory of the approvals of the machine.
const OF_MACHINE: &str = "/var/lib/ccm/approvals";

impl Governance {
    /// Returns the waiting intents of the machine, if this user is not the owner of their store and may read them.
    pub(super) fn of_machine(&self) -> Result<Option<PendingReader>, ApprovalStoreError> {
        if self.places.approvals.is_some() || current_user() == 0 {
            return Ok(None);
        }
        match PendingReader::open(Path::new(OF_MACHINE)) {
            // Who may not read the store has no intents of the machine.
            Err(ApprovalStoreError::Directory(_)) => Ok(None),
            opened => opened,
        }
    }

    /// Returns an intent of the machine as one that waits: who has approved it is not for the group to see.
    pub(super) fn listed_of_machine(&self, intent: IntentDocument) -> ListedIntent {
        let now = self.approval_time();
        let left = parse_timestamp(&intent.expires).and_then(|end| end.duration_since(now.wall).ok());
        let left = left.filter(|left| *left > Duration::ZERO);
        let state = match left {
            Some(_) => ApprovalState::Waiting(Vec::new()),
            None => ApprovalState::Ended("its time is over".to_owned()),
        };
        ListedIntent { intent, state, left, clock_set_back: false, notes: Vec::new() }
    }
}
