//! Settings of the service of a timer: its credentials, and the units that a failed run starts.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Maximum length of names of units and credentials in bytes.
const MAX_NAME: usize = 255;
/// Kinds of units that a failed run may start.
const FAILURE_KINDS: [&str; 5] = ["service", "target", "timer", "socket", "path"];
/// Specifiers of systemd in the name of a unit, such as `%n` for the name of the service that failed.
const SPECIFIERS: &str = "nNpPiIjJHmbuU";

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

/// Unit that systemd starts after a run that failed. Its name may have specifiers: `notify@%n.service`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureUnit(String);

/// Reason why a text is no unit that a failed run can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FailureUnitError {
    /// The name does not end with a kind of unit.
    #[error("the name of a unit ends with its kind, such as `notify.service`")]
    Kind,
    /// The name is a template without an instance.
    #[error("a template needs an instance, such as `notify@%n.service`")]
    Template,
    /// The name has characters that units don't have.
    #[error(
        "the name of a unit has letters, digits, `:`, `-`, `_`, `.` and `@`, and specifiers of systemd such as `%n`"
    )]
    Characters,
}

impl FailureUnit {
    /// Returns the names of the unit files that systemd may load the unit from; none if a specifier decides about them.
    pub(super) fn files(&self) -> Vec<String> {
        let (stem, kind) = self.0.rsplit_once('.').unwrap_or((&self.0, ""));
        match stem.split_once('@') {
            Some((prefix, _)) if prefix.contains('%') => Vec::new(),
            Some((prefix, instance)) => {
                let own = (!instance.contains('%')).then(|| self.0.clone());
                own.into_iter().chain([format!("{prefix}@.{kind}")]).collect()
            }
            None if stem.contains('%') => Vec::new(),
            None => vec![self.0.clone()],
        }
    }
}

impl FromStr for FailureUnit {
    type Err = FailureUnitError;

    fn from_str(text: &str) -> Result<Self, FailureUnitError> {
        let (stem, kind) = text.rsplit_once('.').ok_or(FailureUnitError::Kind)?;
        if !FAILURE_KINDS.contains(&kind) {
            return Err(FailureUnitError::Kind);
        }
        let mut parts = stem.chars();
        let mut is_valid = text.len() <= MAX_NAME
            && stem.starts_with(|part: char| part.is_ascii_alphanumeric() || part == '%');
        while let Some(part) = parts.next() {
            is_valid &= match part {
                '%' => parts.next().is_some_and(|specifier| SPECIFIERS.contains(specifier)),
                part => part.is_ascii_alphanumeric() || ":-_.@".contains(part),
            };
        }
        if !is_valid {
            return Err(FailureUnitError::Characters);
        }
        if stem.ends_with('@') {
            return Err(FailureUnitError::Template);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for FailureUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
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

    #[test]
    fn units_of_a_failure_are_checked() {
        use FailureUnitError::{Characters, Kind, Template};
        for (text, expected) in [
            ("notify.service", Ok(&["notify.service"][..])),
            ("alert.target", Ok(&["alert.target"])),
            ("notify@site.service", Ok(&["notify@site.service", "notify@.service"])),
            ("notify@%n.service", Ok(&["notify@.service"])),
            ("notify@%N:%H.service", Ok(&["notify@.service"])),
            ("%p-failed.service", Ok(&[])),
            ("%p@x.service", Ok(&[])),
            ("notify", Err(Kind)),
            ("", Err(Kind)),
            ("notify.servce", Err(Kind)),
            ("notify.device", Err(Kind)),
            ("notify@.service", Err(Template)),
            ("@x.service", Err(Characters)),
            (".service", Err(Characters)),
            ("-x.service", Err(Characters)),
            ("a b.service", Err(Characters)),
            ("a/b.service", Err(Characters)),
            ("a\n[Service].service", Err(Characters)),
            ("notify@%.service", Err(Characters)),
            ("notify@%q.service", Err(Characters)),
        ] {
            let found = text.parse::<FailureUnit>();
            let expected =
                expected.map(|files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect());
            assert_eq!(found.map(|unit| unit.files()), expected, "{text}");
        }
    }
}
