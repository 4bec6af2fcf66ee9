//! Texts that are encrypted to SSH host keys, in the format of age (<https://age-encryption.org/v1>).
//!
//! An [`EncryptedText`] is read from its armour, and opened with a [`HostKey`]. [`encrypt`] writes one for [`Recipient`]s.
//! Ed25519 is the only kind of key: no passphrase, whose work the text itself demands, and no plugin, which is a program.
//! Entries for other kinds of keys may stand in the text and are left alone.
//!
//! The primitives are those of `ring` and `curve25519-dalek`. This crate must never read a file, start a program, or show
//! a byte of what it has opened.

mod armour;
mod blocks;
mod encrypt;
mod error;
mod header;
mod host_key;
mod keys;
mod known_hosts;
mod open;
mod payload;
mod recipient;
mod wrapping;

pub use armour::{BEGIN, is_armoured};
pub use blocks::EncryptedBlock;
pub use encrypt::encrypt;
pub use error::{EncryptedTextError, HostKeyError, OpenError, RecipientError};
pub use header::RecipientTag;
pub use host_key::HostKey;
pub use known_hosts::KnownHosts;
pub use open::EncryptedText;
pub use recipient::Recipient;

/// Maximum number of bytes that are encrypted in one text.
pub const MAX_PLAIN_BYTES: usize = 4 << 20;
