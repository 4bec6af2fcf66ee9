//! The file of approvers, in the format of `allowed_signers` of OpenSSH, and their signatures.

use std::time::SystemTime;

use ccm_model::parse_timestamp;
use ssh_key::{HashAlg, PublicKey, SshSig};

/// Maximum size of the file of approvers in bytes.
pub(crate) const MAX_APPROVERS: u64 = 1 << 20;
/// Maximum size of a signature in bytes.
pub(crate) const MAX_SIGNATURE: u64 = 64 << 10;
/// Bit in the flags of a security key: somebody touched the key.
const TOUCHED: u8 = 1;

/// People who may approve, with their keys.
#[derive(Clone, Debug, Default)]
pub struct ApproverList {
    keys: Vec<ApproverEntry>,
}

#[derive(Clone, Debug)]
struct ApproverEntry {
    principal: String,
    key: PublicKey,
    namespaces: Option<Vec<String>>,
    valid_after: Option<SystemTime>,
    valid_before: Option<SystemTime>,
}

/// Person who signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedBy {
    /// Name in the file of approvers.
    pub principal: String,
    /// Fingerprint of the key.
    pub fingerprint: String,
    /// The key is a security key that was touched.
    pub is_touched: bool,
}

/// Error in a line of the file of approvers.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line} of {path}: {reason}")]
pub struct ApproverError {
    /// Path of the file.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// Reason for which a signature does not count.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureError {
    /// The text is no signature of OpenSSH.
    #[error("it is no signature of OpenSSH")]
    NoSignature,
    /// The signature was made for something else.
    #[error("the signature has the namespace `{}`, not `{expected}`", found.escape_debug())]
    Namespace {
        /// Namespace of the signature.
        found: String,
        /// Expected namespace.
        expected: &'static str,
    },
    /// No approver has the key.
    #[error("the key {0} is not in the file of approvers")]
    UnknownKey(String),
    /// The approver may not sign this.
    #[error("the key of {} is not for the namespace `{namespace}`", principal.escape_debug())]
    OtherNamespaces {
        /// The approver.
        principal: String,
        /// Namespace of the signature.
        namespace: &'static str,
    },
    /// The key is not valid yet.
    #[error("the key of {} is not valid yet", .0.escape_debug())]
    NotYetValid(String),
    /// The key is not valid any more.
    #[error("the key of {} is not valid any more", .0.escape_debug())]
    KeyExpired(String),
    /// The kind of the key can't be checked.
    #[error("a key of the type `{0}` can't be checked")]
    KeyType(String),
    /// Nobody touched the security key.
    #[error("the security key of {} was not touched", .0.escape_debug())]
    NotTouched(String),
    /// The signature is not one of these bytes.
    #[error("the signature is not one of this text")]
    Wrong,
}

