//! The key of a text, wrapped for an Ed25519 key of OpenSSH: an exchange of X25519 with an ephemeral key, tied to the public
//! key as OpenSSH encodes it.

use curve25519_dalek::MontgomeryPoint;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::keys::{FileKey, derive};

const LABEL: &str = "age-encryption.org/v1/ssh-ed25519";

/// Returns the key that wraps. `shared` is the result of the exchange, `encoded` the public key as OpenSSH encodes it.
fn wrapping_key(
    shared: MontgomeryPoint,
    ephemeral: &[u8; 32],
    public: &MontgomeryPoint,
    encoded: &[u8],
) -> Option<LessSafeKey> {
    let tweak = derive(encoded, LABEL, &[]);
    let shared = Zeroizing::new(shared.mul_clamped(*tweak).to_bytes());
    // A point of small order gives everybody the same secret.
    if *shared == [0; 32] {
        return None;
    }
    let salt = [&ephemeral[..], &public.to_bytes()].concat();
    let key = derive(&salt, LABEL, &*shared);
    UnboundKey::new(&CHACHA20_POLY1305, &*key).ok().map(LessSafeKey::new)
}

/// Each wrapping key is used once.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

/// Returns the ephemeral public key and the wrapped key. `None` for a public key of small order.
pub(crate) fn wrap(
    file_key: &FileKey,
    ephemeral: &Zeroizing<[u8; 32]>,
    public: &MontgomeryPoint,
    encoded: &[u8],
) -> Option<([u8; 32], Vec<u8>)> {
    let ephemeral_public = MontgomeryPoint::mul_base_clamped(**ephemeral).to_bytes();
    let shared = public.mul_clamped(**ephemeral);
    let key = wrapping_key(shared, &ephemeral_public, public, encoded)?;
    let mut wrapped = file_key.to_vec();
    key.seal_in_place_append_tag(nonce(), Aad::empty(), &mut wrapped).ok()?;
    Some((ephemeral_public, wrapped))
}

/// Unwraps a key with the private scalar of a public key. `None` if something was changed.
pub(crate) fn unwrap(
    wrapped: &[u8],
    ephemeral: &[u8; 32],
    scalar: &Zeroizing<[u8; 32]>,
    public: &MontgomeryPoint,
    encoded: &[u8],
) -> Option<FileKey> {
    let shared = MontgomeryPoint(*ephemeral).mul_clamped(**scalar);
    let key = wrapping_key(shared, ephemeral, public, encoded)?;
    let mut wrapped = Zeroizing::new(wrapped.to_vec());
    let opened = key.open_in_place(nonce(), Aad::empty(), &mut wrapped).ok()?;
    let mut file_key = FileKey::default();
    (opened.len() == file_key.len()).then(|| file_key.copy_from_slice(opened))?;
    Some(file_key)
}
