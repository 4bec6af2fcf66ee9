//! Addresses of repositories.

/// Schemes of addresses. Others, such as `ext`, run commands.
pub const GIT_SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// Reason for which a text is no address of a repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitUrlError {
    /// The scheme is none of [`GIT_SCHEMES`].
    #[error("{0:?} is no scheme of a repository")]
    Scheme(String),
    /// Something else is wrong.
    #[error("{message}")]
    Form {
        /// Reason.
        message: String,
        /// Advice on what to write.
        hint: Option<&'static str>,
    },
}

impl GitUrlError {
    fn new(message: impl Into<String>) -> Self {
        Self::Form { message: message.into(), hint: None }
    }

    fn with_hint(message: impl Into<String>, hint: &'static str) -> Self {
        Self::Form { message: message.into(), hint: Some(hint) }
    }
}

/// Checks an address of a repository: a URL, `user@host:path`, or the absolute path of a local repository.
pub fn check_git_url(text: &str) -> Result<(), GitUrlError> {
    let shown = text.escape_debug();
    if text.contains(' ') {
        let message = format!("the address `{shown}` has a blank in it");
        return Err(if text.trim() == text {
            let hint = "write a URL with `%20` for each blank, such as `file:///srv/my%20app.git`";
            GitUrlError::with_hint(message, hint)
        } else {
            GitUrlError::with_hint(message, "remove the blanks at its beginning and end")
        });
    }
    if text.is_empty() || text.contains(char::is_whitespace) || text.contains(char::is_control) {
        return Err(GitUrlError::new(format!("`{shown}` is not the address of a repository")));
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        return check_scheme(scheme, rest, text);
    }
    if text.contains("::") {
        let helper = text.split("::").next().unwrap_or_default();
        let message = format!("the transport `{}::` is not allowed", helper.escape_debug());
        return Err(GitUrlError::with_hint(message, "write an address with https or ssh, or a local path"));
    }
    if text.starts_with('/') {
        return if is_canonical(text) {
            Ok(())
        } else {
            Err(GitUrlError::new(format!("`{shown}` is not the shortest form of a path")))
        };
    }
    // As in `git@example.com:team/app.git`.
    let is_host = |host: &str| {
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        !host.is_empty() && !host.starts_with('-') && !host.contains('/')
    };
    match text.split_once(':') {
        Some((host, path)) if is_host(host) && !host.starts_with('-') && !path.is_empty() => Ok(()),
        _ => Err(GitUrlError::with_hint(
            format!("`{shown}` is not the address of a repository"),
            "write a URL, `user@host:path` or an absolute path",
        )),
    }
}

fn check_scheme(scheme: &str, rest: &str, text: &str) -> Result<(), GitUrlError> {
    if !GIT_SCHEMES.contains(&scheme) {
        return Err(GitUrlError::Scheme(scheme.to_owned()));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if scheme == "file" {
        let is_path = authority.is_empty() && is_canonical(rest);
        return if is_path {
            Ok(())
        } else {
            let message = "a `file` address has an absolute path in its shortest form";
            Err(GitUrlError::with_hint(message, "write `file:///PATH`"))
        };
    }
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    // Commands, the configuration of the checkout and messages would show the password.
    if user.is_some_and(|user| user.contains(':')) {
        return Err(GitUrlError::with_hint(
            "the address of a repository must not contain a password",
            "use ssh with a key, or store the password with a credential helper of git for the `user`",
        ));
    }
    if host.is_empty() || host.starts_with('-') || path.is_empty() {
        return Err(GitUrlError::new(format!(
            "`{}` is not the address of a repository",
            text.escape_debug()
        )));
    }
    Ok(())
}

/// Returns `true` for an absolute path in its shortest form, other than `/`.
fn is_canonical(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}
