//! Intents that wait, exactly as ccm has signed them.

use std::io;
use std::time::Duration;

use ccm_host::state::Directory;
use ccm_model::parse_timestamp;

use super::ledger::UseLedger;
use super::{ApprovalStore, CALLS, EXPORTED, MAX_ENTRIES, MAX_SMALL, failed, remove, secrets};
use crate::intent::{ApprovalTime, IntentDocument, MAX_INTENT, is_id, milliseconds};
use crate::names::normalised;
use crate::refusal::{ApprovalRefusal, ApprovalStoreError};

/// Maximum length of what a tool keeps with an intent.
const MAX_CALL: usize = 1 << 20;

impl ApprovalStore {
    /// Finds an intent by its code or its id, as a person types it. The refusal of one that has ended says how.
    pub fn find(&self, name: &str) -> Result<IntentDocument, ApprovalRefusal> {
        let typed = normalised(name);
        let is_named = |intent: &IntentDocument| intent.code == typed || intent.id == typed;
        let intents = self.read_pending()?.0;
        let mut found = intents.into_iter().filter(is_named);
        if let (Some(intent), None) = (found.next(), found.next()) {
            return Ok(intent);
        }
        // A code may be that of another intent later: the last one is meant.
        let ended = self.ended()?.into_iter().rev().find(|ended| is_named(&ended.intent));
        Err(ended.map_or_else(|| ApprovalRefusal::NotPending { name: name.to_owned() }, |end| end.refusal()))
    }

    /// Keeps a text with an intent that waits, such as the input of its call. Only the owner of the store reads it.
    pub fn keep_call(&self, intent: &IntentDocument, text: &str) -> Result<(), ApprovalStoreError> {
        let calls = self.root.make(CALLS).map_err(failed(&self.root, CALLS, "made"))?;
        let name = format!("{}.json", intent.id);
        let written = if text.len() > MAX_CALL {
            Err(io::ErrorKind::FileTooLarge.into())
        } else {
            calls.replace(&name, text.as_bytes())
        };
        written.map_err(failed(&calls, &name, "written"))
    }

    /// Returns the text that was kept with an intent; `None` if there is none.
    pub fn kept_call(&self, intent: &IntentDocument) -> Option<String> {
        let calls = self.root.enter(CALLS).ok()?;
        let (bytes, _) = calls.read_foreign(&format!("{}.json", intent.id), MAX_CALL as u64).ok()?;
        String::from_utf8(bytes).ok()
    }

    pub(super) fn add_pending(&self, made: &IntentDocument) -> Result<(), ApprovalStoreError> {
        let text = made.text();
        let signature = self.key.sign(&text).map_err(|source| secrets::key_error(&self.root, source))?;
        // The intent counts from the moment at which its own file is there.
        self.write(&self.pending, &format!("{}.sig", made.id), signature.as_bytes())?;
        self.write(&self.pending, &format!("{}.json", made.id), text.as_bytes())
    }

