//! Headings of the help, below which the commands group their options.

/// Facts and values.
pub(crate) const DATA: &str = "Data";

/// Source of the manifest.
pub(crate) const SOURCE: &str = "Source";

/// Times, sizes and failures that end a command.
pub(crate) const LIMITS: &str = "Limits";

/// Formats and files of the output, and the exit code.
pub(crate) const OUTPUT: &str = "Output";

/// State directory and recorded runs.
pub(crate) const RECORD: &str = "Record";
