//! Signed manifests: what an unattended run may apply without a further approval.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use ccm_model::{display_timestamp, parse_timestamp, sha256};
use serde::{Deserialize, Serialize};

/// Namespace of the signature of a manifest, as in `ssh-keygen -Y sign -n`.
pub const MANIFEST_NAMESPACE: &str = "ccm-manifest@v1";
/// Maximum length of a statement about a manifest.
pub const MAX_MANIFEST_STATEMENT: usize = 8 << 20;

/// Statement of an approver about a manifest: digests of every file that it is made of, and of given data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestStatement {
    #[serde(rename = "type")]
    format: ManifestFormat,
    /// Principal who signs; `None` is the only one whom the file of approvers names for the key.
    pub approver: Option<String>,
    /// Path of the manifest.
    pub manifest: String,
    /// Time at which it was made.
    pub created: String,
    /// Last moment at which it holds.
    pub until: String,
    /// Digest of each file, by its path.
    pub files: BTreeMap<String, String>,
    /// Digest of each given value, by its name.
    pub data: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum ManifestFormat {
    #[serde(rename = "ccm-manifest/1")]
    First,
}

/// Reason for which a statement does not cover a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestRefusal {
    /// The text is not in the form that ccm writes.
    #[error("not a statement about a manifest in the form that ccm writes")]
    Form,
    /// The text is too long.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// Maximum length.
        limit: usize,
    },
    /// The statement is about another manifest.
    #[error("the signature is for manifest {signed:?}, not for {found:?}")]
    OtherManifest {
        /// Manifest of the statement.
        signed: String,
        /// Manifest that is applied.
        found: String,
    },
    /// The statement holds no longer.
    #[error("the signature of the manifest ended at {until}")]
    Ended {
        /// Last moment at which it held.
        until: String,
    },
    /// A file was not signed.
    #[error("{path:?} was not signed with the manifest")]
    FileNotSigned {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file was changed.
    #[error("{path:?} was changed after the manifest was signed")]
    FileChanged {
        /// Path of the file.
        path: PathBuf,
    },
    /// Given data was not signed.
    #[error("`{name}` was not given when the manifest was signed")]
    DataNotSigned {
        /// Name of the value.
        name: String,
    },
    /// Given data has another value.
    #[error("`{name}` has another value than when the manifest was signed")]
    DataChanged {
        /// Name of the value.
        name: String,
    },
    /// Given data is missing.
    #[error("`{name}` was given when the manifest was signed, and is not now")]
    DataMissing {
        /// Name of the value.
        name: String,
    },
}

/// Files and given data of a run, to be compared with what was signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestContent {
    /// Path of the manifest.
    pub manifest: String,
    /// Digest of each file that was read, in hexadecimal digits, by its path.
    pub files: BTreeMap<String, String>,
    /// Each given value, as it was written, by its name.
    pub data: BTreeMap<String, String>,
}

impl ManifestStatement {
    /// Makes a statement that holds until a moment.
    pub fn new(
        content: &ManifestContent,
        approver: Option<String>,
        created: SystemTime,
        until: SystemTime,
    ) -> Self {
        Self {
            format: ManifestFormat::First,
            approver,
            manifest: content.manifest.clone(),
            created: display_timestamp(created, 0),
            until: display_timestamp(until, 0),
            files: content.files.clone(),
            data: content.data.iter().map(|(name, value)| (name.clone(), value_digest(value))).collect(),
        }
    }

    /// Reads the text of a statement, which has to be exactly the text that ccm writes.
    pub fn parse(text: &str) -> Result<Self, ManifestRefusal> {
        if text.len() > MAX_MANIFEST_STATEMENT {
            return Err(ManifestRefusal::TooLong { limit: MAX_MANIFEST_STATEMENT });
        }
        let statement: Self = serde_json::from_str(text).map_err(|_| ManifestRefusal::Form)?;
        let has_times = parse_timestamp(&statement.created).is_some() && statement.until().is_some();
        if has_times && statement.text() == text { Ok(statement) } else { Err(ManifestRefusal::Form) }
    }

