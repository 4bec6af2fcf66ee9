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

/// Error of reading checkpoints.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A line is no checkpoint.
    #[error("line {line} is not a checkpoint")]
    NotACheckpoint {
        /// Number of the line, from 1.
        line: usize,
        /// Reason.
        source: serde_json::Error,
    },
    /// There is no line.
    #[error("there is no checkpoint")]
    Empty,
}

impl Checkpoint {
    /// Returns the line that [`Self::parse_lines`] reads, without its end.
    pub fn to_line(&self) -> String {
        // Texts and numbers can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads checkpoints: one a line, as `ccm audit checkpoint` prints and forwarding writes them.
    pub fn parse_lines(text: &str) -> Result<Vec<Self>, CheckpointError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let parse = |(index, line): (usize, &str)| {
            serde_json::from_str(line)
                .map_err(|source| CheckpointError::NotACheckpoint { line: index + 1, source })
        };
        let found: Vec<Self> = lines.map(parse).collect::<Result<_, _>>()?;
        if found.is_empty() { Err(CheckpointError::Empty) } else { Ok(found) }
    }
}
