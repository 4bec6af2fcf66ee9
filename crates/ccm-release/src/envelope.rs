//! Envelopes: the bytes of a release with their signatures.

use ccm_model::{decode_base64, encode_base64};
use ccm_sshsig::VerifiedSignature;
use serde::{Deserialize, Serialize};

/// Maximum size of an envelope in bytes.
pub const MAX_ENVELOPE: usize = 512 << 10;
/// Maximum number of signatures.
const MAX_SIGNATURES: usize = 16;

/// Release with its signatures. What is signed are the bytes as they are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    payload: String,
    signatures: Vec<String>,
}

/// Error of an envelope.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The envelope is too large.
    #[error("larger than {MAX_ENVELOPE} bytes")]
    TooLarge,
    /// The bytes are no envelope.
    #[error("not a release: {0}")]
    Json(#[source] serde_json::Error),
    /// The payload is not Base64 of a text.
    #[error("the payload is not Base64 of a text in UTF-8")]
    Payload,
    /// There are too many signatures.
    #[error("more than {MAX_SIGNATURES} signatures")]
    TooManySignatures,
}

/// Number of people who have to sign a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureThreshold(pub usize);

/// Too few people have signed.
#[derive(Debug, thiserror::Error)]
#[error("signed by {} of {needed} people", signers.len())]
pub struct ThresholdError {
    /// Number of people who have to sign.
    pub needed: usize,
    /// Principals of the signatures that count.
    pub signers: Vec<String>,
    /// Reason for which the first signature that does not count is refused.
    #[source]
    pub refused: Option<SignatureError>,
}

/// Reason for which a signature does not count.
pub type SignatureError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvelopeDocument {
    payload: String,
    signatures: Vec<String>,
}

impl Envelope {
    /// Creates an envelope without signatures.
    pub fn new(payload: String) -> Self {
        Self { payload, signatures: Vec::new() }
    }

    /// Reads an envelope. The payload is not read: its signatures come first.
    pub fn parse(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        if bytes.len() > MAX_ENVELOPE {
            return Err(EnvelopeError::TooLarge);
        }
        let document: EnvelopeDocument = serde_json::from_slice(bytes).map_err(EnvelopeError::Json)?;
        if document.signatures.len() > MAX_SIGNATURES {
            return Err(EnvelopeError::TooManySignatures);
        }
        let payload = decode_base64(&document.payload).and_then(|bytes| String::from_utf8(bytes).ok());
        let payload = payload.ok_or(EnvelopeError::Payload)?;
        Ok(Self { payload, signatures: document.signatures })
    }

    /// Returns the bytes of the envelope.
    pub fn content(&self) -> String {
        let document = EnvelopeDocument {
            payload: encode_base64(self.payload.as_bytes()),
            signatures: self.signatures.clone(),
        };
        // Texts alone can always be written.
        let mut content = serde_json::to_string_pretty(&document).unwrap_or_default();
        content.push('\n');
        content
    }

    /// Returns what is signed. It means nothing until its signatures are verified.
    pub fn payload(&self) -> &str {
        &self.payload
    }

    /// Returns the armoured signatures.
    pub fn signatures(&self) -> &[String] {
        &self.signatures
    }

    /// Adds a signature, unless it is there.
    pub fn add_signature(&mut self, signature: String) -> Result<(), EnvelopeError> {
        if self.signatures.contains(&signature) {
            return Ok(());
        }
        if self.signatures.len() == MAX_SIGNATURES {
            return Err(EnvelopeError::TooManySignatures);
        }
        self.signatures.push(signature);
        Ok(())
    }

    /// Verifies the signatures with a function, and returns the payload with everybody who has signed it, if these are
    /// enough different people. Signatures that do not count are left out.
    pub fn verify(
        &self,
        threshold: SignatureThreshold,
        verify: &mut dyn FnMut(&str, &str) -> Result<VerifiedSignature, SignatureError>,
    ) -> Result<(&str, Vec<VerifiedSignature>), ThresholdError> {
        let (mut verified, mut refused) = (Vec::<VerifiedSignature>::new(), None);
        for signature in &self.signatures {
            match verify(&self.payload, signature) {
                // One person with two keys is one person, and one key under two names is one, too.
                Ok(found) if verified.iter().any(|known| is_same_person(known, &found)) => {}
                Ok(found) => verified.push(found),
                Err(refusal) => {
                    refused.get_or_insert(refusal);
                }
            }
        }
        if verified.len() >= threshold.0.max(1) {
            return Ok((&self.payload, verified));
        }
        let signers = verified.into_iter().map(|signature| signature.principal).collect();
        Err(ThresholdError { needed: threshold.0.max(1), signers, refused })
    }
}

