//! The store as members of the group of approvers see it.

use std::io;
use std::path::{Path, PathBuf};

use ccm_host::create_file;
use ccm_host::state::Directory;
use ccm_sshsig::{SshKey, SshSignature};

use crate::intent::{INTENT_NAMESPACE, IntentDocument, MAX_INTENT, is_id};
use crate::names::normalised;
use crate::refusal::{ApprovalRefusal, ApprovalStoreError};
use crate::statement::{ApprovalStatement, SignedStatement};

const MAX_NAMES: usize = 10_000;
const MAX_SMALL: u64 = 16 << 10;

/// Waiting intents, to be read and approved without the rights of root.
pub struct PendingReader {
    path: PathBuf,
    pending: Directory,
    key: SshKey,
}

impl PendingReader {
    /// Opens a store; `None` if there is none.
    pub fn open(path: &Path) -> Result<Option<Self>, ApprovalStoreError> {
        let Some(root) = Directory::open(path)? else { return Ok(None) };
        let failed = |name: &str, source| file_error(path, name, "read", source);
        let key = match root.read_foreign("key.pub", MAX_SMALL) {
            Ok((bytes, _)) => SshKey::parse(&String::from_utf8_lossy(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("key.pub", error)),
        };
        let key = key.ok_or_else(|| failed("key.pub", io::ErrorKind::InvalidData.into()))?;
        let pending = root.enter("pending").map_err(|error| failed("pending", error))?;
        Ok(Some(Self { path: path.to_owned(), pending, key }))
    }

    /// Returns the intents that wait and that ccm has signed, the oldest first.
    pub fn waiting(&self) -> Result<Vec<IntentDocument>, ApprovalStoreError> {
        let names = self.pending.some_names(MAX_NAMES);
        let names = names.map_err(|error| file_error(&self.path, "pending", "read", error))?;
        let ids = names.iter().filter_map(|name| name.strip_suffix(".json")).filter(|id| is_id(id));
        let mut intents: Vec<_> = ids.filter_map(|id| self.intent(id)).collect();
        intents.sort_by(|a, b| (a.uptime_ms, &a.id).cmp(&(b.uptime_ms, &b.id)));
        Ok(intents)
    }

    /// Finds an intent by its code or its id, as a person types it.
    pub fn find(&self, name: &str) -> Result<IntentDocument, ApprovalRefusal> {
        let typed = normalised(name);
        let found = self.waiting()?.into_iter().find(|intent| intent.code == typed || intent.id == typed);
        found.ok_or_else(|| ApprovalRefusal::NotPending { name: name.to_owned() })
    }

    /// Puts a signed statement into the inbox. Whether it is accepted is seen when ccm reads it.
    pub fn submit(&self, signed: &SignedStatement) -> Result<(), ApprovalRefusal> {
        let statement = ApprovalStatement::parse(&signed.text)?;
        let name = format!("inbox/{}", statement.nonce);
        let written = create_file(&self.path.join(&name), signed.content().as_bytes());
        Ok(written.map_err(|error| file_error(&self.path, &name, "written", error))?)
    }

    fn intent(&self, id: &str) -> Option<IntentDocument> {
        let read =
            |name: String, limit| String::from_utf8(self.pending.read_foreign(&name, limit).ok()?.0).ok();
        let text = read(format!("{id}.json"), MAX_INTENT as u64)?;
        let signature = SshSignature::parse(&read(format!("{id}.sig"), MAX_SMALL)?)?;
        let is_ours = *signature.key() == self.key
            && signature.namespace() == INTENT_NAMESPACE
            && signature.is_of(text.as_bytes());
        IntentDocument::parse(&text).ok().filter(|intent| is_ours && intent.id == id)
    }
}

fn file_error(path: &Path, name: &str, verb: &'static str, source: io::Error) -> ApprovalStoreError {
    ApprovalStoreError::File { path: path.join(name), verb, source }
}
