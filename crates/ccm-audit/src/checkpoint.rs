//! Copies of the end of a log, which lie elsewhere.

use serde::{Deserialize, Serialize};

/// End of a log at one moment. A copy on another machine proves later that nothing was cut off before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Id of the machine.
    pub machine: String,
    /// Number of seals.
    pub seals: u64,
    /// Number of the last line.
    pub line: u64,
    /// Hash of the last line.
    pub head: String,
    /// Public key of the next seal.
    pub next: String,
}
