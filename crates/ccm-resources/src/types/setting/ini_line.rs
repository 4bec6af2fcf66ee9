//! Lines of ini-like files.

use super::desired::Separator;

/// A line with a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SettingLine<'a> {
    /// Blanks, the key, and the separator with the blanks around it, as they are.
    pub start: &'a [u8],
    /// The value without blanks around it.
    pub value: &'a [u8],
}

/// Returns the section that a line begins.
pub(crate) fn section(line: &[u8]) -> Option<&[u8]> {
    let inner = line.trim_ascii().strip_prefix(b"[")?;
    let end = inner.iter().position(|byte| *byte == b']')?;
    let behind = inner[end + 1..].trim_ascii_start();
    let is_alone = behind.is_empty() || behind.starts_with(b"#") || behind.starts_with(b";");
    is_alone.then(|| inner[..end].trim_ascii())
}

/// Returns the parts of a line that sets a key. A line that begins with `#` or `;` sets nothing.
pub(crate) fn setting<'a>(line: &'a [u8], key: &[u8], separator: &Separator) -> Option<SettingLine<'a>> {
    let behind_key = line.trim_ascii_start().strip_prefix(key)?;
    let core = separator.core().as_bytes();
    let blanks = behind_key.len() - behind_key.trim_ascii_start().len();
    let behind = behind_key[blanks..].strip_prefix(core)?;
    // Blanks that separate have to be there, unless the value is empty.
    if core.is_empty() && blanks == 0 && !behind.is_empty() {
        return None;
    }
    let value = behind.trim_ascii();
    let start = line.len() - behind.trim_ascii_start().len();
    Some(SettingLine { start: &line[..start], value })
}

/// Returns `true` for a comment that would set a key if its comment sign were removed.
pub(crate) fn is_commented_out(line: &[u8], key: &[u8], separator: &Separator) -> bool {
    let line = line.trim_ascii_start();
    let inner = line.strip_prefix(b"#").or_else(|| line.strip_prefix(b";"));
    inner.is_some_and(|inner| setting(inner, key, separator).is_some())
}

pub(crate) fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [b'#' | b';', ..])
}

/// Returns the blanks at the beginning of a line.
pub(crate) fn indentation(line: &[u8]) -> &[u8] {
    &line[..line.len() - line.trim_ascii_start().len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separator(written: &str) -> Separator {
        Separator { written: written.to_owned() }
    }

    #[test]
    fn section_headers_are_recognized() {
        for (line, name) in [
            ("[a]", Some("a")),
            (" [ a b ] ", Some("a b")),
            ("[a] # why", Some("a")),
            ("[a \"b\"]", Some("a \"b\"")),
            ("[]", Some("")),
            ("[a", None),
            ("a]", None),
            ("[a] = b", None),
            ("#[a]", None),
        ] {
            assert_eq!(section(line.as_bytes()), name.map(str::as_bytes), "{line}");
        }
    }

    #[test]
    fn settings_are_split_at_the_separator() {
        for (line, written, found) in [
            ("key=value", " = ", Some(("key=", "value"))),
            ("  key  =  value  ", " = ", Some(("  key  =  ", "value"))),
            ("key =", " = ", Some(("key =", ""))),
            ("key = a = b", " = ", Some(("key = ", "a = b"))),
            ("key value", " ", Some(("key ", "value"))),
            ("key\tvalue more", " ", Some(("key\t", "value more"))),
            ("key", " ", Some(("key", ""))),
            ("key: value", ":", Some(("key: ", "value"))),
            ("keys = value", " = ", None),
            ("keys value", " ", None),
            ("Key = value", " = ", None),
            ("#key = value", " = ", None),
            ("key: value", " = ", None),
        ] {
            let line = line.as_bytes();
            let expected = found.map(|(start, value): (&str, &str)| SettingLine {
                start: start.as_bytes(),
                value: value.as_bytes(),
            });
            assert_eq!(setting(line, b"key", &separator(written)), expected, "{}", line.escape_ascii());
        }
    }
}
