//! Store of intents that wait for approvals.

mod ended;
mod export;
mod import;
mod ledger;
mod list;
mod pending;
mod record;
mod room;
mod secrets;
mod usage;

use std::io;
use std::path::Path;
use std::time::Duration;

use ccm_host::random;
use ccm_host::state::{Directory, WriteLock};

pub use ended::{EndedIntent, IntentEnd};
pub use import::{ApprovalContext, ImportedStatement, InboxEntry, StatementRecorder};
pub use list::{ApprovalState, ListedIntent, ListedIntents};
pub use record::ApprovalRecord;
pub use usage::{GrantUse, UsedApproval};

use crate::environment_salt::EnvironmentSalt;
use crate::intent::{ApprovalMachine, ApprovalTime, IntentContent, IntentDocument};
use crate::intent_key::IntentKey;
use crate::names::{new_code, new_id};
use crate::refusal::ApprovalStoreError;
use crate::screen::ApprovalScreen;
use crate::statement::{ApprovalStatement, ApproverDecision, StatementError};

const LOCK: &str = "lock";
const PENDING: &str = "pending";
const APPROVED: &str = "approved";
const ENDED: &str = "ended";
const EXPORTED: &str = "exported";
const CALLS: &str = "calls";
const INBOX: &str = "inbox";
/// Maximum number of entries of a directory that are read.
const MAX_ENTRIES: usize = 10_000;
/// Maximum length of a small file.
const MAX_SMALL: u64 = 16 << 10;

/// Store of intents and approvals of a machine. Several programs may have it open.
pub struct ApprovalStore {
    root: Directory,
    pending: Directory,
    approved: Directory,
    ended: Directory,
    key: IntentKey,
    salt: EnvironmentSalt,
    machine: ApprovalMachine,
    group: Option<u32>,
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
        let (approved, ended) = (make(APPROVED)?, make(ENDED)?);
        if let Some(group) = group {
            for (directory, mode) in [(&root, 0o750), (&pending, 0o750), (&inbox, 0o1730)] {
                directory.share(group, mode).map_err(failed(directory, "", "shared"))?;
            }
            // The group may be younger than the store.
            let names = pending.names().map_err(failed(&pending, "", "read"))?;
            for (directory, name) in
                names.iter().map(|name| (&pending, &**name)).chain([(&root, secrets::PUBLIC_KEY)])
            {
                match directory.share_file(name, group) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    shared => shared.map_err(failed(directory, name, "shared"))?,
                }
            }
        }
        let key = secrets::make_key(&root, group)?;
        let salt = secrets::make_salt(&root)?;
        drop(lock);
        Ok(Self { root, pending, approved, ended, key, salt, machine, group })
    }

    /// Opens a store to look at it; `None` if there is none yet. Nothing is made, and nothing should be written.
    pub fn open_existing(path: &Path, machine: ApprovalMachine) -> Result<Option<Self>, ApprovalStoreError> {
        let Some(root) = Directory::open(path)? else { return Ok(None) };
        let enter = |name: &'static str| match root.enter(name) {
            Ok(directory) => Ok(Some(directory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&root, name, "read")(error)),
        };
        // A program that makes the store may not have come to each part.
        let (Some(pending), Some(approved), Some(ended)) = (enter(PENDING)?, enter(APPROVED)?, enter(ENDED)?)
        else {
            return Ok(None);
        };
        let (Some(key), Some(salt)) = (secrets::read_key(&root)?, secrets::read_salt(&root)?) else {
            return Ok(None);
        };
        Ok(Some(Self { root, pending, approved, ended, key, salt, machine, group: None }))
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
        let mut waiting = self.read_pending()?.0;
        self.remove_old(&mut waiting, now)?;
        let made = self.draft(content, pending, now, &waiting)?;
        ApprovalScreen::of(&made)?;
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
        self.make_room(&waiting, &made, now)?;
        self.add_pending(&made)?;
        drop(lock);
        Ok(made)
    }

    /// Makes an intent that is not stored. Its code differs from those that wait.
    pub(crate) fn draft(
        &self,
        content: IntentContent,
        pending: Duration,
        now: ApprovalTime,
        waiting: &[IntentDocument],
    ) -> Result<IntentDocument, ApprovalStoreError> {
        let id = new_id(now.wall, random());
        let mut code = new_code(random());
        while waiting.iter().any(|intent| intent.code == code) {
            code = new_code(random());
        }
        Ok(IntentDocument::new(id, code, content, pending, &self.machine, now)?)
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
            not_after: ccm_model::display_timestamp(until, 1),
            uses,
            nonce: format!("{:032x}", random()),
            intent: intent.text(),
        };
        statement.text().map(|_| statement)
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

fn remove(directory: &Directory, name: &str) -> Result<(), ApprovalStoreError> {
    match directory.remove_file(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.map_err(failed(directory, name, "removed")),
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
