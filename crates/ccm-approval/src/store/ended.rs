//! Intents that have ended: used, rejected, withdrawn, void or too late.

use ccm_model::{display_timestamp, escape_control};
use serde::{Deserialize, Serialize};

use super::{ApprovalStore, MAX_ENTRIES, failed, remove};
use crate::intent::{ApprovalTime, IntentDocument, is_id};
use crate::names::normalised;
use crate::refusal::{ApprovalRefusal, ApprovalStoreError};
use crate::statement::ApproverDecision;

/// Maximum length of the file of an ended intent.
const MAX_ENDED: u64 = 256 << 10;

/// Intent that has ended. Nothing can be approved any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedIntent {
    /// The intent.
    pub intent: IntentDocument,
    /// The way in which it ended.
    pub end: IntentEnd,
    /// People: the approvers of a used intent, or the one who rejected it.
    pub by: Vec<String>,
    /// Reason.
    pub reason: Option<String>,
    /// Time of the end.
    pub at: String,
    /// Signed statement of a rejection. The owner of the store rejects without one.
    pub signed: Option<String>,
}

/// Way in which an intent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentEnd {
    /// Its action was started.
    Used,
    /// An approver, or the owner of the store, has refused it.
    Rejected,
    /// Its caller has withdrawn it.
    Withdrawn,
    /// Something has changed since.
    Void,
    /// Its time was over, or the machine was started again.
    Expired,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndedFields {
    #[serde(rename = "type")]
    format: EndedFormat,
    end: IntentEnd,
    by: Vec<String>,
    reason: Option<String>,
    at: String,
    signed: Option<String>,
    intent: String,
}

#[derive(Serialize, Deserialize)]
enum EndedFormat {
    #[serde(rename = "ccm-ended/1")]
    First,
}

impl IntentEnd {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
            Self::Void => "void",
            Self::Expired => "expired",
        }
    }
}

impl EndedIntent {
    pub(super) fn new(intent: &IntentDocument, end: IntentEnd, now: ApprovalTime) -> Self {
        let (intent, at) = (intent.clone(), display_timestamp(now.wall, 1));
        Self { intent, end, by: Vec::new(), reason: None, at, signed: None }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let EndedFields { end, by, reason, at, signed, intent, .. } = serde_json::from_slice(bytes).ok()?;
        Some(Self { intent: IntentDocument::parse(&intent).ok()?, end, by, reason, at, signed })
    }

    pub(super) fn text(&self) -> String {
        let fields = EndedFields {
            format: EndedFormat::First,
            end: self.end,
            by: self.by.clone(),
            reason: self.reason.clone(),
            at: self.at.clone(),
            signed: self.signed.clone(),
            intent: self.intent.text(),
        };
        // Every key is a text, and no value refuses to be written.
        serde_json::to_string(&fields).unwrap_or_default() + "\n"
    }

    /// Returns the reason for which the intent can't be approved or used any more.
    pub fn refusal(&self) -> ApprovalRefusal {
        let id = self.intent.id.clone();
        let reason = || escape_control(self.reason.as_deref().unwrap_or_default()).into_owned();
        match self.end {
            IntentEnd::Used => ApprovalRefusal::AlreadyUsed { id },
            IntentEnd::Rejected => {
                ApprovalRefusal::Rejected { id, approver: self.by.join(", "), reason: reason() }
            }
            IntentEnd::Withdrawn => ApprovalRefusal::Withdrawn { id },
            IntentEnd::Void => ApprovalRefusal::Void { id, reason: reason() },
            IntentEnd::Expired => ApprovalRefusal::IntentExpired { id, expires: self.intent.expires.clone() },
        }
    }
}

impl ApprovalStore {
    /// Returns the intents that have ended in the last days, in the order of their requests.
    pub fn ended(&self) -> Result<Vec<EndedIntent>, ApprovalStoreError> {
        let names = self.ended.some_names(MAX_ENTRIES).map_err(failed(&self.ended, "", "read"))?;
        // An id begins with its time.
        Ok(names.iter().filter_map(|name| self.ended_intent(name.strip_suffix(".json")?)).collect())
    }

    pub(super) fn ended_intent(&self, id: &str) -> Option<EndedIntent> {
        let name = format!("{id}.json");
        let (bytes, _) = is_id(id).then(|| self.ended.read_foreign(&name, MAX_ENDED).ok())??;
        EndedIntent::parse(&bytes).filter(|ended| ended.intent.id == id)
    }

    /// Ends an intent that waits, with everything that approvers have signed for it.
    pub fn end(
        &self,
        intent: &IntentDocument,
        end: IntentEnd,
        reason: Option<String>,
        now: ApprovalTime,
    ) -> Result<(), ApprovalRefusal> {
        let _lock = self.lock()?;
        self.still_waits(intent)?;
        Ok(self.write_end(&EndedIntent { reason, ..EndedIntent::new(intent, end, now) })?)
    }

    /// Rejects an intent as the owner of the store, who could remove it as well. A refusal gives nobody a right, so that
    /// it needs no signature; whoever is not the owner signs a statement.
    pub fn reject(
        &self,
        intent: &IntentDocument,
        by: &str,
        reason: &str,
        now: ApprovalTime,
    ) -> Result<(), ApprovalRefusal> {
        let _lock = self.lock()?;
        self.still_waits(intent)?;
        Ok(self.write_rejection(intent, by, reason, now)?)
    }

    /// Finds the intent of a grant that was used already, by its code or its id.
    pub fn used_grant(&self, name: &str) -> Result<Option<IntentDocument>, ApprovalStoreError> {
        let typed = normalised(name);
        let grants = self.records()?.into_iter().filter(|(_, record)| record.is_grant());
        let intents = grants.filter_map(|(_, record)| record.statement.document().ok());
        let named = intents.filter(|intent| intent.code == typed || intent.id == typed);
        // A code may be that of another intent later: the last one is meant.
        Ok(named.max_by(|a, b| a.id.cmp(&b.id)))
    }

    /// Takes back a grant that was used already, as the owner of the store. No use is left then.
    pub fn take_back(
        &self,
        intent: &IntentDocument,
        by: &str,
        reason: &str,
        now: ApprovalTime,
    ) -> Result<(), ApprovalRefusal> {
        let _lock = self.lock()?;
        Ok(self.write_rejection(intent, by, reason, now)?)
    }

    fn write_rejection(
        &self,
        intent: &IntentDocument,
        by: &str,
        reason: &str,
        now: ApprovalTime,
    ) -> Result<(), ApprovalStoreError> {
        let (by, reason) = (vec![by.to_owned()], Some(reason.to_owned()));
        self.write_end(&EndedIntent { by, reason, ..EndedIntent::new(intent, IntentEnd::Rejected, now) })
    }

    pub(super) fn write_end(&self, ended: &EndedIntent) -> Result<(), ApprovalStoreError> {
        let name = format!("{}.json", ended.intent.id);
        let written = self.ended.replace(&name, ended.text().as_bytes());
        written.map_err(failed(&self.ended, &name, "written"))?;
        self.remove_pending(&ended.intent)?;
        // A grant for a rule is not for this intent alone, and only a rejection takes it back.
        let keeps_rules = matches!(ended.end, IntentEnd::Void | IntentEnd::Expired);
        for (name, record) in self.records()? {
            let is_kept = keeps_rules && matches!(record.statement.decision, ApproverDecision::GrantRule(_));
            if record.is_of(&ended.intent) && !is_kept {
                remove(&self.approved, &name)?;
            }
        }
        Ok(())
    }
}
