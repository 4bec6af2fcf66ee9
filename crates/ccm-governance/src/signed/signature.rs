//! Signatures of statements about manifests.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_approval::MANIFEST_NAMESPACE;
use ccm_sshsig::{SignatureRefusal, VerifiedSignature};

use super::ManifestSignatureError;
use super::statement::{MAX_STATEMENT, SignedManifest};
use crate::approval::SignatureFailure;
use crate::governance::Governance;

/// Maximum size of a signature in bytes.
const MAX_SIGNATURE: u64 = 64 << 10;

/// Signature of a manifest that was checked with all its files.
#[derive(Clone, Debug)]
pub struct ManifestSignature {
    /// Person who signed.
    pub signer: VerifiedSignature,
    /// Time at which the statement ends, by RFC 3339.
    pub not_after: String,
    /// The sha256 of the statement.
    pub digest: String,
    /// Time at which the statement ends.
    pub end: SystemTime,
}

/// Paths of a statement about a manifest and of its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPaths {
    /// The statement.
    pub statement: PathBuf,
    /// The signature, as `ssh-keygen -Y sign` writes it.
    pub signature: PathBuf,
}

impl StatementPaths {
    /// Returns the paths for a manifest: beside the manifest, so that they are deployed with it.
    pub fn of(manifest: &Path) -> Self {
        let with = |ending: &str| {
            let mut path = manifest.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        Self { statement: with(".approval"), signature: with(".approval.sig") }
    }
}

impl Governance {
    /// Reads a statement about a manifest, to add its signature.
    pub fn read_statement(&self, paths: &StatementPaths) -> Result<Vec<u8>, ManifestSignatureError> {
        self.read_file(&paths.statement, MAX_STATEMENT)
    }

    /// Reads a statement about a manifest and its signature, which has to be one of an approver and to count now.
    pub fn signed_statement(
        &self,
        paths: &StatementPaths,
    ) -> Result<(SignedManifest, ManifestSignature), ManifestSignatureError> {
        let bytes = self.read_statement(paths)?;
        let signature = String::from_utf8(self.read_file(&paths.signature, MAX_SIGNATURE)?)
            .map_err(|_| SignatureFailure::from(SignatureRefusal::Unreadable))?;
        let approvers = self.approvers()?;
        let signer = self.verify(&approvers, MANIFEST_NAMESPACE, &bytes, &signature)?;
        // Only what an approver wrote is read.
        let statement = SignedManifest::parse(&bytes).map_err(|reason| {
            ManifestSignatureError::Statement { path: paths.statement.display().to_string(), reason }
        })?;
        let now = self.doors.clock().now();
        let end = statement.end().filter(|end| now < *end);
        let end = end.ok_or_else(|| ManifestSignatureError::Ended(statement.not_after.clone()))?;
        let (not_after, digest) = (statement.not_after.clone(), ccm_host::sha256(&bytes));
        Ok((statement, ManifestSignature { signer, not_after, digest, end }))
    }

    fn read_file(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ManifestSignatureError> {
        self.doors.input(Some(path), limit).map_err(|source| {
            let path = path.display().to_string();
            match source.kind() {
                io::ErrorKind::NotFound => ManifestSignatureError::Missing(path),
                _ => ManifestSignatureError::Unreadable { path, source },
            }
        })
    }
}
