//! Opens encrypted values with the key of this machine, or with one that the caller names.

#[cfg(feature = "secrets")]
use std::cell::{Cell, OnceCell};
use std::path::PathBuf;

use ccm_manifest::{SecretFault, SecretReach};

use crate::doors::OpenDoors;

/// Key of the machine, which only root can read.
#[cfg(feature = "secrets")]
pub(crate) const HOST_KEY: &str = "/etc/ssh/ssh_host_ed25519_key";

/// Key that opens the encrypted values of a session. It is read when the first value is opened.
pub(crate) struct EncryptedValues {
    /// File with the key; `None` for that of the machine.
    #[cfg(feature = "secrets")]
    identity: Option<PathBuf>,
    #[cfg(feature = "secrets")]
    key: OnceCell<Result<ccm_age::HostKey, SecretFault>>,
    /// A value was opened.
    #[cfg(feature = "secrets")]
    pub(crate) has_opened: Cell<bool>,
}

#[cfg(not(feature = "secrets"))]
impl EncryptedValues {
    pub(crate) fn new(_identity: Option<PathBuf>) -> Self {
        Self {}
    }

    /// Returns the error of a program that opens no values.
    #[expect(clippy::unused_self, reason = "a program with the feature uses all of it")]
    pub(crate) fn open(&self, _text: &str, _doors: &OpenDoors) -> Result<String, SecretFault> {
        Err(SecretFault {
            message: "this ccm was built without `secrets`, which opens encrypted values".to_owned(),
            hint: None,
            reach: SecretReach::Here,
        })
    }
}

#[cfg(feature = "secrets")]
mod opening {
    use std::cell::{Cell, OnceCell};
    use std::path::{Path, PathBuf};

    use ccm_age::{EncryptedText, HostKey, OpenError};
    use ccm_host::ConfigurationError;
    use ccm_model::error_layers;
    use zeroize::Zeroizing;

    use super::{EncryptedValues, HOST_KEY, OpenDoors, SecretFault, SecretReach};

    /// Maximum length of a file with a key, in bytes.
    const MAX_KEY: u64 = 16 << 10;

    impl EncryptedValues {
        pub(crate) fn new(identity: Option<PathBuf>) -> Self {
            Self { identity, key: OnceCell::new(), has_opened: Cell::new(false) }
        }

        /// Opens an encrypted text of text.
        pub(crate) fn open(&self, text: &str, doors: &OpenDoors) -> Result<String, SecretFault> {
            let opened = self.open_bytes(text, doors)?;
            String::from_utf8(opened.to_vec()).map_err(|_| SecretFault {
                message: "what was encrypted is not UTF-8 text".to_owned(),
                hint: None,
                reach: SecretReach::Nowhere,
            })
        }

        /// Opens an encrypted text of any bytes.
        pub(crate) fn open_bytes(
            &self,
            text: &str,
            doors: &OpenDoors,
        ) -> Result<Zeroizing<Vec<u8>>, SecretFault> {
            let nobody = |message: String| SecretFault { message, hint: None, reach: SecretReach::Nowhere };
            let encrypted = EncryptedText::parse(text).map_err(|error| {
                let hint =
                    "encrypt the value with `ccm secret encrypt`, and write its output as a block: `KEY: |`";
                SecretFault { hint: Some(hint.to_owned()), ..nobody(error.to_string()) }
            })?;
            let key = self.key.get_or_init(|| self.read_key(doors)).as_ref().map_err(Clone::clone)?;
            let opened = encrypted.open(key).map_err(|error| match error {
                OpenError::NotARecipient => self.of_others(),
                other => nobody(other.to_string()),
            })?;
            self.has_opened.set(true);
            Ok(opened)
        }

        fn of_others(&self) -> SecretFault {
            let (message, key) = match &self.identity {
                Some(path) => (
                    "it is not encrypted to the key that is named".to_owned(),
                    format!("{}.pub", path.display()),
                ),
                None => ("it is not encrypted to this machine".to_owned(), format!("{HOST_KEY}.pub")),
            };
            let hint =
                format!("let somebody who can open it add this key: `ccm secret rekey --add {key} FILE`");
            SecretFault { message, hint: Some(hint), reach: SecretReach::Here }
        }

        fn read_key(&self, doors: &OpenDoors) -> Result<HostKey, SecretFault> {
            // The kernel refuses nobody this.
            let _hidden = ccm_host::hide_memory();
            let own = "name another key with `--identity FILE`, or encrypt to this machine's own key";
            let of_machine = Path::new(HOST_KEY);
            let path = self.identity.as_deref().unwrap_or(of_machine);
            let bytes = match &self.identity {
                Some(path) => doors.input(Some(path), MAX_KEY, false).map_err(|error| {
                    let message = format!("the key {} can't be read: {error}", path.display());
                    refused(message, "check the path of `--identity`")
                })?,
                None => machine_key(of_machine, doors)?,
            };
            let text = Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned());
            HostKey::parse(&text).map_err(|error| refused(format!("{}: {error}", path.display()), own))
        }
    }

    /// Reads the key of the machine.
    fn machine_key(path: &Path, doors: &OpenDoors) -> Result<Vec<u8>, SecretFault> {
        let read = doors.doors.host_key(path, MAX_KEY).map_err(|error| {
            let reason = error_layers(&error).join(": ");
            let hint = if matches!(error, ConfigurationError::Read { .. }) {
                "run ccm as root, or name a key of your own with `--identity FILE`"
            } else {
                "give the key to root alone (`chown root`, `chmod 600`)"
            };
            refused(format!("the key of this machine can't be read: {reason}"), hint)
        })?;
        read.ok_or_else(|| {
            let message = format!("this machine has no key {}", path.display());
            refused(message, "make it with `ssh-keygen -A`, or name a key with `--identity FILE`")
        })
    }

    fn refused(message: String, hint: &str) -> SecretFault {
        SecretFault { message, hint: Some(hint.to_owned()), reach: SecretReach::Here }
    }
}
