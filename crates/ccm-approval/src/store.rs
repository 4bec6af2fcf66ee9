//! Store of intents that wait for approvals.

mod import;
mod ledger;
mod record;
mod usage;

use std::io;
use std::path::Path;
use std::time::Duration;

use ccm_host::state::{Directory, WriteLock};
use ccm_host::{random, random_secret};
use ccm_model::parse_timestamp;

pub use import::{ApprovalContext, ImportedStatement, InboxEntry};
pub use record::ApprovalRecord;
pub use usage::UsedApproval;

use crate::environment_salt::EnvironmentSalt;
use crate::intent::{ApprovalMachine, ApprovalTime, IntentContent, IntentDocument, MAX_INTENT, milliseconds};
use crate::names::{new_code, new_id, normalised};
use crate::own_key::{IntentKey, IntentKeyError};
use crate::refusal::{ApprovalRefusal, ApprovalStoreError};
use crate::statement::{ApprovalStatement, ApproverDecision, StatementError};
use ledger::UseLedger;
use record::read_record;

const LOCK: &str = "lock";
const KEY: &str = "key";
const PUBLIC_KEY: &str = "key.pub";
const SALT: &str = "salt";
const PENDING: &str = "pending";
const APPROVED: &str = "approved";
const USED: &str = "used";
const REJECTED: &str = "rejected";
const INBOX: &str = "inbox";
/// Maximum number of intents that wait.
const MAX_PENDING: usize = 1000;
/// Maximum number of entries of a directory that are read.
const MAX_ENTRIES: usize = 10_000;
/// Maximum length of a small file.
const MAX_SMALL: u64 = 16 << 10;
/// Time after its end for which an intent is kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Store of intents and approvals of a machine. Several programs may have it open.
pub struct ApprovalStore {
    root: Directory,
    pending: Directory,
    approved: Directory,
    used: Directory,
    rejected: Directory,
    key: IntentKey,
    salt: EnvironmentSalt,
    machine: ApprovalMachine,
    group: Option<u32>,
}

/// Intent that waits, or has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingIntent {
    /// The intent.
    pub intent: IntentDocument,
    /// Principals who have approved, as they were when they did.
    pub approved_by: Vec<String>,
    /// Time that is left; `None` if the intent has ended.
    pub left: Option<Duration>,
    /// The clock was set back after the intent was made. The time since the boot counts.
    pub clock_set_back: bool,
}

/// Content of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingIntents {
    /// Intents that wait, the oldest first.
    pub intents: Vec<WaitingIntent>,
    /// Names of files that are no intents of this machine, which are ignored.
    pub rubbish: Vec<String>,
}

