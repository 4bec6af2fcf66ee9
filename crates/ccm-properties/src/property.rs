//! One property, as its type declares it.

use ccm_model::Presentation;

use crate::{Exposure, PropertyKind, PropertyValue, TextSyntax};

/// Default of `since`, which documentation does not show.
const FIRST_VERSION: &str = "0.1.0";

/// Property of a resource type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertySpec {
    /// Name in a manifest.
    pub name: &'static str,
    /// Aliases. Giving two names of one property is an error.
    pub aliases: &'static [&'static str],
    /// Names of such a property in other tools. Giving one is an error that names the property.
    pub foreign_names: &'static [&'static str],
    /// Values that it may have.
    pub kind: PropertyKind,
    /// Lines of its documentation, without the default.
    pub documentation: &'static [&'static str],
    /// Noun phrase that errors in the form of the value use, such as "a list of users". `None` for that of the kind.
    pub noun: Option<&'static str>,
    /// Default in words, as Markdown, for documentation. [`TypedResource::build`](crate::TypedResource::build)
    /// applies it.
    pub default: Option<&'static str>,
    /// `true` if the resource or record needs the property, for documentation and the schema of a record.
    /// [`TypedResource::build`](crate::TypedResource::build) checks it.
    pub required: bool,
    /// `true` if a resource that is [`sensitive`](crate::SENSITIVE) hides it.
    pub sensitive: bool,
    /// `true` if its value is never shown, such as that of a password.
    pub secret: bool,
    /// Other users of the machine who can read the value.
    pub exposure: Exposure,
    /// Form of the value in written events.
    pub presentation: Presentation,
    /// Syntax of its text.
    pub syntax: TextSyntax,
    /// Version of ccm that introduced the property.
    pub since: &'static str,
}

impl PropertySpec {
    /// Builds the specification of a property with all defaults.
    pub const fn new<T: PropertyValue>(name: &'static str, documentation: &'static [&'static str]) -> Self {
        let syntax = match T::KIND {
            PropertyKind::Record { properties, .. } => TextSyntax::Record(properties),
            _ => TextSyntax::Plain,
        };
        Self {
            name,
            aliases: &[],
            foreign_names: &[],
            kind: T::KIND,
            documentation,
            noun: None,
            default: None,
            required: false,
            sensitive: false,
            secret: false,
            exposure: Exposure::None,
            presentation: Presentation::AsWritten,
            syntax,
            since: FIRST_VERSION,
        }
    }

    /// Returns `true` if a key of a manifest is the name or an alias of the property.
    pub fn is_named(&self, key: &str) -> bool {
        self.name == key || self.aliases.contains(&key)
    }

    /// Returns the documentation, with the version but without the default.
    pub fn documentation_without_default(&self) -> String {
        let lines: Vec<&str> = self.documentation.iter().map(|line| line.trim()).collect();
        let since = Some(self.since).filter(|since| *since != FIRST_VERSION);
        lines.join("\n") + &since.map(|since| format!(" Since version {since}.")).unwrap_or_default()
    }

    /// Returns the documentation, with the version and the default.
    pub fn full_documentation(&self) -> String {
        let default = self.default.map(|default| format!(" Default: {default}.")).unwrap_or_default();
        self.documentation_without_default() + &default
    }
}

/// Finds a property by name.
pub fn find(properties: &'static [PropertySpec], name: &str) -> Option<&'static PropertySpec> {
    properties.iter().find(|property| property.name == name)
}

/// Returns the aliases of properties, each with the canonical name.
pub fn aliases(
    properties: &'static [PropertySpec],
) -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    properties.iter().flat_map(|property| property.aliases.iter().map(|alias| (*alias, property.name)))
}