impl ApproverList {
    /// Reads the file of approvers.
    pub fn parse(path: &str, text: &str) -> Result<Self, ApproverError> {
        let mut keys = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = read_line(line).map_err(|reason| ApproverError {
                path: path.to_owned(),
                line: number + 1,
                reason,
            })?;
            keys.push(key);
        }
        Ok(Self { keys })
    }

    /// Returns `true` if nobody may approve.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the names of the approvers.
    pub fn principals(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| &*key.principal)
    }

    /// Returns the approver with this public key, a line of OpenSSH.
    pub fn principal_of(&self, public_key: &str) -> Option<&str> {
        let key = PublicKey::from_openssh(public_key.trim()).ok()?;
        let found = self.keys.iter().find(|approver| approver.key.key_data() == key.key_data())?;
        Some(&found.principal)
    }

    /// Checks the signature of a text, and returns who signed it.
    pub fn verify(
        &self,
        namespace: &'static str,
        message: &[u8],
        signature: &str,
        now: SystemTime,
    ) -> Result<SignedBy, SignatureError> {
        let parsed = SshSig::from_pem(signature).map_err(|_| SignatureError::NoSignature)?;
        if parsed.namespace() != namespace {
            let found = parsed.namespace().to_owned();
            return Err(SignatureError::Namespace { found, expected: namespace });
        }
        let fingerprint = parsed.public_key().fingerprint(HashAlg::Sha256).to_string();
        let mut refusal = SignatureError::UnknownKey(fingerprint.clone());
        for approver in self.keys.iter().filter(|approver| approver.key.key_data() == parsed.public_key()) {
            match approver.check(namespace, message, &parsed, now) {
                Ok(is_touched) => {
                    return Ok(SignedBy { principal: approver.principal.clone(), fingerprint, is_touched });
                }
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }
}

impl ApproverEntry {
    /// Returns whether a security key was touched.
    fn check(
        &self,
        namespace: &'static str,
        message: &[u8],
        signature: &SshSig,
        now: SystemTime,
    ) -> Result<bool, SignatureError> {
        let principal = || self.principal.clone();
        if self.namespaces.as_ref().is_some_and(|names| !names.iter().any(|name| name == namespace)) {
            return Err(SignatureError::OtherNamespaces { principal: principal(), namespace });
        }
        if self.valid_after.is_some_and(|after| now < after) {
            return Err(SignatureError::NotYetValid(principal()));
        }
        if self.valid_before.is_some_and(|before| now >= before) {
            return Err(SignatureError::KeyExpired(principal()));
        }
        let algorithm = self.key.algorithm();
        let is_security_key = match algorithm {
            ssh_key::Algorithm::Ed25519 => false,
            ssh_key::Algorithm::SkEd25519 => true,
            other => return Err(SignatureError::KeyType(other.to_string())),
        };
        self.key.verify(namespace, message, signature).map_err(|_| SignatureError::Wrong)?;
        // The signature ends with the flags and a counter of four bytes.
        let flags = signature.signature_bytes().iter().rev().nth(4);
        let is_touched = is_security_key && flags.is_some_and(|flags| flags & TOUCHED != 0);
        if is_security_key && !is_touched {
            return Err(SignatureError::NotTouched(principal()));
        }
        Ok(is_touched)
    }
}

fn read_line(line: &str) -> Result<ApproverEntry, String> {
    let (principals, rest) = field(line)?;
    let principal = principals.split(',').next().unwrap_or_default();
    if principals.contains(['*', '?', '!']) || principal.is_empty() {
        return Err("patterns of principals are not supported; write the name of one approver".to_owned());
    }
    let mut approver = ApproverEntry {
        principal: principal.to_owned(),
        key: PublicKey::from(ssh_key::public::Ed25519PublicKey([0; 32])),
        namespaces: None,
        valid_after: None,
        valid_before: None,
    };
    let mut rest = rest;
    let (first, after) = field(rest)?;
    if !is_key_type(&first) {
        options(&first, &mut approver)?;
        rest = after;
    }
    approver.key = PublicKey::from_openssh(rest.trim()).map_err(|_| "it has no public key".to_owned())?;
    Ok(approver)
}

fn is_key_type(text: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-"].iter().any(|start| text.starts_with(start))
}

/// Returns the first field of a line and what follows. Quotes protect blanks.
fn field(line: &str) -> Result<(String, &str), String> {
    let line = line.trim_start();
    let mut is_quoted = false;
    let end = line.find(|character: char| {
        is_quoted ^= character == '"';
        !is_quoted && character.is_ascii_whitespace()
    });
    if is_quoted {
        return Err("a quote is not closed".to_owned());
    }
    let (first, rest) = line.split_at(end.unwrap_or(line.len()));
    if first.is_empty() { Err("it has no public key".to_owned()) } else { Ok((first.to_owned(), rest)) }
}

fn options(text: &str, approver: &mut ApproverEntry) -> Result<(), String> {
    let mut is_quoted = false;
    let parts = text.split(|character: char| {
        is_quoted ^= character == '"';
        !is_quoted && character == ','
    });
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim_matches('"');
        match name.to_ascii_lowercase().as_str() {
            "namespaces" => approver.namespaces = Some(value.split(',').map(str::to_owned).collect()),
            "valid-after" => approver.valid_after = Some(time(value)?),
            "valid-before" => approver.valid_before = Some(time(value)?),
            "cert-authority" => return Err("certificates are not supported".to_owned()),
            _ => return Err(format!("unknown option `{}`", name.escape_debug())),
        }
    }
    Ok(())
}

/// Reads a time as `ssh-keygen` does: `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, with `Z` for UTC.
fn time(text: &str) -> Result<SystemTime, String> {
    let invalid = || format!("`{}` is no time; write it in UTC, such as `20261231Z`", text.escape_debug());
    // The local time of a file that is copied to several machines would differ from machine to machine.
    let digits = text.strip_suffix('Z').ok_or_else(invalid)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || ![8, 12, 14].contains(&digits.len()) {
        return Err(invalid());
    }
    let padded = format!("{digits:0<14}");
    let part = |from: usize, to: usize| &padded[from..to];
    let written = format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(0, 4),
        part(4, 6),
        part(6, 8),
        part(8, 10),
        part(10, 12),
        part(12, 14)
    );
    parse_timestamp(&written).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEmMpkKpdUePPcNI3xuK81p7aGnJrJoOKVF/HGZ4RGtq";

    #[test]
    fn lines_of_approvers_are_read() {
        let text = format!(
            "# approvers\n\nalice {KEY} laptop\nbob,b namespaces=\"ccm-approval@v1,git\",valid-before=\"20300101Z\" {KEY}\n"
        );
        let list = ApproverList::parse("approvers", &text).expect("a list");
        assert_eq!(list.principals().collect::<Vec<_>>(), ["alice", "bob"]);
        assert_eq!(list.keys[1].valid_before, Some(UNIX_EPOCH + Duration::from_secs(1_893_456_000)));
        assert_eq!(list.keys[1].namespaces.as_ref().map(Vec::len), Some(2));
    }

    #[test]
    fn mistakes_of_the_file_are_named_with_their_line() {
        for (line, reason) in [
            ("alice".to_owned(), "no public key"),
            (format!("* {KEY}"), "patterns"),
            (format!("alice cert-authority {KEY}"), "certificates"),
            (format!("alice zones=\"x\" {KEY}"), "unknown option `zones`"),
            (format!("alice valid-before=\"soon\" {KEY}"), "is no time"),
            (format!("alice valid-before=\"20300101\" {KEY}"), "in UTC"),
            (format!("alice namespaces=\"git {KEY}"), "quote"),
            ("alice ssh-ed25519 AAAA".to_owned(), "no public key"),
        ] {
            let error = ApproverList::parse("approvers", &format!("\n{line}\n")).expect_err(&line);
            assert!(error.line == 2 && error.reason.contains(reason), "{line}: {error}");
        }
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        let list = ApproverList::parse("approvers", &format!("alice {KEY}")).expect("a list");
        let refused = list.verify("ccm-approval@v1", b"x", "no", UNIX_EPOCH);
        assert_eq!(refused, Err(SignatureError::NoSignature));
    }
}
