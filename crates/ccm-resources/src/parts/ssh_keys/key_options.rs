//! Options in front of a key.

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Option of a key, such as `command="backup"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyOption(pub String);

impl TextValue for KeyOption {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("^[A-Za-z@]"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let shown = text.escape_debug();
        if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(ValueError::new(format!("`{shown}` is not an option of a key")));
        }
        if text.chars().any(char::is_control) {
            return Err(ValueError::new(format!("the option `{shown}` contains a control character")));
        }
        // Quotes protect blanks and commas; a quote inside of them has a backslash in front.
        let (mut is_quoted, mut is_escaped) = (false, false);
        for character in text.chars() {
            match character {
                '"' if is_quoted && is_escaped => {}
                '"' => is_quoted = !is_quoted,
                ' ' | ',' if !is_quoted => {
                    let error = ValueError::new(format!("the option `{shown}` contains a blank or a comma"));
                    return Err(
                        error.with_hint("write an element for each option, and values in double quotes")
                    );
                }
                _ => {}
            }
            is_escaped = character == '\\' && !is_escaped;
        }
        if is_quoted {
            return Err(ValueError::new(format!("the option `{shown}` lacks a double quote")));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Returns the length of the options at the beginning of a line: up to a blank that is not quoted.
pub(super) fn length(line: &[u8]) -> usize {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b'"' if is_quoted && is_escaped => {}
            b'"' => is_quoted = !is_quoted,
            b' ' | b'\t' if !is_quoted => return at,
            _ => {}
        }
        is_escaped = *byte == b'\\' && !is_escaped;
    }
    line.len()
}

/// Splits options at commas that are not quoted.
pub(crate) fn split(options: &str) -> Vec<String> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let (mut parts, mut part) = (Vec::new(), String::new());
    for character in options.chars() {
        match character {
            ',' if !is_quoted => parts.push(std::mem::take(&mut part)),
            other => {
                is_quoted ^= other == '"' && !(is_quoted && is_escaped);
                part.push(other);
            }
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_split_at_commas_outside_of_quotes() {
        let split = split(r#"no-pty,command="a, \"b, c\" d",from="10.0.0.0/8,::1""#);
        assert_eq!(split, ["no-pty", r#"command="a, \"b, c\" d""#, r#"from="10.0.0.0/8,::1""#]);
    }

    #[test]
    fn options_are_checked() {
        for text in ["no-pty", r#"command="a b, c""#, r#"command="say \"x y\"""#, r#"from="10.0.0.0/8,::1""#]
        {
            assert!(KeyOption::from_text(text).is_ok(), "{text}");
            assert_eq!(length(format!("{text} ssh-rsa").as_bytes()), text.len(), "{text}");
        }
        for text in ["", "no-pty,no-pty", "no pty", r#"command="x"#, "\"x\"", "a\nb", "#x"] {
            assert!(KeyOption::from_text(text).is_err(), "{text}");
        }
    }
}
