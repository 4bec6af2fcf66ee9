//! The properties of a setting, as the manifest writes them.

use ccm_properties::{OneOrMany, Text, TextSyntax, properties};

use super::format::Format;
use crate::support::values::canonical_path::CanonicalPath;

properties! {
    /// Properties of a setting; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct SettingProperties {
        /// File with the setting: an absolute path.
        path: CanonicalPath { required: true, foreign_names: &["dest", "destination", "file"] },
        /// Section with the setting, without brackets.
        section: Text { default: Some("the lines above the first section") },
        /// Name of the setting.
        key: Text { required: true, foreign_names: &["setting", "option"] },
        /// Value of the setting: the text up to the end of the line, and with `format: git` or `mysql` what the program reads.
        value: Text { sensitive: true },
        /// Program whose rules decide how the file is read: `ini` is Python's configparser, `systemd` also stands for its
        /// units, `mysql` for the option files of the server and of its forks, and `samba` for `smb.conf`.
        format: Format { default: Some("`ini`, and what programs read differently is refused") },
        /// Text between key and value of a new line. Its blanks may differ in a line that exists.
        separator: Text { default: Some("`\" = \"`; `=` for `systemd`"), foreign_names: &["key_val_separator", "delimiter"] },
        /// Make the file if it does not exist, with mode 0644, or 0600 if the value holds a secret.
        create: bool { default: Some("`false`") },
        /// Copy the old content of the file to ccm's state directory before a change.
        backup: bool { default: Some("`false`") },
        /// Command, or a list of commands, that checks the new content. `%s` is the path of a private copy of it.
        /// If one does not exit with 0, the file stays as it is.
        validate: OneOrMany<Text> { syntax: TextSyntax::Argv, foreign_names: &["validate_cmd"] },
        /// Show neither the value nor a diff.
        sensitive: bool { default: Some("`false`") },
    }
}
