//! Content that must not be shown.

use ccm_redaction::Secrets;

/// Maximum size of content that is redacted everywhere.
const MAX_SECRET: usize = 64 << 10;

/// Marks content as secret. Longer content is only hidden in reports about this file.
pub(crate) fn mark_secret(content: &[u8], secrets: &Secrets) {
    if let Some(text) = str::from_utf8(content).ok().filter(|text| text.len() <= MAX_SECRET) {
        secrets.add([text]);
    }
}
