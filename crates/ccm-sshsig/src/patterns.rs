//! Lists of patterns, as OpenSSH matches them.

use ccm_model::{Wildcard, Wildcards};

/// Returns `true` if one pattern of a list, separated by commas, matches the whole text, and none with `!` does.
/// `*` stands for any characters, `?` for one. Upper and lower case differ.
pub(crate) fn matches_list(list: &str, text: &str) -> bool {
    // OpenSSH compares bytes, so that each byte is a character here.
    let text: String = text.bytes().map(char::from).collect();
    let mut found = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if wildcards(pattern).matches(&text) => return false,
            Some(_) => {}
            None => found |= wildcards(pattern).matches(&text),
        }
    }
    found
}

fn wildcards(pattern: &str) -> Wildcards {
    let wildcard = |byte| match byte {
        b'*' => Wildcard::AnyCharacters,
        b'?' => Wildcard::AnyCharacter,
        byte => Wildcard::Character(char::from(byte)),
    };
    pattern.bytes().map(wildcard).collect()
}

#[cfg(test)]
mod tests {
    use super::matches_list;

    #[test]
    fn lists_match_as_in_openssh() {
        for (list, text, expected) in [
            ("alice", "alice", true),
            ("alice", "Alice", false),
            ("alice", "alic", false),
            ("alice,bob", "bob", true),
            ("*", "", true),
            ("*@example.com", "a@example.com", true),
            ("*@example.com", "a@example.com.org", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*,!bob", "bob", false),
            ("*,!bob", "alice", true),
            ("!bob", "alice", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("ccm-*@v1", "ccm-approval@v1", true),
            ("jörg", "jörg", true),
            ("j?rg", "jörg", false),
            ("j??rg", "jörg", true),
            ("[a]", "a", false),
            ("{a}", "{a}", true),
            (r"\*", r"\x", true),
        ] {
            assert_eq!(matches_list(list, text), expected, "{list} {text}");
        }
    }

    #[test]
    fn hostile_patterns_end_in_time() {
        let pattern = "*a".repeat(500);
        assert!(!matches_list(&pattern, &"b".repeat(4000)));
        assert!(!matches_list(&pattern, &format!("{}b", "a".repeat(4000))));
    }
}
