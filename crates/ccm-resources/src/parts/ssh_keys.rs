//! Keys that may log in by SSH, and the files of a user that hold them.

pub(crate) mod key_file;
pub(crate) mod key_line;
pub(crate) mod key_options;
pub(crate) mod key_rights;
pub(crate) mod public_key;

/// Key of a claim whose public key only the run yields.
pub(crate) const UNKNOWN: &str = "?";
