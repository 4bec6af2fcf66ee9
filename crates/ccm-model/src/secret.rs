//! Constants for secrets, which several crates share.

/// Minimum length in bytes of a value that is redacted in texts. A shorter value is part of too many words.
pub const MIN_SECRET_LENGTH: usize = 4;

/// Replacement of redacted text.
pub const REDACTED: &str = "[redacted]";
