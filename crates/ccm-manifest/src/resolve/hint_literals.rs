//! Literals in hints, which stand within the quotes of the text that the hint is about.

/// Spelling of the literals of an expression in hints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HintLiterals {
    /// Quote of texts: not that of YAML around the expression.
    quote: char,
    /// A list is expected, so that an empty default is `[]`.
    is_list: bool,
}

impl HintLiterals {
    /// Literals in a place where no quotes of YAML are known. Single quotes stand within double ones and in plain texts.
    pub(crate) const PLAIN: Self = Self { quote: '\'', is_list: false };

    /// Returns the literals within a text that the manifest writes from here on.
    pub(crate) fn within(self, written: &str) -> Self {
        Self { quote: if written.starts_with('\'') { '"' } else { '\'' }, ..self }
    }

    /// Returns the literals of an expression that yields a list.
    pub(crate) fn of_list(self) -> Self {
        Self { is_list: true, ..self }
    }

    /// Returns a text between quotes.
    pub(crate) fn text(self, text: &str) -> String {
        format!("{0}{text}{0}", self.quote)
    }

    /// Returns the default for a missing value.
    pub(crate) fn empty(self) -> String {
        if self.is_list { "[]".to_owned() } else { self.text("") }
    }

    /// Returns advice whose texts stand between single quotes, with the quotes of this place.
    pub(crate) fn advice(self, pattern: &str) -> String {
        pattern.replace('\'', self.quote.encode_utf8(&mut [0; 4]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(literals.of_list().empty(), "[]", "{written}");
        }
    }
}
