//! Patterns of keys and of texts in queries, as gjson reads them: `*`, `?` and a backslash before either.

use ccm_model::{Wildcard, Wildcards};

/// Parses a pattern. A backslash at the end is itself.
pub(super) fn parse(text: &str) -> Wildcards {
    let mut characters = text.chars();
    let next = || {
        Some(match characters.next()? {
            '*' => Wildcard::AnyCharacters,
            '?' => Wildcard::AnyCharacter,
            '\\' => Wildcard::Character(characters.next().unwrap_or('\\')),
            character => Wildcard::Character(character),
        })
    };
    std::iter::from_fn(next).collect()
}

/// Returns the steps of a lookup that a match costs.
pub(super) fn cost(pattern: &Wildcards, text: &str) -> usize {
    1 + pattern.steps(text) / 16
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn wildcards_match_whole_texts() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abc", true),
            ("a*c", "abcd", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("?", "é", true),
            ("?", "", false),
            ("*b*d", "abcabd", true),
            ("*ab*ab", "abab", true),
            ("*ab*ab", "ab", false),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("", "", true),
            ("", "a", false),
            ("x\\", "x\\", true),
        ] {
            assert_eq!(parse(pattern).matches(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        assert!(!parse(&("*a".repeat(200) + "b")).matches("a".repeat(5_000)));
    }
}
