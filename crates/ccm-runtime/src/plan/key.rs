//! Key of the digests in the plans of a machine.

use std::fmt;

use ccm_model::{sha256, sha256_bytes};

/// Length of a block of SHA-256 in bytes.
const BLOCK: usize = 64;

/// Secret of a machine, without which nobody can guess a state or a value from its digest.
#[derive(Clone)]
pub(crate) struct PlanKey([u8; 32]);

impl PlanKey {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// Returns the keyed digest of parts, of which each has its length beside it. `subject` keeps digests of different things
    /// apart.
    pub(crate) fn digest(&self, subject: &str, parts: &[&[u8]]) -> String {
        let mut message = Vec::new();
        for part in std::iter::once(subject.as_bytes()).chain(parts.iter().copied()) {
            message.extend_from_slice(&(part.len() as u64).to_be_bytes());
            message.extend_from_slice(part);
        }
        self.hmac(&message)
    }

    /// Returns the HMAC-SHA-256 of a message in hexadecimal digits.
    fn hmac(&self, message: &[u8]) -> String {
        let inner = sha256_bytes(&[&self.padded(0x36)[..], message].concat());
        sha256(&[&self.padded(0x5c)[..], &inner].concat())
    }

    /// Returns the name of the key, which does not reveal it.
    pub(crate) fn name(&self) -> String {
        self.digest("name of the key", &[])[..16].to_owned()
    }

    fn padded(&self, pad: u8) -> [u8; BLOCK] {
        let mut block = [pad; BLOCK];
        for (byte, secret) in block.iter_mut().zip(self.0) {
            *byte ^= secret;
        }
        block
    }
}

impl fmt::Debug for PlanKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PlanKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test cases 1 and 2 of RFC 4231, whose shorter keys are filled up with zeros.
    #[test]
    fn digests_are_hmacs() {
        let key = |bytes: &[u8]| {
            let mut secret = [0; 32];
            secret[..bytes.len()].copy_from_slice(bytes);
            PlanKey::new(secret)
        };
        for (secret, message, expected) in [
            (
                &[0x0b; 20][..],
                &b"Hi There"[..],
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
        ] {
            assert_eq!(key(secret).hmac(message), expected);
        }
    }

    #[test]
    fn a_digest_belongs_to_one_key_one_subject_and_its_parts() {
        let (one, other) = (PlanKey::new([1; 32]), PlanKey::new([2; 32]));
        let digest = one.digest("state", &[b"4711"]);
        assert_eq!(one.digest("state", &[b"4711"]), digest);
        for different in [
            other.digest("state", &[b"4711"]),
            one.digest("data", &[b"4711"]),
            one.digest("state", &[b"47", b"11"]),
            one.digest("stat", &[b"e4711"]),
            sha256(b"4711"),
        ] {
            assert_ne!(different, digest);
        }
        assert_ne!(one.name(), other.name());
        assert_eq!(format!("{one:?}"), "PlanKey { .. }");
    }
}
