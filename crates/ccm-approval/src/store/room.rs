//! Room in the store: what ended leaves, and nobody fills the store for others.

use std::time::Duration;

use ccm_model::{escape_control, parse_timestamp};

use super::{ApprovalStore, EndedIntent, IntentEnd, failed, remove};
use crate::intent::{ApprovalTime, IntentDocument};
use crate::refusal::ApprovalStoreError;

/// Maximum number of intents that wait.
const MAX_PENDING: usize = 1000;
/// Maximum number of intents of one user of tools that wait.
const MAX_PENDING_OF_USER: usize = 200;
/// Maximum number of intents that have ended.
const MAX_ENDED: usize = 2000;
/// Time after its end for which an intent is kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

impl ApprovalStore {
    /// Removes what ended long ago, also of those that wait, and the oldest of too many that have ended.
    pub(super) fn remove_old(
        &self,
        waiting: &mut Vec<IntentDocument>,
        now: ApprovalTime,
    ) -> Result<(), ApprovalStoreError> {
        let is_old = |expires: &str| {
            parse_timestamp(expires)
                .is_none_or(|expires| now.wall.duration_since(expires).is_ok_and(|passed| passed > KEPT))
        };
        for intent in waiting.extract_if(.., |intent| is_old(&intent.expires)) {
            self.remove_pending(&intent)?;
        }
        for (name, record) in self.records()? {
            if is_old(&record.statement.not_after) {
                remove(&self.approved, &name)?;
            }
        }
        let (ended, records) = (self.ended()?, self.records()?);
        let is_granted = |intent: &IntentDocument| {
            records.iter().any(|(_, record)| record.is_grant() && record.is_of(intent))
        };
        let surplus = ended.len().saturating_sub(MAX_ENDED);
        for (position, ended) in ended.iter().enumerate() {
            // A rejection counts until the time of its intent is over.
            let counts = ended.end == IntentEnd::Rejected && self.left(&ended.intent, now).is_some()
                || is_granted(&ended.intent);
            if is_old(&ended.at) || position < surplus && !counts {
                remove(&self.ended, &format!("{}.json", ended.intent.id))?;
            }
        }
        Ok(())
    }

    /// Checks that an intent has room. In a full store, intents whose time is over end first.
    pub(super) fn make_room(
        &self,
        waiting: &[IntentDocument],
        made: &IntentDocument,
        now: ApprovalTime,
    ) -> Result<(), ApprovalStoreError> {
        if room_for(made, waiting.iter()).is_ok() {
            return Ok(());
        }
        let records = self.records()?;
        let lives = |intent: &IntentDocument| {
            intent.content.policy == made.content.policy
                && (self.left(intent, now).is_some()
                    || records
                        .iter()
                        .any(|(_, record)| record.is_of(intent) && record.lives(intent, now).is_ok()))
        };
        let (live, over): (Vec<_>, Vec<_>) = waiting.iter().partition(|intent| lives(intent));
        for intent in over {
            self.expire(intent, now)?;
        }
        room_for(made, live.into_iter())
    }

    /// Ends an intent whose time is over. None of this has to reach the disk: the intent counts no more anyway.
    fn expire(&self, intent: &IntentDocument, now: ApprovalTime) -> Result<(), ApprovalStoreError> {
        let reason = Some("its time is over".to_owned());
        let ended = EndedIntent { reason, ..EndedIntent::new(intent, IntentEnd::Expired, now) };
        let name = format!("{}.json", intent.id);
        let written = self.ended.replace_unsynced(&name, ended.text().as_bytes());
        written.map_err(failed(&self.ended, &name, "written"))?;
        self.remove_pending_unsynced(intent)
    }
}

/// Checks the number of intents that wait beside a new one.
fn room_for<'i>(
    made: &IntentDocument,
    waiting: impl Iterator<Item = &'i IntentDocument> + Clone,
) -> Result<(), ApprovalStoreError> {
    let caller = &made.content.caller;
    let is_tool = |intent: &IntentDocument| intent.content.caller.kind != "apply";
    let is_same = |intent: &&IntentDocument| is_tool(intent) && intent.content.caller.uid == caller.uid;
    if is_tool(made) && waiting.clone().filter(is_same).count() >= MAX_PENDING_OF_USER {
        let user = escape_control(&caller.user).into_owned();
        return Err(ApprovalStoreError::FullForUser { user, limit: MAX_PENDING_OF_USER });
    }
    if waiting.count() >= MAX_PENDING {
        return Err(ApprovalStoreError::Full { limit: MAX_PENDING });
    }
    Ok(())
}
