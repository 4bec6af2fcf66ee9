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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_belongs_to_one_machine_and_one_variable() {
        let (one, other) = (EnvironmentSalt::new([1; 32]), EnvironmentSalt::new([2; 32]));
        let hash = one.hash("A", "secret");
        assert_eq!(one.hash("A", "secret"), hash);
        for different in [other.hash("A", "secret"), one.hash("B", "secret"), one.hash("As", "ecret")] {
            assert_ne!(different, hash);
        }
        // Whoever guesses the value can't check the guess without the secret of the machine.
        for guess in ["secret", "Asecret", "A=secret"] {
            assert_ne!(ccm_model::sha256(guess.as_bytes()), hash);
        }
    }
}
