//! The properties of a file, as the manifest writes them.

use ccm_model::Presentation;
use ccm_properties::{OneOrMany, Text, TextSyntax, properties};

use super::values::{FileSource, LinkTarget};
use crate::support::values::checksum::Checksum;
use crate::support::values::file_mode::FileMode;
use crate::support::values::principal::Principal;

properties! {
    /// Properties of a file; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct FileProperties {
        /// Content of the file, written exactly. Without `content` and `source` only the attributes are managed,
        /// and a missing file is created empty.
        content: Text { sensitive: true, presentation: Presentation::Digest },
        /// Local file to copy the content from; a relative path starts from the directory of the manifest. A URL with
        /// `https` or `http` is downloaded and needs `checksum`. With `ensure: directory`, a directory to copy:
        /// templates (`.j2`) in it are rendered, and other files are copied.
        source: FileSource,
        /// SHA-256 of the file at a URL in `source`, in hexadecimal digits.
        checksum: Checksum,
        /// Owner, by name or number.
        owner: Principal { default: Some("not managed; new files belong to the user who runs ccm") },
        /// Group, by name or number.
        group: Principal { default: Some("not managed") },
        /// Permissions in octal digits, such as `0644`; a directory gets `x` wherever `mode` gives `r` or `w`.
        mode: FileMode { default: Some("not managed; new files have `0644`, new directories `0755`") },
        /// Path that a link leads to: absolute, or relative to the directory of the link. Only with `ensure: link`.
        target: LinkTarget { sensitive: true },
        /// With `ensure: directory`, owner, group and mode hold for everything in the directory, and not only for what
        /// `source` brings.
        recurse: bool { default: Some("`false`") },
        /// With `ensure: directory`, remove what neither `source` nor another resource declares in the directory.
        purge: bool { default: Some("`false`") },
        /// With `ensure: directory`, patterns of paths to leave alone, such as `*.swp` or `cache/**`. One without `/`
        /// matches a name at any depth.
        ignore: OneOrMany<Text>,
        /// With `ensure: absent`, remove a directory with everything in it. With `ensure: link`, replace a file or an
        /// empty directory. With `purge`, remove undeclared directories that are not empty.
        force: bool { default: Some("`false`") },
        /// Copy the old content to ccm's state directory before it is replaced or removed.
        backup: bool { default: Some("`false`") },
        /// Command, or a list of commands, that checks new content. `%s` is the path of a private copy of it. If one
        /// does not exit with 0, the file stays as it is.
        validate: OneOrMany<Text> { syntax: TextSyntax::Argv, foreign_names: &["validate_cmd", "check_cmd"] },
        /// Show neither the content nor its size or checksum, not even in a diff, and not where a link leads. Once the file
        /// is reached, ccm hides content of at most 64 KiB everywhere else.
        sensitive: bool { default: Some("`false`") },
    }
}
