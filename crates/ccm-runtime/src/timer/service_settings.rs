//! Credentials of the service of a timer.

use std::path::Path;

/// Maximum length of the name of a credential in bytes.
const MAX_NAME: usize = 255;

/// Credential that systemd reads from a file for the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceCredential {
    name: String,
    path: String,
}

/// Reason why a credential can't be written into a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceCredentialError {
    /// The name has other characters than systemd allows, or a unit needs.
    #[error("the name of a credential has 1 to 255 letters, digits, `-`, `_`, `.`, `+` and `@`")]
    Name,
    /// The path can't be written into a unit.
    #[error(
        "the path of a credential is absolute, in UTF-8, without `..`, backslashes, control characters and blanks at the end"
    )]
    Path,
}

impl ServiceCredential {
    /// Builds the credential of this name, from the file at an absolute path.
    pub fn new(name: &str, path: &Path) -> Result<Self, ServiceCredentialError> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+@".contains(&byte);
        let is_name = (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_part);
        if !is_name || matches!(name, "." | "..") {
            return Err(ServiceCredentialError::Name);
        }
        let text = path.to_str().ok_or(ServiceCredentialError::Path)?;
        let is_plain =
            !text.contains(|part: char| part.is_control() || part == '\\') && text.trim_end() == text;
        let is_normal = text.starts_with('/')
            && text.len() > 1
            && text[1..].split('/').all(|part| !matches!(part, "" | "." | ".."));
        if !is_plain || !is_normal {
            return Err(ServiceCredentialError::Path);
        }
        Ok(Self { name: name.to_owned(), path: text.to_owned() })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &str {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_fit_into_a_line_of_a_unit() {
        use ServiceCredentialError::{Name, Path as BadPath};
        for (name, path, expected) in [
            ("db", "/etc/ccm/secrets/db", Ok(())),
            ("db.password-1_x+y@z", "/srv/50% off/$HOME:x", Ok(())),
            ("", "/x", Err(Name)),
            (".", "/x", Err(Name)),
            ("..", "/x", Err(Name)),
            ("a:b", "/x", Err(Name)),
            ("a b", "/x", Err(Name)),
            ("a%n", "/x", Err(Name)),
            ("größe", "/x", Err(Name)),
            (&"a".repeat(256), "/x", Err(Name)),
            ("db", "x", Err(BadPath)),
            ("db", "", Err(BadPath)),
            ("db", "/", Err(BadPath)),
            ("db", "/a/../b", Err(BadPath)),
            ("db", "/a//b", Err(BadPath)),
            ("db", "/a/", Err(BadPath)),
            ("db", "/a\nExecStart=/bin/false", Err(BadPath)),
            ("db", "/a\\", Err(BadPath)),
            ("db", "/a ", Err(BadPath)),
        ] {
            let found = ServiceCredential::new(name, Path::new(path)).map(|_| ());
            assert_eq!(found, expected, "{name}={path}");
        }
    }
}