    /// Returns the text, JSON with its line end. Its bytes are what is signed.
    pub fn text(&self) -> String {
        // Every key is a text, and no value refuses to be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    fn until(&self) -> Option<SystemTime> {
        parse_timestamp(&self.until)
    }

    /// Checks that the run reads nothing but what was signed. What was signed and is not read does not matter.
    pub fn covers(&self, content: &ManifestContent, now: SystemTime) -> Result<(), ManifestRefusal> {
        if self.manifest != content.manifest {
            let (signed, found) = (self.manifest.clone(), content.manifest.clone());
            return Err(ManifestRefusal::OtherManifest { signed, found });
        }
        if self.until().is_none_or(|until| now > until) {
            return Err(ManifestRefusal::Ended { until: self.until.clone() });
        }
        for (path, digest) in &content.files {
            self.covers_file(path, digest)?;
        }
        for (name, value) in &content.data {
            match self.data.get(name) {
                None => return Err(ManifestRefusal::DataNotSigned { name: name.clone() }),
                Some(signed) if *signed != value_digest(value) => {
                    return Err(ManifestRefusal::DataChanged { name: name.clone() });
                }
                Some(_) => {}
            }
        }
        match self.data.keys().find(|name| !content.data.contains_key(*name)) {
            Some(name) => Err(ManifestRefusal::DataMissing { name: name.clone() }),
            None => Ok(()),
        }
    }

    /// Checks one file, such as one that is read only when its resource is reached. The digest has hexadecimal digits.
    pub fn covers_file(&self, path: &str, digest: &str) -> Result<(), ManifestRefusal> {
        match self.files.get(path) {
            None => Err(ManifestRefusal::FileNotSigned { path: path.into() }),
            Some(signed) if signed != digest => Err(ManifestRefusal::FileChanged { path: path.into() }),
            Some(_) => Ok(()),
        }
    }
}

fn value_digest(value: &str) -> String {
    format!("sha256:{}", sha256(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn only_what_was_signed_is_covered() {
        let content = ManifestContent {
            manifest: "/srv/site.yaml".to_owned(),
            files: map(&[("/srv/site.yaml", "aa"), ("/srv/motd", "bb")]),
            data: map(&[("role", "web")]),
        };
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let statement = ManifestStatement::new(&content, None, at(10), at(20));
        assert_eq!(ManifestStatement::parse(&statement.text()), Ok(statement.clone()));
        let changed = |change: &dyn Fn(&mut ManifestContent)| {
            let mut content = content.clone();
            change(&mut content);
            statement.covers(&content, at(20)).map_err(|refusal| refusal.to_string())
        };
        let fewer = changed(&|content| drop(content.files.remove("/srv/motd")));
        assert_eq!(fewer, Ok(()));
        for (refused, expected) in [
            (
                changed(&|content| content.manifest.push('x')),
                "the signature is for manifest \"/srv/site.yaml\", not for \"/srv/site.yamlx\"",
            ),
            (
                changed(&|content| drop(content.files.insert("/srv/new".to_owned(), String::new()))),
                "\"/srv/new\" was not signed with the manifest",
            ),
            (
                changed(&|content| drop(content.files.insert("/srv/motd".to_owned(), "cc".to_owned()))),
                "\"/srv/motd\" was changed after the manifest was signed",
            ),
            (
                changed(&|content| drop(content.data.insert("role".to_owned(), "db".to_owned()))),
                "`role` has another value than when the manifest was signed",
            ),
            (
                changed(&|content| drop(content.data.insert("x".to_owned(), String::new()))),
                "`x` was not given when the manifest was signed",
            ),
            (
                changed(&|content| content.data.clear()),
                "`role` was given when the manifest was signed, and is not now",
            ),
            (
                statement.covers(&content, at(21)).map_err(|refusal| refusal.to_string()),
                "the signature of the manifest ended at 1970-01-01T00:00:20Z",
            ),
        ] {
            assert_eq!(refused, Err(expected.to_owned()));
        }
        for text in ["", "{}", &statement.text().replace("\n}", ",\n  \"more\": 1\n}")] {
            assert_eq!(ManifestStatement::parse(text), Err(ManifestRefusal::Form));
        }
    }
}
