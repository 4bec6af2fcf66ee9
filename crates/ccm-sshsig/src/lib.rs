//! Signatures of `ssh-keygen -Y sign`, and the files of allowed signers that say whose they are.
//!
//! An [`SshSignature`] is read from its armoured text, [`AllowedSigners`] from a file as `ssh-keygen -Y verify` reads
//! it, so that an auditor needs nothing but OpenSSH. A [`SignerFile`] tells who has signed a text.
//!
//! This crate must never read a file, ask for the time, or take a signature for right that it can't verify itself.

mod allowed_signers;
mod key;
mod patterns;
mod refusal;
mod signature;
mod verification;
mod wire;

pub use allowed_signers::{AllowedSigner, AllowedSigners, LocalMoment, SignersError, SignersErrorKind};
pub use key::{KeyFamily, SshKey};
pub use refusal::SignatureRefusal;
pub use signature::SshSignature;
pub use verification::{CheckedSignature, SignatureDemand, SignerFile, VerifiedSignature};
