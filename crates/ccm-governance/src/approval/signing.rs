//! Signatures of the person at the terminal.

use std::path::PathBuf;

use ccm_approval::Approvers;
use ccm_host::{SigningError, SigningKey, agent_keys, own_keys, public_key_of, sign_with_ssh_keygen};
use ccm_sshsig::{SignatureRefusal, SshKey, VerifiedSignature};

use super::SignatureFailure;
use crate::governance::Governance;

/// Reason for which nothing was signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// There is no signature.
    #[error(transparent)]
    Sign(#[from] SigningError),
    /// The signature would not count.
    #[error("the signature would not count")]
    Refused(#[from] SignatureFailure),
}

impl Governance {
    /// Returns the key to sign with: the named one, or else one of the agent or of `~/.ssh` that is in the file of
    /// approvers.
    pub fn signing_key(
        &self,
        named: Option<PathBuf>,
        approvers: Option<&Approvers>,
    ) -> Result<SigningKey, SignError> {
        if let Some(path) = named {
            // Before anybody is asked a question or for a passphrase.
            let public = public_key_of(&path)?.and_then(|line| SshKey::parse(&line));
            if let Some((key, approvers)) = public.zip(approvers)
                && approvers.signers().of_key(&key).next().is_none()
            {
                let (fingerprint, path) = (key.fingerprint(), approvers.path().to_owned());
                let refusal = SignatureRefusal::NotListed { fingerprint, path };
                return Err(SignError::Refused(refusal.into()));
            }
            return Ok(SigningKey::File(path));
        }
        let is_listed = |approvers: &Approvers, public: &str| {
            SshKey::parse(public).is_some_and(|key| approvers.signers().of_key(&key).next().is_some())
        };
        let is_of_approver = |public: &str| approvers.is_none_or(|approvers| is_listed(approvers, public));
        if let Some(line) = agent_keys().into_iter().find(|line| is_of_approver(line)) {
            return Ok(SigningKey::Agent(line));
        }
        let own = own_keys().into_iter().find(|(_, public)| is_of_approver(public));
        Ok(own.map(|(path, _)| SigningKey::File(path)).ok_or(SigningError::NoKey)?)
    }

    /// Signs a text with the key of the person at the terminal. With a list of approvers, the signature has to be one
    /// of them.
    pub fn sign(
        &self,
        key: &SigningKey,
        namespace: &'static str,
        text: &[u8],
        approvers: Option<&Approvers>,
    ) -> Result<(String, Option<VerifiedSignature>), SignError> {
        let signature = sign_with_ssh_keygen(key, namespace, text)?;
        let signer = approvers.map(|approvers| self.verify(approvers, namespace, text, &signature));
        Ok((signature, signer.transpose()?))
    }
}
