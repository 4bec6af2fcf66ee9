//! Lines and their chain.

use std::time::SystemTime;

use ccm_model::{display_timestamp, hexadecimal};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::entry::AuditEntry;

/// Maximum length of a line, in bytes, with its end.
pub(crate) const MAX_LINE: usize = 1 << 20;

/// Hash that the first line of a log has in place of that of the line before it.
pub(crate) const NO_LINE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Number of the line, from 1.
    pub line: u64,
    /// Time of day in UTC, with microseconds.
    pub time: String,
    /// Id of the boot of the machine.
    pub boot: String,
    /// SHA-256 of the line before, in hexadecimal digits.
    pub prev: String,
    /// Content of the line.
    #[serde(flatten)]
    pub entry: AuditEntry,
}

impl Line {
    pub(crate) fn new(position: &LinePosition, now: SystemTime, boot: &str, entry: AuditEntry) -> Self {
        Self {
            line: position.line + 1,
            time: display_timestamp(now, 2),
            boot: boot.to_owned(),
            prev: position.head.clone(),
            entry,
        }
    }

    /// Returns the bytes of the line, without its end.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

/// Place in the log behind a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinePosition {
    /// Number of the line; 0 at the beginning.
    pub line: u64,
    /// Hash of the line.
    pub head: String,
}

impl LinePosition {
    pub(crate) fn start() -> Self {
        Self { line: 0, head: NO_LINE.to_owned() }
    }

    /// Returns the position behind a line with these bytes.
    pub(crate) fn after(line: u64, bytes: &[u8]) -> Self {
        Self { line, head: hash(bytes) }
    }
}

/// Returns the SHA-256 in hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}