fn is_same_person(one: &VerifiedSignature, other: &VerifiedSignature) -> bool {
    one.principal == other.principal || one.key == other.key
}

#[cfg(test)]
mod tests {
    use ccm_sshsig::{SignatureRefusal, SshKey};

    use super::*;

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI";

    fn signed(signatures: &[&str]) -> Envelope {
        let signatures = signatures.iter().map(|&signature| signature.to_owned()).collect();
        Envelope { payload: "{}".to_owned(), signatures }
    }

    /// Verifies a signature `PRINCIPAL/KEY`.
    fn verify(_: &str, signature: &str) -> Result<VerifiedSignature, SignatureError> {
        let (principal, number) = signature.split_once('/').ok_or(SignatureRefusal::Unreadable)?;
        let body = format!("{:A<43}", KEY.strip_prefix("ssh-ed25519 ").expect("a key"));
        let mut encoded = decode_base64(&format!("{body}=")).expect("Base64");
        encoded.extend(number.bytes());
        let key = SshKey::decode(&encoded).expect("a key");
        Ok(VerifiedSignature { principal: principal.to_owned(), key, line: 1, is_user_verified: false })
    }

    #[test]
    fn an_envelope_is_read_as_it_is_written() {
        let mut envelope = Envelope::new("{\"ä\": 1}\n".to_owned());
        envelope.add_signature("one".to_owned()).expect("a signature");
        envelope.add_signature("one".to_owned()).expect("a signature");
        assert_eq!(Envelope::parse(envelope.content().as_bytes()).expect("an envelope"), envelope);
        assert_eq!(envelope.signatures().len(), 1);
    }

    #[test]
    fn what_is_no_envelope_is_refused() {
        let many = format!(r#"{{"payload":"e30=","signatures":[{}"x"]}}"#, "\"x\",".repeat(16));
        let large = " ".repeat(MAX_ENVELOPE + 1);
        for (text, reason) in [
            ("", "not a release"),
            ("[]", "not a release"),
            (r#"{"payload":"e30="}"#, "missing field `signatures`"),
            (r#"{"payload":"e30=","signatures":[],"more":1}"#, "unknown field `more`"),
            (r#"{"payload":"e30=","payload":"e30=","signatures":[]}"#, "duplicate field"),
            (r#"{"payload":"?","signatures":[]}"#, "not Base64"),
            (r#"{"payload":"/w==","signatures":[]}"#, "not Base64"),
            (&*many, "more than 16 signatures"),
            (&*large, "larger than"),
        ] {
            let error = Envelope::parse(text.as_bytes()).expect_err(reason);
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    #[test]
    fn people_count_and_not_signatures() {
        for (signatures, needed, counted) in [
            (&["alice/1", "bob/2"][..], 2, 2),
            (&["alice/1"], 1, 1),
            (&["alice/1"], 0, 1),
            (&["wrong", "alice/1"], 1, 1),
            (&[], 1, 0),
            (&[], 0, 0),
            (&["wrong"], 0, 0),
            (&["alice/1", "alice/2"], 2, 1),
            (&["alice/1", "bob/1"], 2, 1),
            (&["alice/1", "wrong"], 2, 1),
        ] {
            let envelope = signed(signatures);
            let result = envelope.verify(SignatureThreshold(needed), &mut verify);
            let is_enough = counted >= needed.max(1);
            match result {
                Ok((_, verified)) => assert!(is_enough && verified.len() == counted, "{signatures:?}"),
                Err(error) => assert!(!is_enough && error.signers.len() == counted, "{signatures:?}"),
            }
        }
    }
}
