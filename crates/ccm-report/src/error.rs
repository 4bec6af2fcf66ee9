//! Errors of reports.

use std::io;

/// Reason why a report is not complete.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A write failed. Nothing was written after the failure.
    #[error("can't write the report")]
    Write(#[source] io::Error),
}
