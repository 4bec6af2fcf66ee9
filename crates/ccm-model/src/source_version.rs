//! Version of a source that a run applies.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum length of a commit or digest in messages.
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

/// Number of a release, bundle of a push, or commit of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum VersionId {
    /// Number of a release.
    Number(u64),
    /// Bundle of a push.
    Bundle(BundleId),
    /// Full hash of a commit.
    Commit(String),
}

/// Digest of a bundle, which has no other name: `sha256:` and hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct BundleId(String);

/// Beginning of a [`BundleId`].
const SHA256: &str = "sha256:";

impl BundleId {
    /// Returns the name of a bundle with this sha256 in hexadecimal digits.
    pub fn of_sha256(digits: &str) -> Self {
        Self(format!("{SHA256}{digits}"))
    }

    /// Returns the beginning of the digest, for people.
    pub fn short(&self) -> &str {
        let digits = self.0.strip_prefix(SHA256).unwrap_or(&self.0);
        digits.get(..SHORT).unwrap_or(digits)
    }
}

impl TryFrom<String> for BundleId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.starts_with(SHA256) { Ok(Self(text)) } else { Err("expected `sha256:` and a digest") }
    }
}

impl fmt::Display for VersionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "version {number}"),
            Self::Bundle(bundle) => write!(formatter, "bundle {}", bundle.short()),
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
    fn versions_are_numbers_bundles_or_commits() {
        for (json, shown) in [
            ("42", "version 42"),
            ("\"0123456789abcdef0123456789abcdef01234567\"", "commit 0123456789ab"),
            ("\"sha256:0123456789abcdef0123456789abcdef\"", "bundle 0123456789ab"),
        ] {
            let version: VersionId = serde_json::from_str(json).expect("a version");
            assert_eq!(version.to_string(), shown);
            assert_eq!(serde_json::to_string(&version).expect("JSON"), json);
        }
    }
}