impl ApprovalStore {
    /// Opens the store, and makes a missing one. The group, if there is one, may read waiting intents and put signed
    /// statements into the inbox.
    pub fn open(
        path: &Path,
        machine: ApprovalMachine,
        group: Option<u32>,
    ) -> Result<Self, ApprovalStoreError> {
        let root = Directory::open_private(path)?;
        let lock = WriteLock::take(&root, LOCK).map_err(failed(&root, LOCK, "locked"))?;
        let make = |name: &'static str| root.make(name).map_err(failed(&root, name, "made"));
        let (pending, inbox) = (make(PENDING)?, make(INBOX)?);
        let (approved, used, rejected) = (make(APPROVED)?, make(USED)?, make(REJECTED)?);
        if let Some(group) = group {
            for (directory, mode) in [(&root, 0o750), (&pending, 0o750), (&inbox, 0o1730)] {
                directory.share(group, mode).map_err(failed(&root, "", "shared"))?;
            }
        }
        let key = key(&root, group)?;
        let salt = salt(&root)?;
        drop(lock);
        let store = Self { root, pending, approved, used, rejected, key, salt, machine, group };
        Ok(store)
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Returns the salt of the hashes of variables.
    pub fn salt(&self) -> &EnvironmentSalt {
        &self.salt
    }

    /// Returns the key that signs intents.
    pub fn key(&self) -> &IntentKey {
        &self.key
    }

    /// Adds an intent, signed and synced. If one that asks for the same waits already, or is approved, it is returned.
    pub fn request(
        &self,
        content: IntentContent,
        pending: Duration,
        now: ApprovalTime,
    ) -> Result<IntentDocument, ApprovalStoreError> {
        let lock = self.lock()?;
        self.remove_old(now)?;
        let waiting = self.read_pending()?.0;
        let id = new_id(now.wall, random());
        let mut code = new_code(random());
        while waiting.iter().any(|intent| intent.code == code) {
            code = new_code(random());
        }
        let made = IntentDocument::new(id, code, content, pending, &self.machine, now)?;
        let records = self.records()?;
        let lives = |intent: &&IntentDocument| {
            intent.asks_the_same(&made)
                && (self.left(intent, now).is_some()
                    || records
                        .iter()
                        .any(|(_, record)| record.is_of(intent) && record.lives(intent, now).is_ok()))
        };
        if let Some(intent) = waiting.iter().find(lives) {
            return Ok(intent.clone());
        }
        if waiting.len() >= MAX_PENDING {
            return Err(ApprovalStoreError::Full { limit: MAX_PENDING });
        }
        let text = made.text();
        let signature = self.key.sign(&text).map_err(|source| key_error(&self.root, source))?;
        // The intent counts from the moment at which its own file is there.
        self.write(&self.pending, &format!("{}.sig", made.id), signature.as_bytes())?;
        self.write(&self.pending, &format!("{}.json", made.id), text.as_bytes())?;
        drop(lock);
        Ok(made)
    }

    /// Returns the intents that wait, also those that have ended and were not removed yet.
    pub fn waiting(&self, now: ApprovalTime) -> Result<WaitingIntents, ApprovalStoreError> {
        let (intents, rubbish) = self.read_pending()?;
        let records = self.records()?;
        let waiting = |intent: IntentDocument| WaitingIntent {
            approved_by: (records.iter().filter(|(_, record)| record.is_of(&intent)))
                .map(|(_, record)| record.principal.clone())
                .collect(),
            left: self.left(&intent, now).filter(|_| intent.boot == self.machine.boot),
            clock_set_back: parse_timestamp(&intent.created).is_some_and(|created| now.wall < created),
            intent,
        };
        Ok(WaitingIntents { intents: intents.into_iter().map(waiting).collect(), rubbish })
    }

    /// Finds an intent by its code or its id, as a person types it.
    pub fn find(&self, name: &str) -> Result<IntentDocument, ApprovalRefusal> {
        let typed = normalised(name);
        let intents = self.read_pending()?.0;
        let mut found = intents.into_iter().filter(|intent| intent.code == typed || intent.id == typed);
        match (found.next(), found.next()) {
            (Some(intent), None) => Ok(intent),
            // Codes of intents that wait differ.
            _ => Err(ApprovalRefusal::NotPending { name: name.to_owned() }),
        }
    }

    /// Makes the statement that an approver signs. `until` is the last moment at which it can be used.
    pub fn statement(
        intent: &IntentDocument,
        decision: ApproverDecision,
        approver: Option<String>,
        (uses, reason): (u32, Option<String>),
        until: std::time::SystemTime,
    ) -> Result<ApprovalStatement, StatementError> {
        let statement = ApprovalStatement {
            decision,
            approver,
            reason,
            not_after: ccm_model::display_timestamp(until, 0),
            uses,
            nonce: format!("{:032x}", random()),
            intent: intent.text(),
        };
        statement.text().map(|_| statement)
    }

    /// Reads an intent that waits, exactly as ccm has signed it.
    fn pending_intent(&self, id: &str) -> Result<IntentDocument, ApprovalRefusal> {
        let not_pending = || ApprovalRefusal::NotPending { name: id.to_owned() };
        if !crate::intent::is_id(id) {
            return Err(not_pending());
        }
        let text = match self.pending.read_foreign(&format!("{id}.json"), MAX_INTENT as u64) {
            Ok((bytes, _)) => String::from_utf8(bytes).map_err(|_| forged(id))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.ended(id).unwrap_or_else(not_pending));
            }
            Err(error) => return Err(failed(&self.pending, id, "read")(error).into()),
        };
        let signature = self.pending.read_foreign(&format!("{id}.sig"), MAX_SMALL);
        let signature = signature.ok().and_then(|(bytes, _)| String::from_utf8(bytes).ok());
        let is_ours = signature.is_some_and(|signature| self.key.has_signed(&text, &signature));
        let intent = IntentDocument::parse(&text).ok().filter(|intent| intent.id == id && is_ours);
        intent.ok_or_else(|| forged(id))
    }

    /// Returns the reason for which an intent does not wait any more.
    fn ended(&self, id: &str) -> Option<ApprovalRefusal> {
        if self.used.size(&format!("{id}.json")).is_ok() {
            return Some(ApprovalRefusal::AlreadyUsed { id: id.to_owned() });
        }
        let name = format!("{id}.rejected");
        let (bytes, _) = self.rejected.read_foreign(&name, record::MAX_RECORD).ok()?;
        let record =
            read_record(&bytes).filter(|record| record.statement.decision == ApproverDecision::Reject);
        record.map(|record| record.rejection(id))
    }

    /// Checks that an intent belongs to this machine, this boot and this policy.
    fn belongs_here(&self, intent: &IntentDocument, policy: &str) -> Result<(), ApprovalRefusal> {
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
    fn left(&self, intent: &IntentDocument, now: ApprovalTime) -> Option<Duration> {
        if intent.boot != self.machine.boot {
            return None;
        }
        let passed = milliseconds(now.since_boot).checked_sub(intent.uptime_ms)?;
        let by_boot = intent.pending().checked_sub(Duration::from_millis(passed))?;
        let by_wall = parse_timestamp(&intent.expires)?.duration_since(now.wall).ok()?;
        Some(by_boot.min(by_wall)).filter(|left| !left.is_zero())
    }

    /// Reads all intents that wait, and the names of other files.
    fn read_pending(&self) -> Result<(Vec<IntentDocument>, Vec<String>), ApprovalStoreError> {
        let names = self.pending.some_names(MAX_ENTRIES).map_err(failed(&self.pending, "", "read"))?;
        let ledger = UseLedger::read(&self.root, &self.machine.boot)?;
        let (mut intents, mut rubbish) = (Vec::new(), Vec::new());
        for name in names {
            let id = name.strip_suffix(".json").filter(|id| crate::intent::is_id(id));
            let intent = id.map(|id| self.pending_intent(id));
            match intent {
                // A program was killed after it had used the intent, before it moved the file.
                Some(Ok(intent)) if ledger.has(&intent.id) => {}
                Some(Ok(intent)) => intents.push(intent),
                // A signature stands beside its intent, and is there before it.
                None if name.strip_suffix(".sig").is_some_and(crate::intent::is_id) => {}
                None if name.starts_with('.') => {}
                Some(Err(ApprovalRefusal::NotPending { .. } | ApprovalRefusal::AlreadyUsed { .. })) => {}
                _ => rubbish.push(name),
            }
        }
        intents.sort_by(|a: &IntentDocument, b| (a.uptime_ms, &a.id).cmp(&(b.uptime_ms, &b.id)));
        Ok((intents, rubbish))
    }

    /// Removes what ended long ago.
    fn remove_old(&self, now: ApprovalTime) -> Result<(), ApprovalStoreError> {
        let is_old = |expires: &str| {
            parse_timestamp(expires)
                .is_none_or(|expires| now.wall.duration_since(expires).is_ok_and(|passed| passed > KEPT))
        };
        for intent in self.read_pending()?.0.iter().filter(|intent| is_old(&intent.expires)) {
            self.remove(&self.pending, &format!("{}.json", intent.id))?;
            self.remove(&self.pending, &format!("{}.sig", intent.id))?;
        }
        for (name, record) in self.records()? {
            if is_old(&record.statement.not_after) {
                self.remove(&self.approved, &name)?;
            }
        }
        for directory in [&self.used, &self.rejected] {
            for name in directory.some_names(MAX_ENTRIES).map_err(failed(directory, "", "read"))? {
                let old = |bytes: &[u8]| {
                    let text = std::str::from_utf8(bytes).ok()?;
                    let record = || Some(read_record(bytes)?.statement.not_after);
                    let intent = || Some(IntentDocument::parse(text).ok()?.expires);
                    Some(is_old(&intent().or_else(record)?))
                };
                let read = directory.read_foreign(&name, record::MAX_RECORD);
                if read.is_ok_and(|(bytes, _)| old(&bytes) == Some(true)) {
                    self.remove(directory, &name)?;
                }
            }
        }
        Ok(())
    }

    fn remove(&self, directory: &Directory, name: &str) -> Result<(), ApprovalStoreError> {
        match directory.remove_file(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result.map_err(failed(&self.root, name, "removed")),
        }
    }

    fn write(&self, directory: &Directory, name: &str, content: &[u8]) -> Result<(), ApprovalStoreError> {
        let written = match self.group {
            Some(group) => directory.replace_for_group(name, content, group),
            None => directory.replace(name, content),
        };
        written.map_err(failed(directory, name, "written"))
    }

    fn lock(&self) -> Result<WriteLock, ApprovalStoreError> {
        WriteLock::take(&self.root, LOCK).map_err(failed(&self.root, LOCK, "locked"))
    }
}

