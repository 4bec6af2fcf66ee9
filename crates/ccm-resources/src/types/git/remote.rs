//! Addresses of repositories.

use std::path::Path;

use ccm_fetch::{GIT_SCHEMES, GitUrlError, check_git_url};
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Address of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitUrl(pub String);

impl GitUrl {
    /// Returns `true` for a repository on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.local_path().is_some()
    }

    /// Returns the path of a repository on this machine.
    pub(crate) fn local_path(&self) -> Option<&Path> {
        let path = self.0.strip_prefix("file://").unwrap_or(&self.0);
        path.starts_with('/').then(|| Path::new(path))
    }
}

impl TextValue for GitUrl {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching(
        "^(/|https?://|ssh://|git://|file:///|[^-/:@\\s][^/:@\\s]*@[^-/:\\s][^/:\\s]*:|[^-/:@\\s][^/:@\\s]*:[^:/])",
    ));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        check_git_url(text).map(|()| Self(text.to_owned())).map_err(|error| match error {
            GitUrlError::Scheme(scheme) => ValueError::not_one_of(&scheme, &GIT_SCHEMES),
            GitUrlError::Form { message, hint } => {
                hint.into_iter().fold(ValueError::new(message), ValueError::with_hint)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_repositories_are_checked() {
        for address in [
            "https://example.com/app.git",
            "https://ada@example.com/app",
            "http://127.0.0.1:8080/app",
            "ssh://git@example.com:2222/app.git",
            "git://example.com/app",
            "git@example.com:team/app.git",
            "example.com:app.git",
            "/srv/git/app.git",
            "file:///srv/git/app.git",
        ] {
            assert_eq!(GitUrl::from_text(address), Ok(GitUrl(address.to_owned())), "{address}");
        }
        for address in [
            "",
            "app",
            "-u./run",
            "../app",
            "/srv/../app",
            "ext::sh -c id",
            "ext::id",
            "fd::17",
            "ftp://example.com/app",
            "https://ada:secret@example.com/app",
            "https://",
            "https://example.com",
            "ssh://-oProxyCommand=id/app",
            "-oProxyCommand=id:app",
            "git@-oProxyCommand=id:app",
            "file://host/app",
            "https://example.com/a b",
            "git@example.com:a\nb",
        ] {
            let error = GitUrl::from_text(address).expect_err(address);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn blanks_in_addresses_are_named() {
        for (address, hint) in [
            ("https://example.com/my app.git", "%20"),
            ("/srv/git/my app.git", "%20"),
            ("git@example.com:my app.git", "%20"),
            (" https://example.com/app.git", "remove the blanks"),
            ("/srv/git/app.git ", "remove the blanks"),
        ] {
            let error = GitUrl::from_text(address).expect_err(address);
            assert_eq!(error.to_string(), format!("the address `{address}` has a blank in it"));
            assert!(format!("{error:?}").contains(hint), "{error:?}");
        }
    }
}
