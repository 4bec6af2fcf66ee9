//! Maintainer of the packages.

use std::path::Path;

use serde_json::Value;

use crate::cargo;

/// Name and address of the maintainer, as in `NAME <ADDRESS>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Maintainer(String);

impl Maintainer {
    /// Reads a name and an address. They become a line of the packages' metadata.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let address = text.strip_suffix('>').and_then(|text| text.split_once(" <"));
        let is_plain = |part: char| !part.is_control() && !"<>".contains(part);
        let is_valid = address.is_some_and(|(name, address)| {
            let parts = address.split_once('@');
            let has_both = parts.is_some_and(|(user, host)| !user.is_empty() && !host.is_empty());
            !name.trim().is_empty()
                && name.chars().all(is_plain)
                && has_both
                && address.chars().all(|part| is_plain(part) && !part.is_whitespace())
        });
        if is_valid { Ok(Self(text.to_owned())) } else { Err(format!("{text:?} is no `NAME <ADDRESS>`")) }
    }

    /// Reads the key `maintainer` of `workspace.metadata.package` in the `Cargo.toml` of the workspace.
    pub(super) fn of_workspace(root: &Path) -> Result<Self, String> {
        let metadata = cargo(root, &["metadata", "--no-deps", "--format-version", "1"])?;
        let metadata = serde_json::from_str::<Value>(&metadata).map_err(|error| error.to_string())?;
        let maintainer = metadata["metadata"]["package"]["maintainer"].as_str();
        let maintainer =
            maintainer.ok_or("Cargo.toml has no text `workspace.metadata.package.maintainer`")?;
        Self::parse(maintainer)
            .map_err(|error| format!("Cargo.toml: `workspace.metadata.package.maintainer`: {error}"))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if the address is in the domain that stands for no address.
    pub(super) fn is_unreachable(&self) -> bool {
        self.0.ends_with(".invalid>")
    }

    #[cfg(test)]
    pub(super) fn for_tests() -> Self {
        Self("ccm developers <ccm@example.org>".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_address_are_one_line() {
        for text in ["Ada Lovelace <ada@example.org>", "ops <o@x>"] {
            assert_eq!(Maintainer::parse(text).as_ref().map(Maintainer::as_str), Ok(text));
        }
        for text in [
            "",
            "Ada",
            "<ada@example.org>",
            " <ada@example.org>",
            "Ada <ada>",
            "Ada <@example.org>",
            "Ada <ada@example.org> ",
            "Ada <ada@exam ple.org>",
            "Ada\nDepends: x <ada@example.org>",
            "Ada <Bob <ada@example.org>",
        ] {
            let error = Maintainer::parse(text).expect_err(text);
            assert_eq!(error, format!("{text:?} is no `NAME <ADDRESS>`"));
        }
    }

    #[test]
    fn workspace_names_a_maintainer() {
        let root = super::super::root().expect("the workspace");
        let maintainer = Maintainer::of_workspace(&root).expect("a maintainer");
        assert!(Maintainer("x <x@y.invalid>".to_owned()).is_unreachable());
        assert!(!Maintainer::for_tests().is_unreachable());
        assert_ne!(maintainer, Maintainer::for_tests());
    }
}
