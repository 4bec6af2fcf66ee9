//! Credentials that drop-ins of a service give it.

use std::path::{Path, PathBuf};

use super::drop_ins::settings;
use super::unit_file::unit_names;
use super::{TimerError, TimerName, Timers};

/// Origin of a credential of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialOrigin {
    /// A file.
    File(PathBuf),
    /// The unit itself.
    Text(String),
    /// Something that only the service can read, such as an encrypted file.
    Service,
}

impl Timers<'_> {
    /// Returns the credentials that drop-ins of the timer's service give it, by name.
    pub fn drop_in_credentials(
        &self,
        name: &TimerName,
    ) -> Result<Vec<(String, CredentialOrigin)>, TimerError> {
        let [service, _] = unit_names(name);
        let mut found = Vec::new();
        for drop_in in self.drop_ins(&[&service])? {
            for (key, value) in settings(&drop_in.text, "Service") {
                if value.is_empty() {
                    continue;
                }
                let (name, rest) = value.split_once(':').unwrap_or((&value, ""));
                if let Some(origin) = origin(&key, rest) {
                    found.push((name.to_owned(), origin));
                }
            }
        }
        Ok(found)
    }
}

/// Returns the origin of a credential in a setting; `None` for another setting.
fn origin(key: &str, rest: &str) -> Option<CredentialOrigin> {
    // A specifier, an escape or a name of systemd's own stores means what only systemd knows.
    let is_plain = !rest.contains(['%', '\\']);
    match key {
        "LoadCredential" if is_plain && Path::new(rest).is_absolute() => {
            Some(CredentialOrigin::File(rest.into()))
        }
        "SetCredential" if is_plain => Some(CredentialOrigin::Text(rest.to_owned())),
        "LoadCredential" | "SetCredential" | "LoadCredentialEncrypted" | "SetCredentialEncrypted" => {
            Some(CredentialOrigin::Service)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_of_credentials_are_read() {
        for (key, rest, expected) in [
            ("LoadCredential", "/etc/db", Some(CredentialOrigin::File("/etc/db".into()))),
            ("LoadCredential", "/etc/%H/db", Some(CredentialOrigin::Service)),
            ("LoadCredential", "db", Some(CredentialOrigin::Service)),
            ("LoadCredential", "", Some(CredentialOrigin::Service)),
            ("LoadCredentialEncrypted", "/etc/db", Some(CredentialOrigin::Service)),
            ("SetCredential", "a:b", Some(CredentialOrigin::Text("a:b".to_owned()))),
            ("SetCredential", "a\\nb", Some(CredentialOrigin::Service)),
            ("SetCredentialEncrypted", "abc", Some(CredentialOrigin::Service)),
            ("Environment", "a", None),
        ] {
            assert_eq!(origin(key, rest), expected, "{key}={rest}");
        }
    }
}
