//! What `ccm secret who` prints.

use std::fmt::Write as _;
use std::path::Path;

use ccm_runtime::encryption::RecipientTag;
use ccm_runtime::model::escape_control;
use serde_json::{Value, json};

/// Encrypted values, and who can open them.
pub(super) struct OpenableDocument {
    pub(super) values: Vec<OpenableValue>,
}

/// Encrypted value.
pub(super) struct OpenableValue {
    file: String,
    /// First line of the value in the file, from 1.
    line: usize,
    recipients: Vec<NamedRecipient>,
}

/// Key that opens a value.
struct NamedRecipient {
    /// Name of the host or person; null for a key that is not known here.
    name: Option<String>,
    /// Short name of the key in the encrypted text; null for a key of another kind.
    tag: Option<String>,
}

impl OpenableValue {
    pub(super) fn of(
        path: &Path,
        line: usize,
        tags: &[Option<RecipientTag>],
        name: &dyn Fn(Option<RecipientTag>) -> Option<String>,
    ) -> Self {
        let recipient = |tag: &Option<RecipientTag>| NamedRecipient {
            name: name(*tag),
            tag: tag.map(|tag| tag.to_string()),
        };
        Self { file: path.display().to_string(), line, recipients: tags.iter().map(recipient).collect() }
    }
}

impl OpenableDocument {
    /// Returns the document for programs.
    pub(super) fn json(&self) -> Value {
        let recipient = |known: &NamedRecipient| json!({ "name": known.name, "tag": known.tag });
        let value = |value: &OpenableValue| {
            let recipients: Vec<Value> = value.recipients.iter().map(recipient).collect();
            json!({ "file": value.file, "line": value.line, "recipients": recipients })
        };
        json!({ "values": self.values.iter().map(value).collect::<Vec<_>>() })
    }

    /// Returns a line for each value, and one for each key that opens it.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for value in &self.values {
            // Writing to a `String` can't fail.
            let _ = writeln!(text, "{}:{}", escape_control(&value.file), value.line);
            for recipient in &value.recipients {
                let _ = match (&recipient.name, &recipient.tag) {
                    (Some(name), _) => writeln!(text, "  {}", escape_control(name)),
                    (None, Some(tag)) => writeln!(text, "  unknown key {tag}"),
                    (None, None) => writeln!(text, "  a key of another kind"),
                };
            }
        }
        text
    }
}
