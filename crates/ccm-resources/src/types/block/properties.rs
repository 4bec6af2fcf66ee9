//! The properties of a block, as the manifest writes them.

use ccm_model::Presentation;
use ccm_properties::{OneOrMany, Text, TextSyntax, properties};

use crate::support::values::canonical_path::CanonicalPath;

properties! {
    /// Properties of a block; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct BlockProperties {
        /// File with the block: an absolute path.
        path: CanonicalPath { required: true, foreign_names: &["dest", "destination", "file"] },
        /// Lines between the two marker lines.
        content: Text {
            sensitive: true,
            presentation: Presentation::Digest,
            foreign_names: &["block", "text", "lines"],
        },
        /// Text with which a comment begins in this file. The marker lines are comments.
        comment: Text { default: Some("`#`") },
        /// Text with which a comment ends, such as `-->`, if the file needs one.
        comment_end: Text { default: Some("none") },
        /// Regular expression for the line after which a new block goes.
        after: Text { default: Some("at the end of the file"), foreign_names: &["insertafter"] },
        /// Regular expression for the line before which a new block goes.
        before: Text { foreign_names: &["insertbefore"] },
        /// Make the file if it does not exist, with mode 0644, or 0600 if the block holds a secret.
        create: bool { default: Some("`false`") },
        /// Copy the old content of the file to ccm's state directory before a change.
        backup: bool { default: Some("`false`") },
        /// Command, or a list of commands, that checks the new content. `%s` is the path of a private copy of it.
        /// If one does not exit with 0, the file stays as it is.
        validate: OneOrMany<Text> { syntax: TextSyntax::Argv, foreign_names: &["validate_cmd"] },
        /// Show neither the block nor a diff.
        sensitive: bool { default: Some("`false`") },
    }
}
