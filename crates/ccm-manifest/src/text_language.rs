//! Syntax of texts that hold expressions.

use ccm_properties::TextSyntax;

/// Syntax of a text, for expanding expressions in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextLanguage<'a> {
    pub(crate) syntax: TextSyntax,
    /// Provider for which the text would be a shell script.
    pub(crate) shell_provider: Option<&'a str>,
}

impl TextLanguage<'_> {
    /// Plain text, whatever the provider.
    pub(crate) const PLAIN: Self = Self { syntax: TextSyntax::Plain, shell_provider: None };

    /// Returns `true` if the text is split into words.
    pub(crate) fn is_words(self) -> bool {
        self.syntax == TextSyntax::Argv
    }

    /// Returns the syntax of an entry of a map.
    pub(crate) fn of_entry(self, key: &str) -> Self {
        Self { syntax: self.syntax.of_entry(key), ..self }
    }

    /// Returns the same syntax without splitting into words.
    pub(crate) fn unquoted(self) -> Self {
        let syntax = if self.is_words() { TextSyntax::Plain } else { self.syntax };
        Self { syntax, ..self }
    }
}

/// Provider that a resource requests.
#[derive(Clone, Debug)]
pub(crate) enum ProviderChoice {
    /// Valid provider, or `None` to let ccm select one.
    Valid(Option<String>),
    /// Invalid provider, already reported. The user may have meant any provider.
    Invalid,
}
