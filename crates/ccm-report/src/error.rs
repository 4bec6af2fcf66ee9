//! Errors of reports.

use std::io;

/// Reason for which a report is not complete.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A write failed. Nothing was written after that.
    #[error("can't write the report")]
    Write(#[source] io::Error),
}
