//! Version of a source that a run applies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of a source that a run applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SourceVersion {
    /// Name of the source on this machine.
    pub name: String,
    /// Version.
    pub version: u64,
    /// The sha256 of its content in hexadecimal digits.
    pub digest: String,
}
