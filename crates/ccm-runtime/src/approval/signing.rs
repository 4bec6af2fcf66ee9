//! Signatures of the person at the terminal.

use std::path::PathBuf;

use ccm_host::{SigningError, SigningKey, agent_keys, own_keys, sign_with_ssh_keygen};

use super::{ApproverList, SignatureError, SignedBy};
use crate::session::Session;

/// Reason for which nothing was signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// There is no signature.
    #[error(transparent)]
    Sign(#[from] SigningError),
    /// The signature would not count.
    #[error("the signature would not count")]
    Refused(#[from] SignatureError),
}

impl Session {
    /// Returns the key to sign with: the named one, or else one of the agent or of `~/.ssh` that is in the file of
    /// approvers.
    pub fn signing_key(
        &self,
        named: Option<PathBuf>,
        approvers: Option<&ApproverList>,
    ) -> Result<SigningKey, SigningError> {
        if let Some(path) = named {
            return Ok(SigningKey::File(path));
        }
        let is_of_approver =
            |public: &str| approvers.is_none_or(|approvers| approvers.principal_of(public).is_some());
        if let Some(line) = agent_keys().into_iter().find(|line| is_of_approver(line)) {
            return Ok(SigningKey::Agent(line));
        }
        let own = own_keys().into_iter().find(|(_, public)| is_of_approver(public));
        own.map(|(path, _)| SigningKey::File(path)).ok_or(SigningError::NoKey)
    }

    /// Checks the signature of a text now, and returns who signed it.
    pub fn verify(
        &self,
        approvers: &ApproverList,
        namespace: &'static str,
        text: &[u8],
        signature: &str,
    ) -> Result<SignedBy, SignatureError> {
        approvers.verify(namespace, text, signature, self.doors.clock.now())
    }

    /// Signs a text with the key of the person at the terminal. With a list of approvers, the signature has to be one
    /// of them.
    pub fn sign(
        &self,
        key: &SigningKey,
        namespace: &'static str,
        text: &[u8],
        approvers: Option<&ApproverList>,
    ) -> Result<(String, Option<SignedBy>), SignError> {
        let signature = sign_with_ssh_keygen(key, namespace, text)?;
        let now = self.doors.clock.now();
        let signer = approvers.map(|approvers| approvers.verify(namespace, text, &signature, now));
        Ok((signature, signer.transpose()?))
    }
}
