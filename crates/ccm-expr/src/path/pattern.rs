//! Wildcard patterns.

/// Pattern: `*` matches any characters, `?` one character.
#[derive(Clone, Debug, Default)]
pub(super) struct Pattern {
    tokens: Vec<PatternToken>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternToken {
    Any,
    One,
    Literal(char),
}

impl Pattern {
    /// Parses a pattern; a backslash escapes the next character.
    pub(super) fn parse(text: &str) -> Self {
        let mut tokens = Vec::with_capacity(text.len());
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            let token = match character {
                '*' => PatternToken::Any,
                '?' => PatternToken::One,
                '\\' => PatternToken::Literal(characters.next().unwrap_or('\\')),
                other => PatternToken::Literal(other),
            };
            if (token, tokens.last()) != (PatternToken::Any, Some(&PatternToken::Any)) {
                tokens.push(token);
            }
        }
        Self { tokens }
    }

    /// Maximum number of steps of a match.
    pub(super) fn cost(&self, text: &str) -> usize {
        let stars = self.tokens.iter().filter(|token| **token == PatternToken::Any).count();
        let longest_run = if stars > 1 { self.tokens.len() } else { 2 };
        1 + text.len().saturating_mul(longest_run) / 16
    }

    /// Returns `true` if the whole text matches. The time is at worst the product of the lengths: only the last
    /// `*` is ever extended, because extending an earlier one can't help once the last one was reached.
    pub(super) fn matches(&self, text: &str) -> bool {
        let mut token = 0;
        let mut rest = text.chars();
        let mut last_star = None;
        loop {
            let here = rest.clone();
            match (self.tokens.get(token), rest.next()) {
                (Some(PatternToken::Any), _) => {
                    rest = here.clone();
                    last_star = Some((token + 1, here));
                    token += 1;
                }
                (Some(PatternToken::One), Some(_)) => token += 1,
                (Some(PatternToken::Literal(expected)), Some(found)) if *expected == found => token += 1,
                (None, None) => return true,
                _ => {
                    let Some((after, from)) = &mut last_star else { return false };
                    if from.next().is_none() {
                        return false;
                    }
                    token = *after;
                    rest = from.clone();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

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
            assert_eq!(Pattern::parse(pattern).matches(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        assert!(!Pattern::parse(&("*a".repeat(200) + "b")).matches(&"a".repeat(5_000)));
    }
}
