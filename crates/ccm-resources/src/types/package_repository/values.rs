//! Values of properties of repositories.

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError, is_web_address};

/// Address of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryUri(pub String);

impl TextValue for RepositoryUri {
    const KIND: PropertyKind = PropertyKind::Text(
        TextKind::STRICT.matching("^(https?|ftp|file|cdrom|mirror\\+https?|mirror):[^\\s]+$"),
    );

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let (scheme, rest) = text.split_once(':').unwrap_or_default();
        let schemes = ["https", "http", "ftp", "file", "cdrom", "mirror", "mirror+http", "mirror+https"];
        let shown = text.escape_debug();
        if rest.is_empty() || text.contains(char::is_whitespace) || text.contains(char::is_control) {
            return Err(ValueError::new(format!("`{shown}` is not the address of a repository")));
        }
        if !schemes.contains(&scheme) {
            return Err(ValueError::not_one_of(scheme, &schemes));
        }
        let authority = rest.trim_start_matches('/').split('/').next().unwrap_or_default();
        if authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':')) {
            return Err(ValueError::new("the address of a repository must not contain a password")
                .with_hint("write the password to `/etc/apt/auth.conf.d` with a `file` resource"));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Word in the definition of a repository, such as the name of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryWord(pub String);

impl TextValue for RepositoryWord {
    const KIND: PropertyKind =
        PropertyKind::Text(TextKind::ANY.matching("^[A-Za-z0-9./][A-Za-z0-9_.+/~:-]*$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let is_allowed = |part: char| part.is_ascii_alphanumeric() || "_.+/~:-".contains(part);
        let begins = |part: char| part.is_ascii_alphanumeric() || "./".contains(part);
        if text.starts_with(begins) && text.chars().all(is_allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ValueError::new(format!("`{}` is not a word of a repository", text.escape_debug())))
        }
    }
}

/// Fingerprint of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyFingerprint(pub String);

impl TextValue for KeyFingerprint {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::ANY.matching("^([0-9A-Fa-f] *){40}$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let digits: String = text.chars().filter(|part| *part != ' ').collect();
        if digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self(digits.to_ascii_uppercase()));
        }
        let message = format!("`{}` is not the fingerprint of a key", text.escape_debug());
        Err(ValueError::new(message).with_hint("write the 40 digits that `gpg --show-keys FILE` prints"))
    }
}

/// Source of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// A file, relative to the manifest.
    File(String),
    /// An address with https or http.
    Web(String),
}

impl TextValue for KeySource {
    const KIND: PropertyKind = PropertyKind::Text(TextKind { min_length: 1, ..TextKind::STRICT });

    fn from_text(text: &str) -> Result<Self, ValueError> {
        if text.is_empty() || text.contains(char::is_control) {
            return Err(ValueError::new("the path of the key is empty, or has control characters"));
        }
        if text.starts_with("-----BEGIN") {
            return Err(ValueError::new("`key` is a path or a URL, not the key itself")
                .with_hint("write the key to a file beside the manifest"));
        }
        Ok(if is_web_address(text) { Self::Web(text.to_owned()) } else { Self::File(text.to_owned()) })
    }
}
