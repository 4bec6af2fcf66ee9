//! The armour: Base64 in lines of 64 characters between two lines.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::MAX_PLAIN_BYTES;
use crate::error::EncryptedTextError;
use crate::header::MAX_HEADER;

/// First line of an armoured text.
pub const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
pub(crate) const END: &str = "-----END AGE ENCRYPTED FILE-----";
const COLUMNS: usize = 64;
/// Maximum number of armoured bytes: header, plain text, a tag for each part of 64 KiB, and room.
const MAX_BYTES: usize = MAX_HEADER + MAX_PLAIN_BYTES + (MAX_PLAIN_BYTES >> 10);

/// Returns `true` for a text that begins as an armoured one. Blank lines may come first.
pub fn is_armoured(text: &str) -> bool {
    text.trim_start().starts_with(BEGIN)
}

/// Returns the bytes in an armoured text. Blank lines around it, and line ends of any kind, are allowed.
pub(crate) fn read(text: &str) -> Result<Vec<u8>, EncryptedTextError> {
    if !is_armoured(text) {
        return Err(EncryptedTextError::NotArmoured);
    }
    if text.len() > MAX_BYTES / 3 * 4 + MAX_BYTES / 12 {
        return Err(EncryptedTextError::TooLong);
    }
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| line.trim().is_empty());
    let first = lines.next();
    if first.is_some_and(|(_, line)| line.trim() != BEGIN) {
        return Err(EncryptedTextError::Armour { line: first.map_or(1, |(index, _)| index + 1) });
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut was_last = false;
    for (index, line) in lines.by_ref() {
        let line = line.trim();
        if line == END {
            return match lines.find(|(_, line)| !line.trim().is_empty()) {
                Some((index, _)) => Err(EncryptedTextError::Trailing { line: index + 1 }),
                None => Ok(bytes),
            };
        }
        let wrong = EncryptedTextError::Armour { line: index + 1 };
        // Only the last line is shorter or padded.
        if was_last || line.is_empty() || line.len() > COLUMNS {
            return Err(wrong);
        }
        was_last = line.len() < COLUMNS || line.ends_with('=');
        BASE64_STANDARD.decode_vec(line, &mut bytes).map_err(|_| wrong)?;
    }
    Err(EncryptedTextError::Cut)
}

/// Returns bytes in armour.
pub(crate) fn write(bytes: &[u8]) -> String {
    let mut text = format!("{BEGIN}\n");
    for line in bytes.chunks(COLUMNS / 4 * 3) {
        BASE64_STANDARD.encode_string(line, &mut text);
        text.push('\n');
    }
    text + END + "\n"
}
