//! Encrypted texts, compared with what age and rage make of them.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start the programs that the texts are compared with"
)]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod hostile;
mod keys;
mod peers;
mod round_trip;

use ccm_age::HostKey;
use ssh_key::private::Ed25519Keypair;
use ssh_key::{LineEnding, PrivateKey};

/// Returns the text of a private key that is the same each time.
fn private_key(seed: u8) -> String {
    let key = PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]));
    key.to_openssh(LineEnding::LF).expect("a private key").to_string()
}

fn key(seed: u8) -> HostKey {
    HostKey::parse(&private_key(seed)).expect("a key")
}
