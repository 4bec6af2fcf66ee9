//! The properties of a file, as the manifest writes them.

use ccm_model::Presentation;
use ccm_properties::{Text, properties};

use super::values::{Mode, SourcePath};
use crate::principal::Principal;

properties! {
    /// Properties of a file; their documentation is the reference that users read.
    #[derive(Debug, Default)]
    pub(crate) struct FileProperties {
        /// What the file holds, written as it is. Without `content` and `source` only the attributes are managed,
        /// and a file that is missing is made empty.
        content: Text { sensitive: true, presentation: Presentation::Digest },
        /// A local file to copy the content from; a relative path starts from the directory of the manifest.
        source: SourcePath,
        /// The user who owns it, by name or number.
        owner: Principal { default: Some("not managed; new ones belong to the user ccm runs as") },
        /// The group it belongs to, by name or number.
        group: Principal { default: Some("not managed") },
        /// Permissions in octal digits, such as `0644`; a directory gets `x` wherever this gives `r` or `w`.
        mode: Mode { default: Some("not managed; new files have `0644`, new directories `0755`") },
        /// Remove a directory with everything in it. Only with `ensure: absent`.
        force: bool { default: Some("`false`") },
        /// Keep a copy of the old content in ccm's state directory before it is replaced or removed.
        backup: bool { default: Some("`false`") },
        /// Show neither the content nor its size or checksum, not in a diff either, and hide it wherever else it
        /// would appear from then on, if it is no longer than 64 KiB.
        sensitive: bool { default: Some("`false`") },
    }
}
