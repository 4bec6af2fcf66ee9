//! The properties of a file, as the manifest writes them.

use ccm_model::Text;
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{Mode, SourcePath};
use crate::principal::Principal;

/// What a manifest can say about a file; its documentation is the reference that users read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FileProperties {
    /// What the file holds, written as it is. Without `content` and `source` only the attributes are managed,
    /// and a file that is missing is made empty.
    pub content: Option<Text>,
    /// A local file to copy the content from; a relative path starts from the directory of the manifest.
    pub source: Option<SourcePath>,
    /// The user who owns it, by name or number. Default: not managed; new ones belong to the user ccm runs as.
    pub owner: Option<Principal>,
    /// The group it belongs to, by name or number. Default: not managed.
    pub group: Option<Principal>,
    /// Permissions in octal digits, such as `0644`; a directory gets `x` wherever this gives `r` or `w`.
    /// Default: not managed; new files have `0644`, new directories `0755`.
    pub mode: Option<Mode>,
    /// Remove a directory with everything in it. Only with `ensure: absent`. Default: `false`.
    pub force: Option<bool>,
    /// Keep a copy of the old content in ccm's state directory before it is replaced or removed.
    /// Default: `false`.
    pub backup: Option<bool>,
    /// Show neither the content nor its size or checksum, not in a diff either, and hide it wherever else it
    /// would appear from then on, if it is no longer than 64 KiB. Default: `false`.
    pub sensitive: Option<bool>,
}
