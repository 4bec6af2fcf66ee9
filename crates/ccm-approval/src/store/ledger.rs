//! Ledger of uses: a line is on the disk before its action starts, so that no approval is used twice.

use std::io::{self, Read as _, Write as _};

use ccm_host::state::Directory;
use serde::{Deserialize, Serialize};

use super::failed;
use crate::refusal::ApprovalStoreError;

const LEDGER: &str = "uses";
/// Size at which uses of earlier boots are removed.
const USUAL_SIZE: u64 = 1 << 20;
/// Maximum size.
const MAX_SIZE: u64 = 64 << 20;

/// Line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LedgerUse {
    /// Id of the boot. An approval is valid for one.
    pub(super) boot: String,
    /// Id of the intent.
    pub(super) intent: String,
    /// Nonces of the statements.
    pub(super) nonces: Vec<String>,
}

/// Uses of this boot.
#[derive(Debug, Default)]
pub(super) struct UseLedger {
    uses: Vec<LedgerUse>,
    size: u64,
    /// The last line has no end.
    is_torn: bool,
}

impl UseLedger {
    /// Reads the ledger. A line that can't be read was never complete, and nothing was started after it.
    pub(super) fn read(root: &Directory, boot: &str) -> Result<Self, ApprovalStoreError> {
        let mut bytes = Vec::new();
        match root.read(LEDGER) {
            Ok(file) => {
                file.take(MAX_SIZE + 1).read_to_end(&mut bytes).map_err(failed(root, LEDGER, "read"))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(root, LEDGER, "read")(error)),
        }
        let size = bytes.len() as u64;
        if size > MAX_SIZE {
            return Err(failed(root, LEDGER, "read")(io::ErrorKind::FileTooLarge.into()));
        }
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let uses = lines.filter_map(|line| serde_json::from_slice::<LedgerUse>(line).ok());
        let is_torn = bytes.last().is_some_and(|last| *last != b'\n');
        Ok(Self { uses: uses.filter(|used| used.boot == boot).collect(), size, is_torn })
    }

    /// Returns `true` if the intent was used.
    pub(super) fn has(&self, intent: &str) -> bool {
        self.uses.iter().any(|used| used.intent == intent)
    }

    /// Returns the number of uses of a statement.
    pub(super) fn uses_of(&self, nonce: &str) -> u32 {
        let count = self.uses.iter().filter(|used| used.nonces.iter().any(|used| used == nonce)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Appends a use. It is on the disk when this returns.
    pub(super) fn append(self, root: &Directory, used: &LedgerUse) -> Result<(), ApprovalStoreError> {
        let line = |used: &LedgerUse| serde_json::to_string(used).unwrap_or_default() + "\n";
        if self.size > USUAL_SIZE {
            let content: String = self.uses.iter().chain([used]).map(line).collect();
            return root.replace(LEDGER, content.as_bytes()).map_err(failed(root, LEDGER, "written"));
        }
        let append = || {
            let exists = self.size > 0 || root.size(LEDGER).is_ok();
            let mut file = if exists { root.append(LEDGER)? } else { root.create(LEDGER)? };
            let start = if self.is_torn { "\n" } else { "" };
            file.write_all(format!("{start}{}", line(used)).as_bytes())?;
            file.sync()?;
            // The name of a new file has to be on the disk as well.
            if exists { Ok(()) } else { root.sync() }
        };
        append().map_err(failed(root, LEDGER, "written"))
    }
}