    /// Reads an intent that waits.
    pub(super) fn pending_intent(&self, id: &str) -> Result<IntentDocument, ApprovalRefusal> {
        let not_pending = || ApprovalRefusal::NotPending { name: id.to_owned() };
        if !is_id(id) {
            return Err(not_pending());
        }
        let text = match self.pending.read_foreign(&format!("{id}.json"), MAX_INTENT as u64) {
            Ok((bytes, _)) => String::from_utf8(bytes).map_err(|_| forged(id))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.ended_intent(id).map_or_else(not_pending, |ended| ended.refusal()));
            }
            Err(error) => return Err(failed(&self.pending, id, "read")(error).into()),
        };
        let signature = self.pending.read_foreign(&format!("{id}.sig"), MAX_SMALL);
        let signature = signature.ok().and_then(|(bytes, _)| String::from_utf8(bytes).ok());
        let is_ours = signature.is_some_and(|signature| self.key.has_signed(&text, &signature));
        let intent = IntentDocument::parse(&text).ok().filter(|intent| intent.id == id && is_ours);
        intent.ok_or_else(|| forged(id))
    }

    /// Checks that an intent still waits as it was read.
    pub(super) fn still_waits(&self, intent: &IntentDocument) -> Result<(), ApprovalRefusal> {
        let id = &intent.id;
        match self.pending.read_foreign(&format!("{id}.json"), MAX_INTENT as u64) {
            Ok((bytes, _)) if bytes == intent.text().as_bytes() => Ok(()),
            _ => self.pending_intent(id).map(drop),
        }
    }

    /// Checks that an intent belongs to this machine, this boot and this policy.
    pub(super) fn belongs_here(&self, intent: &IntentDocument, policy: &str) -> Result<(), ApprovalRefusal> {
        let id = || intent.id.clone();
        if intent.machine != self.machine.id {
            return Err(ApprovalRefusal::OtherMachine { found: intent.machine.clone() });
        }
        if intent.boot != self.machine.boot {
            return Err(ApprovalRefusal::OtherBoot { id: id() });
        }
        if intent.content.policy != policy {
            return Err(ApprovalRefusal::PolicyChanged { id: id() });
        }
        Ok(())
    }

    /// Returns the time that is left for approvals, by the clock that ends first.
    pub(super) fn left(&self, intent: &IntentDocument, now: ApprovalTime) -> Option<Duration> {
        if intent.boot != self.machine.boot {
            return None;
        }
        // Another program may have added it after this one looked at the clock.
        let passed = milliseconds(now.since_boot).saturating_sub(intent.uptime_ms);
        let by_boot = intent.pending().checked_sub(Duration::from_millis(passed))?;
        let by_wall = parse_timestamp(&intent.expires)?.duration_since(now.wall).ok()?;
        Some(by_boot.min(by_wall)).filter(|left| !left.is_zero())
    }

    /// Reads all intents that wait, the oldest first, and the names of other files.
    pub(super) fn read_pending(&self) -> Result<(Vec<IntentDocument>, Vec<String>), ApprovalStoreError> {
        let names = self.pending.some_names(MAX_ENTRIES).map_err(failed(&self.pending, "", "read"))?;
        let ledger = UseLedger::read(&self.root, &self.machine.boot)?;
        let (mut intents, mut rubbish) = (Vec::new(), Vec::new());
        for name in names {
            let id = name.strip_suffix(".json").filter(|id| is_id(id));
            let intent = id.map(|id| self.pending_intent(id));
            match intent {
                // A program was killed after it had used the intent, before it removed the file.
                Some(Ok(intent)) if ledger.has(&intent.id) => {}
                Some(Ok(intent)) => intents.push(intent),
                // A signature stands beside its intent, and is there before it.
                None if name.strip_suffix(".sig").is_some_and(is_id) => {}
                None if name.starts_with('.') => {}
                Some(Err(ApprovalRefusal::ForgedIntent { .. } | ApprovalRefusal::Store(_))) | None => {
                    rubbish.push(name);
                }
                // It ended while the names were read.
                Some(Err(_)) => {}
            }
        }
        intents.sort_by(|a: &IntentDocument, b| (&a.id[..10], a.uptime_ms).cmp(&(&b.id[..10], b.uptime_ms)));
        Ok((intents, rubbish))
    }

    /// Removes an intent that waits, and what was kept with it, without waiting for the disk.
    pub(super) fn remove_pending_unsynced(&self, intent: &IntentDocument) -> Result<(), ApprovalStoreError> {
        let remove = |directory: &Directory, name: &str| {
            directory.remove_unsynced(name).map_err(failed(directory, name, "removed"))
        };
        let json = format!("{}.json", intent.id);
        remove(&self.pending, &json)?;
        remove(&self.pending, &format!("{}.sig", intent.id))?;
        for directory in [CALLS, EXPORTED].iter().filter_map(|name| self.root.enter(name).ok()) {
            remove(&directory, &json)?;
        }
        Ok(())
    }

    /// Removes an intent that waits, and what was kept with it.
    pub(super) fn remove_pending(&self, intent: &IntentDocument) -> Result<(), ApprovalStoreError> {
        let (json, signature) = (format!("{}.json", intent.id), format!("{}.sig", intent.id));
        remove(&self.pending, &json)?;
        remove(&self.pending, &signature)?;
        for name in [CALLS, EXPORTED] {
            if let Ok(directory) = self.root.enter(name) {
                remove(&directory, &json)?;
            }
        }
        Ok(())
    }
}

pub(super) fn forged(id: &str) -> ApprovalRefusal {
    ApprovalRefusal::ForgedIntent { id: id.to_owned() }
}
