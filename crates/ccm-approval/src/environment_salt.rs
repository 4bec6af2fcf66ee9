//! Salted hashes of variables: an approval holds for exactly these values, and does not show them.

use ccm_model::hexadecimal;
use sha2::{Digest as _, Sha256};

/// Secret of a machine, without which nobody can guess a value from its hash.
pub struct EnvironmentSalt([u8; 32]);

impl EnvironmentSalt {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// Returns the hash of a variable.
    pub fn hash(&self, name: &str, value: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(self.0);
        // Without its length, a name could go on in the value.
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name);
        hash.update(value);
        hexadecimal(&hash.finalize())
    }
}
