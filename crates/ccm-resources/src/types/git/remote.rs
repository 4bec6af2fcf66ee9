//! Addresses of repositories.

use std::path::Path;

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

use crate::support::values::canonical_path::is_canonical;

/// Schemes of addresses. Others, such as `ext`, run commands.
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

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
        let shown = text.escape_debug();
        if text.contains(' ') {
            let error = ValueError::new(format!("the address `{shown}` has a blank in it"));
            return Err(if text.trim() == text {
                error.with_hint("write a URL with `%20` for each blank, such as `file:///srv/my%20app.git`")
            } else {
                error.with_hint("remove the blanks at its beginning and end")
            });
        }
        if text.is_empty() || text.contains(char::is_whitespace) || text.contains(char::is_control) {
            return Err(ValueError::new(format!("`{shown}` is not the address of a repository")));
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return check_scheme(scheme, rest, text);
        }
        if text.contains("::") {
            let helper = text.split("::").next().unwrap_or_default();
            let message = format!("the transport `{}::` is not allowed", helper.escape_debug());
            let hint = "write an address with https or ssh, or a local path";
            return Err(ValueError::new(message).with_hint(hint));
        }
        if text.starts_with('/') {
            return if is_canonical(text) {
                Ok(Self(text.to_owned()))
            } else {
                Err(ValueError::new(format!("`{shown}` is not the shortest form of a path")))
            };
        }
        // As in `git@example.com:team/app.git`.
        let is_host = |host: &str| {
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            !host.is_empty() && !host.starts_with('-') && !host.contains('/')
        };
        match text.split_once(':') {
            Some((host, path)) if is_host(host) && !host.starts_with('-') && !path.is_empty() => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(ValueError::new(format!("`{shown}` is not the address of a repository"))
                .with_hint("write a URL, `user@host:path` or an absolute path")),
        }
    }
}

fn check_scheme(scheme: &str, rest: &str, text: &str) -> Result<GitUrl, ValueError> {
    if !SCHEMES.contains(&scheme) {
        return Err(ValueError::not_one_of(scheme, &SCHEMES));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if scheme == "file" {
        let is_path = authority.is_empty() && is_canonical(&rest[authority.len()..]);
        return if is_path {
            Ok(GitUrl(text.to_owned()))
        } else {
            Err(ValueError::new("a `file` address has an absolute path in its shortest form")
                .with_hint("write `file:///PATH`"))
        };
    }
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    // Commands, the configuration of the checkout and messages would show the password.
    if user.is_some_and(|user| user.contains(':')) {
        return Err(ValueError::new("the address of a repository must not contain a password").with_hint(
            "use ssh with a key, or store the password with a credential helper of git for the `user`",
        ));
    }
    if host.is_empty() || host.starts_with('-') || path.is_empty() {
        return Err(ValueError::new(format!("`{}` is not the address of a repository", text.escape_debug())));
    }
    Ok(GitUrl(text.to_owned()))
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
