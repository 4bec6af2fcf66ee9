//! Statements to sign on another machine.

use super::import::{ApprovalContext, ImportedStatement};
use super::{ApprovalStore, EXPORTED, failed};
use crate::intent::{ApprovalTime, IntentDocument};
use crate::refusal::ApprovalRefusal;
use crate::statement::{ApproverDecision, MAX_SIGNED_STATEMENT, SignedStatement, StatementError};

impl ApprovalStore {
    /// Returns the statement to sign on another machine, always the same for one intent.
    pub fn export(&self, intent: &IntentDocument, now: ApprovalTime) -> Result<String, ApprovalRefusal> {
        let _lock = self.lock()?;
        self.still_waits(intent)?;
        if let Some(text) = self.exported(intent) {
            return Ok(text);
        }
        // The approval can be used for its time after it came in, whenever that is.
        let valid = std::time::Duration::from_millis(intent.content.valid_ms);
        let until = now.wall.checked_add(intent.pending() + valid).unwrap_or(now.wall);
        let made = Self::statement(intent, ApproverDecision::Approve, None, (1, None), until)?;
        let text = made.text()?;
        let directory = self.root.make(EXPORTED).map_err(failed(&self.root, EXPORTED, "made"))?;
        let name = format!("{}.json", intent.id);
        let written = directory.replace(&name, text.as_bytes());
        written.map_err(failed(&directory, &name, "written"))?;
        Ok(text)
    }

    fn exported(&self, intent: &IntentDocument) -> Option<String> {
        let directory = self.root.enter(EXPORTED).ok()?;
        let name = format!("{}.json", intent.id);
        let (bytes, _) = directory.read_foreign(&name, MAX_SIGNED_STATEMENT as u64).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// Accepts a signature of the exported statement of an intent.
    pub fn import_signature(
        &self,
        intent: &IntentDocument,
        signature: String,
        context: &ApprovalContext<'_>,
    ) -> Result<ImportedStatement, ApprovalRefusal> {
        let text = self.exported(intent);
        let text = text.ok_or_else(|| ApprovalRefusal::NotExported { id: intent.id.clone() })?;
        let signed = SignedStatement { text, signature }.content();
        if signed.len() > MAX_SIGNED_STATEMENT {
            return Err(StatementError::TooLong { limit: MAX_SIGNED_STATEMENT }.into());
        }
        self.import(&signed, None, context)
    }
}
