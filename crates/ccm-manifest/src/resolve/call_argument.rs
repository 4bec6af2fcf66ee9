//! Expressions in a text that may be a call with a quoted argument, such as `contains("…")`. Their values
//! stay within the argument, whatever characters they have.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Before the text.
    #[default]
    Ahead,
    /// Within an argument in single quotes, which have no escapes.
    Single,
    /// Within an argument in double quotes.
    Double,
    /// Within double quotes, behind a backslash.
    Escape,
    /// Behind the argument, or in a text that is no call.
    Outside,
}

impl Argument {
    /// Writes a literal. Single quotes become double quotes, because single quotes can't hold every value.
    pub(crate) fn literal(self, literal: &str, functions: &[&str], text: &mut String) -> Self {
        let (mut open, mut rest) = (self, literal);
        if self == Self::Ahead {
            let Some((at, quote)) = opening(literal, functions) else {
                text.push_str(literal);
                return Self::Outside;
            };
            text.push_str(&literal[..at]);
            text.push('"');
            open = if quote == '\'' { Self::Single } else { Self::Double };
            rest = &literal[at + 1..];
        }
        for character in rest.chars() {
            let behind = match (open, character) {
                (Self::Single, '\'') | (Self::Double, '"') => Self::Outside,
                (Self::Double, '\\') => Self::Escape,
                (Self::Escape, _) => Self::Double,
                _ => open,
            };
            match (open, character) {
                (Self::Single, '\'') => text.push('"'),
                (Self::Single, _) => push_quoted(character, text),
                _ => text.push(character),
            }
            open = behind;
        }
        open
    }

    /// Writes a value with escapes. A pending backslash becomes a literal one.
    pub(crate) fn value(self, value: &str, text: &mut String) -> Self {
        if matches!(self, Self::Ahead | Self::Outside) {
            text.push_str(value);
            return Self::Outside;
        }
        if self == Self::Escape {
            text.push('\\');
        }
        value.chars().for_each(|character| push_quoted(character, text));
        if self == Self::Escape { Self::Double } else { self }
    }
}

/// Returns the position and kind of the opening quote, or `None` for a text that is no call.
fn opening(literal: &str, functions: &[&str]) -> Option<(usize, char)> {
    let trimmed = literal.trim_start();
    let called = functions.iter().find_map(|function| trimmed.strip_prefix(*function));
    let argument = called?.trim_start().strip_prefix('(')?.trim_start();
    let quote = argument.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    Some((literal.len() - argument.len(), quote))
}

fn push_quoted(character: char, text: &mut String) {
    if matches!(character, '\\' | '"') {
        text.push('\\');
    }
    text.push(character);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_within_the_argument() {
        for (before, value, after, written) in [
            (r#"contains("a "#, "b", r#"")"#, r#"contains("a b")"#),
            (r#"contains(""#, r#"a"b\c"#, r#"")"#, r#"contains("a\"b\\c")"#),
            (r#"contains(""#, "\")\n", r#" \"d")"#, "contains(\"\\\")\n \\\"d\")"),
            (r"contains('\d", "it's", "\"')", r#"contains("\\dit's\"")"#),
            (" matches ( '", "\"", "' ) ", " matches ( \"\\\"\" ) "),
            (r#"matches("\"#, "n", r#"\d")"#, r#"matches("\\n\d")"#),
            (r#"matches("\\"#, "n", r#"")"#, r#"matches("\\n")"#),
            // Outside of an argument, a value is not escaped.
            (r#"contains("a")"#, "\"", "", r#"contains("a")""#),
            ("contains(", "\"a\"", ")", r#"contains("a")"#),
            ("it's ", "a \"b\\", "", "it's a \"b\\"),
            ("equals('", "'", "')", "equals(''')"),
            ("containsx('", "'", "')", "containsx(''')"),
            ("", "contains('a')", "", "contains('a')"),
        ] {
            let mut text = String::new();
            let mut argument = Argument::default();
            if !before.is_empty() {
                argument = argument.literal(before, &["contains", "matches"], &mut text);
            }
            argument = argument.value(value, &mut text);
            argument.literal(after, &["contains", "matches"], &mut text);
            assert_eq!(text, written, "{before} {value} {after}");
        }
    }
}
