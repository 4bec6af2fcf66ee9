//! Lists of patterns, as OpenSSH matches them.

/// Returns `true` if one pattern of a list, separated by commas, matches the whole text, and none with `!` does.
/// `*` stands for any characters, `?` for one. Upper and lower case differ.
pub(crate) fn matches_list(list: &str, text: &str) -> bool {
    let mut found = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches_pattern(pattern, text) => return false,
            Some(_) => {}
            None => found |= matches_pattern(pattern, text),
        }
    }
    found
}

/// Returns `true` if the pattern matches the whole text. Takes time in proportion to the product of the lengths.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut position) = (0, 0);
    // Place behind the last star, and where the text that it stands for ends.
    let mut star = None;
    while position < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                star = Some((at, position));
            }
            Some(byte) if *byte == b'?' || *byte == text[position] => {
                at += 1;
                position += 1;
            }
            _ => {
                let Some((behind, end)) = star else { return false };
                at = behind;
                position = end + 1;
                star = Some((behind, position));
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
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
