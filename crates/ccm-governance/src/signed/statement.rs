//! The statement about a manifest that an approver signs.

use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use ccm_model::normalize;
use ccm_model::parse_timestamp;
use serde::{Deserialize, Serialize};

const TYPE: &str = "ccm-manifest/1";

/// Maximum size of a statement in bytes.
pub(super) const MAX_STATEMENT: u64 = 16 << 20;

/// Statement of an approver: a manifest, with every file that belongs to it, may be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedManifest {
    /// Version of the format.
    #[serde(rename = "type")]
    pub(super) format: String,
    /// Name of the manifest, from its own directory.
    pub manifest: String,
    /// Time of the statement, by RFC 3339.
    pub created: String,
    /// Time at which the statement ends, by RFC 3339.
    pub not_after: String,
    /// Assignments of values over those of the manifest, in their order.
    pub data: Vec<String>,
    /// Names of further files of values, in their order.
    pub hiera: Vec<String>,
    /// Directories that are copied. Each file and link below is among the files.
    pub trees: Vec<String>,
    /// Files and links, sorted by name.
    pub files: Vec<SignedFile>,
}

/// File or link in a statement. Names start from the directory of the manifest, or are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedFile {
    /// Name.
    pub name: String,
    /// The sha256 of the content in hexadecimal digits; `None` for a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The file is in a directory that is copied, and its owner may execute it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub executable: bool,
    /// Text of a link in a directory that is copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl SignedManifest {
    pub(super) fn format() -> String {
        TYPE.to_owned()
    }

    /// Reads a statement. The error is a clause about the statement.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let statement: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if statement.format != TYPE {
            return Err(format!("the type is `{}`, not `{TYPE}`", statement.format.escape_debug()));
        }
        if statement.end().is_none() {
            return Err("`not_after` is no time".to_owned());
        }
        Ok(statement)
    }

    /// Returns the bytes to sign.
    pub fn bytes(&self) -> serde_json::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Returns the time at which the statement ends.
    pub(super) fn end(&self) -> Option<SystemTime> {
        parse_timestamp(&self.not_after)
    }
}

/// Returns the name of a path in a statement: from the directory of the manifest, so that a manifest can be signed in
/// one place and applied in another. A path that shares no directory with the manifest stays absolute.
pub(super) fn name_of(directory: &Path, path: &Path) -> String {
    let (directory, path) = (normalize(directory), normalize(path));
    let shared =
        directory.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    // The root directory is shared by all paths.
    if shared < 2 {
        return path.display().to_string();
    }
    let up = directory.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect::<PathBuf>().display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_start_from_the_directory_of_the_manifest() {
        for (path, expected) in [
            ("/srv/site/site.yaml", "site.yaml"),
            ("/srv/site/files/../files/x", "files/x"),
            ("/srv/common/base.yaml", "../common/base.yaml"),
            ("/etc/motd", "/etc/motd"),
        ] {
            assert_eq!(name_of(Path::new("/srv/site"), Path::new(path)), expected);
        }
    }

    #[test]
    fn a_statement_has_no_unknown_fields() {
        let statement = SignedManifest {
            format: SignedManifest::format(),
            manifest: "site.yaml".to_owned(),
            created: "2026-11-22T01:31:13Z".to_owned(),
            not_after: "2026-12-22T01:31:13Z".to_owned(),
            data: Vec::new(),
            hiera: Vec::new(),
            trees: Vec::new(),
            files: Vec::new(),
        };
        let bytes = statement.bytes().expect("JSON");
        assert_eq!(SignedManifest::parse(&bytes), Ok(statement.clone()));
        let text = String::from_utf8(bytes).expect("text");
        assert!(SignedManifest::parse(text.replace("\"data\"", "\"date\"").as_bytes()).is_err());
        assert!(SignedManifest::parse(text.replace("manifest/1", "approval/1").as_bytes()).is_err());
        assert!(SignedManifest::parse(text.replace("2026-12-22T", "soon").as_bytes()).is_err());
    }
}
