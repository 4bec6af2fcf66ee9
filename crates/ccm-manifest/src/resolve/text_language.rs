//! Syntax of texts that hold expressions.

use ccm_model::Properties;
use ccm_properties::{HEALTH_CHECKS, HealthCheckProperties, PropertySet as _, TextSyntax, TypeSpec};

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

    /// List of health checks.
    pub(crate) const CHECKS: Self =
        Self { syntax: TextSyntax::Record(HealthCheckProperties::PROPERTIES), shell_provider: Some("shell") };

    /// Returns `true` if the text is split into words.
    pub(crate) fn is_words(self) -> bool {
        self.syntax == TextSyntax::Argv
    }

    /// Returns the syntax of an entry of a map.
    pub(crate) fn of_entry(self, key: &str, for_shell: bool) -> Self {
        Self { syntax: self.syntax.of_entry(key, for_shell), ..self }
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

/// Returns the language of a property.
pub(crate) fn language_of<'a>(
    spec: &'a dyn TypeSpec,
    property: &str,
    provider: &ProviderChoice,
    properties: &Properties,
) -> TextLanguage<'a> {
    let syntax = |provider: Option<&str>| spec.syntax(property, provider, properties);
    let mut providers = spec.providers().into_iter();
    let shell_provider = match property {
        HEALTH_CHECKS => Some("shell"),
        _ => providers.find(|name| syntax(Some(name)) == TextSyntax::Shell),
    };
    let syntax = match provider {
        ProviderChoice::Valid(provider) => syntax(provider.as_deref()),
        ProviderChoice::Invalid if shell_provider.is_some() && property != HEALTH_CHECKS => TextSyntax::Shell,
        ProviderChoice::Invalid => syntax(None),
    };
    TextLanguage { syntax, shell_provider }
}