fn forged(id: &str) -> ApprovalRefusal {
    ApprovalRefusal::ForgedIntent { id: id.to_owned() }
}

/// Reads the key of ccm, or makes it.
fn key(root: &Directory, group: Option<u32>) -> Result<IntentKey, ApprovalStoreError> {
    let failed_key = |source| key_error(root, source);
    match root.read_foreign(KEY, MAX_SMALL) {
        Ok((bytes, _)) => {
            root.only_ours(KEY).map_err(failed(root, KEY, "used"))?;
            let text = String::from_utf8(bytes).map_err(|_| failed_key(IntentKeyError::NoKey))?;
            IntentKey::parse(&text).map_err(failed_key)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = IntentKey::generate().map_err(failed_key)?;
            let public = format!("{}\n", key.public());
            let written = match group {
                Some(group) => root.replace_for_group(PUBLIC_KEY, public.as_bytes(), group),
                None => root.replace(PUBLIC_KEY, public.as_bytes()),
            };
            written.map_err(failed(root, PUBLIC_KEY, "written"))?;
            let file = key.file().map_err(failed_key)?;
            root.replace(KEY, file.as_bytes()).map_err(failed(root, KEY, "written"))?;
            Ok(key)
        }
        Err(error) => Err(failed(root, KEY, "read")(error)),
    }
}

fn key_error(root: &Directory, source: IntentKeyError) -> ApprovalStoreError {
    ApprovalStoreError::Key { path: root.path().join(KEY), source }
}

/// Reads the salt, or makes it.
fn salt(root: &Directory) -> Result<EnvironmentSalt, ApprovalStoreError> {
    match root.read_foreign(SALT, 32) {
        Ok((bytes, _)) => {
            root.only_ours(SALT).map_err(failed(root, SALT, "used"))?;
            let secret = bytes.try_into().map_err(|_| io::ErrorKind::InvalidData.into());
            secret.map(EnvironmentSalt::new).map_err(failed(root, SALT, "used"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let secret: [u8; 32] = random_secret().map_err(failed(root, SALT, "made"))?;
            root.replace(SALT, &secret).map_err(failed(root, SALT, "written"))?;
            Ok(EnvironmentSalt::new(secret))
        }
        Err(error) => Err(failed(root, SALT, "read")(error)),
    }
}

fn failed(
    directory: &Directory,
    name: &str,
    verb: &'static str,
) -> impl FnOnce(io::Error) -> ApprovalStoreError + use<> {
    let path = directory.path().join(name);
    move |source| ApprovalStoreError::File { path, verb, source }
}
