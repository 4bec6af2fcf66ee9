//! Names that several crates share.

/// Roots of the facts that every machine has.
pub const SYSTEM_FACTS: [&str; 5] = ["host", "cpu", "memory", "network", "partition"];

/// Returns `true` for the name of an environment variable: letters, digits and `_`, no digit first.
pub fn is_variable_name(text: &str) -> bool {
    leading_variable_name(text) == Some(text)
}

/// Returns the name of an environment variable that a text begins with.
pub fn leading_variable_name(text: &str) -> Option<&str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let end = text.bytes().position(|byte| !is_part(byte)).unwrap_or(text.len());
    Some(&text[..end]).filter(|name| name.starts_with(|first: char| !first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_has_letters_digits_and_underscores() {
        for (text, leading) in [
            ("HOME", Some("HOME")),
            ("_a1", Some("_a1")),
            ("A=b", Some("A")),
            ("a-b", Some("a")),
            ("gr\u{fc}n", Some("gr")),
            ("1a", None),
            ("", None),
            ("=", None),
            ("\u{e4}", None),
        ] {
            assert_eq!(leading_variable_name(text), leading, "{text}");
            assert_eq!(is_variable_name(text), leading == Some(text), "{text}");
        }
    }
}
