//! Encrypted values outside of manifests: opens them, encrypts them, and changes who can open them.
//!
//! A value is encrypted to the Ed25519 host keys of the machines that need it, and to the keys of people, in the format of
//! age. The key of a machine is never asked of the network: it comes from a file of public keys, or from a `known_hosts`
//! that somebody has verified.

use std::path::{Path, PathBuf};

pub use ccm_age::{
    EncryptedBlock, EncryptedText, EncryptedTextError, KnownHosts, MAX_PLAIN_BYTES, Recipient,
    RecipientError, RecipientTag, encrypt,
};
use ccm_host::{EditError, FileAttributes, FileError, NewContent, NewFile, edit_in_memory, variable};
pub use ccm_manifest::SecretFault;
use zeroize::Zeroizing;

use crate::encrypted_values::HOST_KEY;
use crate::session::{Session, absolute_path};

/// File of the hosts that everybody on this machine knows.
const SYSTEM_KNOWN_HOSTS: &str = "/etc/ssh/ssh_known_hosts";

/// Returns the path of the public key of this machine.
pub fn own_public_key() -> PathBuf {
    PathBuf::from(format!("{HOST_KEY}.pub"))
}

/// Returns the files `known_hosts` that `ssh` reads.
pub fn default_known_hosts() -> Vec<PathBuf> {
    let own = variable("HOME").map(|home| Path::new(&home).join(".ssh/known_hosts"));
    own.into_iter().chain([PathBuf::from(SYSTEM_KNOWN_HOSTS)]).collect()
}

impl Session {
    /// Returns `true` if a manifest that was loaded uses a value that was encrypted.
    pub fn has_opened_values(&self) -> bool {
        self.shared.encrypted.has_opened.get()
    }

    /// Opens an encrypted text with the key of the session, whatever bytes it holds.
    pub fn open_encrypted(&self, text: &str) -> Result<Zeroizing<Vec<u8>>, SecretFault> {
        self.shared.encrypted.open_bytes(text, &self.doors)
    }

    /// Lets a person edit a text that is never on a disk, and returns it. `name` is the last part of the path that the
    /// person's editor sees.
    pub fn edit(&self, name: &str, content: &[u8]) -> Result<Zeroizing<Vec<u8>>, EditError> {
        edit_in_memory(name, content).map(Zeroizing::new)
    }

    /// Writes a file that the caller names, in place of an old one, whose attributes it keeps. A new one can be read by its
    /// owner alone.
    pub fn write_file(&self, path: &Path, content: &[u8]) -> Result<(), FileError> {
        let mode = self.doors.files.canonical(path).is_err().then_some(0o600);
        let attributes = FileAttributes { mode, ..FileAttributes::default() };
        let new = NewFile { content: NewContent::Bytes(content), attributes };
        self.doors.files.write(&absolute_path(path), &new).map(drop)
    }
}
