//! The properties of a line, as the manifest writes them.

use ccm_properties::{OneOrMany, Text, TextSyntax, properties};

use crate::support::values::canonical_path::CanonicalPath;

properties! {
    /// Properties of a line; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct LineProperties {
        /// File with the line: an absolute path.
        path: CanonicalPath { required: true, foreign_names: &["dest", "destination", "file"] },
        /// The line, without a line end. With `ensure: absent`, every line that is equal to it is removed.
        line: Text { sensitive: true, foreign_names: &["content", "text", "value"] },
        /// Regular expression for the line that is replaced; with `ensure: absent`, for the line that is removed.
        r#match: Text { sensitive: true, foreign_names: &["regexp", "regex", "pattern"] },
        /// Regular expression for the line after which a new line goes.
        after: Text { default: Some("at the end of the file"), foreign_names: &["insertafter"] },
        /// Regular expression for the line before which a new line goes.
        before: Text { foreign_names: &["insertbefore"] },
        /// Allow several lines to match. The first that matches `match` becomes the line, and the others are removed; with
        /// `ensure: absent` all are removed. A new line is added at each that matches `after` or `before`.
        multiple: bool { default: Some("`false`") },
        /// Make the file if it does not exist, with mode 0644, or 0600 if the line holds a secret.
        create: bool { default: Some("`false`") },
        /// Copy the old content of the file to ccm's state directory before a change.
        backup: bool { default: Some("`false`") },
        /// Command, or a list of commands, that checks the new content. `%s` is the path of a private copy of it.
        /// If one does not exit with 0, the file stays as it is.
        validate: OneOrMany<Text> { syntax: TextSyntax::Argv, foreign_names: &["validate_cmd"] },
        /// Show neither the line nor a diff.
        sensitive: bool { default: Some("`false`") },
    }
}
