//! Texts of pages: names of places in a page, and words with numbers.

use std::fmt::Write as _;

use ccm_model::ResourceId;

/// Maximum length of an anchor.
const MAX_ANCHOR: usize = 200;
/// Maximum length of a line or a value in characters.
const MAX_LINE: usize = 400;
/// Number of characters of a long name that are kept at each end.
const KEPT: usize = 14;

/// Returns the name of the place of a resource in a page, such as `file:/etc/motd`. It is the same in a link.
pub(crate) fn anchor(id: &ResourceId, position: usize) -> String {
    let mut anchor = String::new();
    for byte in id.type_name.bytes().chain([b':']).chain(id.name.bytes()) {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'/'
            | b'.'
            | b'_'
            | b'~'
            | b'@'
            | b'+'
            | b'='
            | b','
            | b'-'
            | b':' => anchor.push(char::from(byte)),
            // Writing to a `String` can't fail.
            _ => {
                let _ = write!(anchor, "%{byte:02X}");
            }
        }
        if anchor.len() > MAX_ANCHOR {
            return format!("{}:{}", escape_type(&id.type_name), position + 1);
        }
    }
    anchor
}

fn escape_type(type_name: &str) -> String {
    type_name.chars().filter(char::is_ascii_alphanumeric).take(MAX_ANCHOR).collect()
}

/// Leaves out the end of a long line or value.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a number with a word, such as `1 resource` or `3 resources`.
pub(crate) fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// Returns `true` for a name that [`cut`] shortens.
pub(crate) fn is_cut(name: &str) -> bool {
    name.chars().count() > 2 * KEPT + 1
}

/// Cuts the middle of a long name.
pub(crate) fn cut(name: &str) -> String {
    if !is_cut(name) {
        return name.to_owned();
    }
    let length = name.chars().count();
    let beginning: String = name.chars().take(KEPT).collect();
    let end: String = name.chars().skip(length - KEPT).collect();
    format!("{beginning}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_the_same_in_a_link() {
        for (id, expected) in [
            ("file#/etc/motd", "file:/etc/motd"),
            ("exec#make all", "exec:make%20all"),
            ("exec#\"<ä>\n&", "exec:%22%3C%C3%A4%3E%0A%26"),
            ("exec#a%20b#c", "exec:a%2520b%23c"),
        ] {
            assert_eq!(anchor(&ResourceId::parse(id).expect("a reference"), 0), expected);
        }
        assert_eq!(anchor(&ResourceId::new("exec", "x".repeat(10_000)), 6), "exec:7");
    }

    #[test]
    fn long_names_are_cut_in_their_middle() {
        assert_eq!(cut("/etc/motd"), "/etc/motd");
        assert_eq!(
            cut(&format!("{}{}", "ä".repeat(40), "b".repeat(40))),
            format!("{}…{}", "ä".repeat(14), "b".repeat(14))
        );
    }
}
