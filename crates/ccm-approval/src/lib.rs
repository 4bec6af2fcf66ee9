//! Approvals of commands and manifests, signed with the SSH keys of people.
//!
//! A signature is one of `ssh-keygen -Y sign`. The file of approvers is a file of allowed signers, as `ssh-keygen -Y
//! verify` reads it, so that an auditor needs nothing but OpenSSH.

mod allowed_signers;
mod approvers;
mod patterns;
mod signature;
mod ssh_key_line;
mod ssh_keygen;
mod wire;

pub use allowed_signers::{AllowedSigner, AllowedSigners, SignersError, SignersErrorKind};
pub use approvers::{Approvers, ApproversError, SignatureDemand, SignatureRefusal, VerifiedSignature};
pub use signature::ApproverSignature;
pub use ssh_key_line::{ApproverKey, KeyFamily};
pub use ssh_keygen::{KeygenError, SshKeygen};
