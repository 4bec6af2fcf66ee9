//! Version of a source that a run applies.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum length of a commit in messages.
const SHORT: usize = 12;

/// Version of a source that a run applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SourceVersion {
    /// Name of the source on this machine.
    pub name: String,
    /// Version.
    pub version: VersionId,
    /// The sha256 of its content in hexadecimal digits.
    pub digest: String,
}

/// Number of a release, or commit of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum VersionId {
    /// Number of a release.
    Number(u64),
    /// Full hash of a commit.
    Commit(String),
}

impl fmt::Display for VersionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "version {number}"),
            Self::Commit(commit) => {
                write!(formatter, "commit {}", commit.get(..SHORT).unwrap_or(commit))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_or_commits() {
        for (json, shown) in
            [("42", "version 42"), ("\"0123456789abcdef0123456789abcdef01234567\"", "commit 0123456789ab")]
        {
            let version: VersionId = serde_json::from_str(json).expect("a version");
            assert_eq!(version.to_string(), shown);
            assert_eq!(serde_json::to_string(&version).expect("JSON"), json);
        }
    }
}
