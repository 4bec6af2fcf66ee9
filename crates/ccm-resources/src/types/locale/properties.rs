//! The properties of a locale, as the manifest writes them.

use ccm_properties::{NamedValues, PropertyKind, TextValue, ValueError, properties};

properties! {
    /// Properties of the locale of the machine; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct LocaleProperties {
        /// Locales for a part of what a locale decides, by variable, such as `LC_TIME: de_DE.UTF-8`.
        categories: NamedValues<LocaleName> { default: Some("not managed") },
    }
}

/// Variables of categories.
pub(super) const CATEGORIES: &[&str] = &[
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
];

/// Name of a locale, such as `de_DE.UTF-8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocaleName(pub String);

impl TextValue for LocaleName {
    const KIND: PropertyKind = PropertyKind::TEXT;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@');
        let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_allowed);
        if is_name {
            return Ok(Self(text.to_owned()));
        }
        Err(ValueError::new(format!("`{}` is not the name of a locale", text.escape_debug()))
            .with_hint("write a name like `en_US.UTF-8` or `C.UTF-8`"))
    }
}

impl LocaleName {
    /// Returns the name in the form in which `locale -a` lists it: `de_DE.utf8`.
    pub(super) fn canonical(&self) -> String {
        canonical(&self.0)
    }
}

/// Returns a name with its encoding in lower case and without dashes.
pub(super) fn canonical(name: &str) -> String {
    let (name, modifier) = match name.split_once('@') {
        Some((name, modifier)) => (name, format!("@{modifier}")),
        None => (name, String::new()),
    };
    match name.split_once('.') {
        Some((name, encoding)) => {
            format!("{name}.{}{modifier}", encoding.to_ascii_lowercase().replace('-', ""))
        }
        None => format!("{name}{modifier}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_in_one_form() {
        for (name, form) in [
            ("en_US.UTF-8", "en_US.utf8"),
            ("en_US.utf8", "en_US.utf8"),
            ("de_DE@euro", "de_DE@euro"),
            ("ca_ES.UTF-8@valencia", "ca_ES.utf8@valencia"),
            ("C", "C"),
        ] {
            assert_eq!(canonical(name), form);
        }
        for name in ["", "1", "a b", "a=b", "$(x)", "a/b", "-a"] {
            assert!(LocaleName::from_text(name).is_err(), "{name}");
        }
    }
}
