//! Literals in hints, which stand within the quotes of the text that the hint is about.

/// Spelling of the literals of an expression in hints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HintLiterals {
    /// Quote of texts: not that of YAML around the expression.
    quote: char,
    /// Kind of the value that is expected.
    expected: ExpectedKind,
}

/// Kind of a value, for its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedKind {
    Text,
    /// Part of a name, which can't be empty.
    Name,
    List,
    Boolean,
    Number,
}

impl HintLiterals {
    /// Literals in a place where no quotes of YAML are known. Single quotes stand within double ones and in plain texts.
    pub(crate) const PLAIN: Self = Self { quote: '\'', expected: ExpectedKind::Text };

    /// Returns the literals within a text that the manifest writes from here on.
    pub(crate) fn within(self, written: &str) -> Self {
        Self { quote: if written.starts_with('\'') { '"' } else { '\'' }, ..self }
    }

    /// Returns the literals of an expression that yields a value of this kind.
    pub(crate) fn of(self, expected: ExpectedKind) -> Self {
        Self { expected, ..self }
    }

    /// Returns a text between quotes.
    pub(crate) fn text(self, text: &str) -> String {
        format!("{0}{text}{0}", self.quote)
    }

    /// Returns the default for a missing value.
    pub(crate) fn empty(self) -> String {
        match self.expected {
            ExpectedKind::Text => self.text(""),
            ExpectedKind::Name => self.text("DEFAULT"),
            ExpectedKind::List => "[]".to_owned(),
            ExpectedKind::Boolean => "false".to_owned(),
            ExpectedKind::Number => "0".to_owned(),
        }
    }

    /// Returns advice whose texts stand between single quotes, with the quotes of this place.
    pub(crate) fn advice(self, pattern: &str) -> String {
        pattern.replace('\'', self.quote.encode_utf8(&mut [0; 4]))
    }
}

/// Returns the kind of value that an expression needs at some of its bytes, as far as what stands around them shows it.
pub(crate) fn needed_kind(text: &str, operand: std::ops::Range<usize>) -> Option<ExpectedKind> {
    let before = text.get(..operand.start)?.trim_end();
    let after = text.get(operand.end..)?.trim_start();
    let word_before = &before[before.trim_end_matches(|part: char| part.is_alphanumeric()).len()..];
    let word_after = &after[..after.find(|part: char| !part.is_alphanumeric()).unwrap_or(after.len())];
    let compared = ["==", "!=", "<=", ">=", "<", ">"];
    let kind_of = |other: &str| {
        let other = other.trim_matches(['(', ')', ' ']);
        match other.bytes().next() {
            Some(b'0'..=b'9') => ExpectedKind::Number,
            _ if other.starts_with("true") || other.starts_with("false") => ExpectedKind::Boolean,
            _ => ExpectedKind::Text,
        }
    };
    if let Some(other) = compared.iter().find_map(|sign| after.strip_prefix(sign)) {
        return Some(kind_of(other));
    }
    if let Some(other) = compared.iter().find_map(|sign| before.strip_suffix(sign)) {
        return Some(kind_of(&other[other.trim_end().rfind([' ', '(']).map_or(0, |at| at + 1)..]));
    }
    if word_before == "in" {
        return Some(ExpectedKind::List);
    }
    if matches!(word_after, "in" | "matches" | "contains" | "startsWith" | "endsWith")
        || matches!(word_before, "matches" | "contains" | "startsWith" | "endsWith")
    {
        return Some(ExpectedKind::Text);
    }
    if after.starts_with(['-', '*', '/', '%', '^']) || before.ends_with(['-', '*', '/', '%', '^']) {
        return Some(ExpectedKind::Number);
    }
    if let Some(other) = after.strip_prefix('+').or_else(|| before.strip_suffix('+').map(|_| before)) {
        return Some(if after.starts_with('+') { kind_of(other) } else { ExpectedKind::Text });
    }
    let is_boolean = matches!(word_after, "and" | "or")
        || matches!(word_before, "and" | "or" | "not")
        || before.ends_with(['!', '&', '|'])
        || after.starts_with(['&'])
        || after.starts_with("||")
        || after.starts_with('?') && !after.starts_with("??") && !after.starts_with("?.");
    if is_boolean {
        return Some(ExpectedKind::Boolean);
    }
    let called = before
        .strip_suffix('(')
        .map(|head| &head[head.trim_end_matches(|part: char| part.is_alphanumeric()).len()..]);
    match called {
        Some(
            "len" | "map" | "filter" | "all" | "any" | "one" | "none" | "join" | "first" | "last" | "sort"
            | "sum" | "uniq" | "flatten" | "count",
        ) => Some(ExpectedKind::List),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_have_the_kind_that_is_needed() {
        for (text, expected) in [
            ("Data.x == 'a'", Some(ExpectedKind::Text)),
            ("Data.x >= 5", Some(ExpectedKind::Number)),
            ("5 < Data.x", Some(ExpectedKind::Number)),
            ("a and 5 < Data.x", Some(ExpectedKind::Number)),
            ("'a' != Data.x", Some(ExpectedKind::Text)),
            ("Data.x == true", Some(ExpectedKind::Boolean)),
            ("not Data.x", Some(ExpectedKind::Boolean)),
            ("!Data.x", Some(ExpectedKind::Boolean)),
            ("Data.x ? 1 : 2", Some(ExpectedKind::Boolean)),
            ("a or Data.x", Some(ExpectedKind::Boolean)),
            ("Data.x && a", Some(ExpectedKind::Boolean)),
            ("'a' in Data.x", Some(ExpectedKind::List)),
            ("Data.x in ['a']", Some(ExpectedKind::Text)),
            ("len(Data.x)", Some(ExpectedKind::List)),
            ("Data.x * 2", Some(ExpectedKind::Number)),
            ("Data.x + 2", Some(ExpectedKind::Number)),
            ("Data.x + 'a'", Some(ExpectedKind::Text)),
            ("upper(Data.x)", None),
            ("Data.x", None),
        ] {
            let start = text.find("Data.x").unwrap();
            assert_eq!(needed_kind(text, start..start + "Data.x".len()), expected, "{text}");
        }
    }

    #[test]
    fn literals_stand_within_the_quotes_of_the_manifest() {
        for (written, text, advice) in [
            ("'{{ Data.a }}'", "\"\"", "write `x == \"VALUE\"`"),
            ("\"{{ Data.a }}\"", "''", "write `x == 'VALUE'`"),
            ("Data.a", "''", "write `x == 'VALUE'`"),
        ] {
            let literals = HintLiterals::PLAIN.within(written);
            assert_eq!(literals.empty(), text, "{written}");
            assert_eq!(literals.advice("write `x == 'VALUE'`"), advice, "{written}");
            assert_eq!(literals.of(ExpectedKind::List).empty(), "[]", "{written}");
            assert_eq!(literals.of(ExpectedKind::Boolean).empty(), "false", "{written}");
        }
    }
}
