//! What keeps a report from being written.

use std::io;

/// Says why a report is not complete.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Where it goes to takes no more; nothing was written after that.
    #[error("can't write the report")]
    Write(#[source] io::Error),
}
