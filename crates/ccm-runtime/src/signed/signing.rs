//! Statements about manifests: written for an approver to sign, and checked before a run.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ccm_approval::{MANIFEST_NAMESPACE, SignatureRefusal, VerifiedSignature};
use ccm_host::{FileAttributes, NewContent, NewFile};
use ccm_model::timestamp;

use super::statement::{MAX_STATEMENT, SignedFile, SignedManifest, name_of};
use super::{ManifestSignatureError, SignedFiles};
use crate::approval::SignatureFailure;
use crate::input::ManifestSource;
use crate::manifest::LoadedManifest;
use crate::session::{Session, absolute_path};

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
    pub(crate) end: SystemTime,
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

impl LoadedManifest<'_> {
    /// Returns the paths of the statement about the manifest.
    pub fn statement_paths(&self) -> Result<StatementPaths, ManifestSignatureError> {
        match self.input.source() {
            ManifestSource::File(path) if !self.input.is_transient() => Ok(StatementPaths::of(path)),
            _ => Err(ManifestSignatureError::Transient),
        }
    }

    /// Builds the statement about this manifest for some time. `also` are files and directories that only other
    /// machines read. The manifest has to be read by [`Session::read_to_sign`](crate::Session::read_to_sign).
    pub fn statement(
        &self,
        valid: Duration,
        also: &[PathBuf],
    ) -> Result<SignedManifest, ManifestSignatureError> {
        let manifest = self.input.file_name().ok_or(ManifestSignatureError::Transient)?;
        self.statement_paths()?;
        let mut sources = self.local_sources()?;
        for path in also {
            self.add_named(&absolute_path(path), &mut sources)?;
        }
        let directory = self.input.directory();
        let now = self.session.doors.clock.now();
        let end = now.checked_add(valid).unwrap_or(now);
        let entries = self.signed_entries(&sources)?.into_iter();
        let mut files: Vec<SignedFile> = entries
            .map(|(path, entry)| SignedFile {
                name: name_of(directory, &path),
                sha256: entry.sha256,
                executable: entry.executable,
                link: entry.link,
            })
            .collect();
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(SignedManifest {
            format: SignedManifest::format(),
            manifest,
            created: timestamp(now, 2).to_string(),
            not_after: timestamp(end, 2).to_string(),
            data: self.input.data().assignments.clone(),
            hiera: self.hiera_names(),
            trees: sources.trees.iter().map(|tree| name_of(directory, tree)).collect(),
            files,
        })
    }

    /// Lets an approval stand for a signature: an approver has seen this statement, as part of the intent with this id.
    /// From then on, the run uses only the files that the statement lists. What the policy denies stays denied, and a
    /// policy that requires a signature still does.
    pub fn accept_approval(
        &self,
        statement: &SignedManifest,
        intent: &str,
    ) -> Result<(), ManifestSignatureError> {
        let files = self.compare(statement)?;
        self.input.reads().require(files);
        // A second approval would be of the same files.
        self.approved.get_or_init(|| intent.to_owned());
        Ok(())
    }

    /// Writes a statement and its signature beside the manifest. Without a signature, an old one is removed, and
    /// `ssh-keygen -Y sign` can write a new one.
    pub fn write_statement(
        &self,
        statement: &[u8],
        signature: Option<&str>,
    ) -> Result<StatementPaths, ManifestSignatureError> {
        let paths = self.statement_paths()?;
        let files = &self.session.doors.files;
        let write = |path: &Path, content: &[u8]| {
            let path = absolute_path(path);
            let attributes = FileAttributes { mode: Some(0o644), ..FileAttributes::default() };
            let new = NewFile { content: NewContent::Bytes(content), attributes };
            files.write(&path, &new).map(drop).map_err(ManifestSignatureError::Source)
        };
        write(&paths.statement, statement)?;
        match signature {
            Some(signature) => write(&paths.signature, signature.as_bytes())?,
            None => files
                .remove(&absolute_path(&paths.signature), false)
                .map_err(ManifestSignatureError::Source)?,
        }
        Ok(paths)
    }

    /// Reads the statement beside the manifest, to add its signature.
    pub fn read_statement(&self) -> Result<Vec<u8>, ManifestSignatureError> {
        read_file(self.session, &self.statement_paths()?.statement, MAX_STATEMENT)
    }

    /// Checks the statement about the manifest, its signature and every file. From then on, the run uses only what was
    /// signed.
    pub fn signature(&self) -> Result<&ManifestSignature, Arc<ManifestSignatureError>> {
        let checked = self.signature.get_or_init(|| {
            let (signature, files) = self.check_signature().map_err(Arc::new)?;
            self.input.reads().require(files);
            Ok(signature)
        });
        checked.as_ref().map_err(Arc::clone)
    }

    fn check_signature(&self) -> Result<(ManifestSignature, SignedFiles), ManifestSignatureError> {
        let paths = self.statement_paths()?;
        let read = |path: &Path, limit: u64| read_file(self.session, path, limit);
        let bytes = read(&paths.statement, MAX_STATEMENT)?;
        let signature = String::from_utf8(read(&paths.signature, MAX_SIGNATURE)?)
            .map_err(|_| SignatureFailure::from(SignatureRefusal::Unreadable))?;
        let approvers = self.session.approvers()?;
        let signer = self.session.verify(&approvers, MANIFEST_NAMESPACE, &bytes, &signature)?;
        // Only what an approver wrote is read.
        let statement = SignedManifest::parse(&bytes).map_err(|reason| {
            ManifestSignatureError::Statement { path: paths.statement.display().to_string(), reason }
        })?;
        let now = self.session.doors.clock.now();
        let end = statement.end().filter(|end| now < *end);
        let end = end.ok_or_else(|| ManifestSignatureError::Ended(statement.not_after.clone()))?;
        let files = self.compare(&statement)?;
        let digest = ccm_host::sha256(&bytes);
        Ok((ManifestSignature { signer, not_after: statement.not_after, digest, end }, files))
    }
}

fn read_file(session: &Session, path: &Path, limit: u64) -> Result<Vec<u8>, ManifestSignatureError> {
    session.input(Some(path), limit).map_err(|source| {
        let path = path.display().to_string();
        match source.kind() {
            io::ErrorKind::NotFound => ManifestSignatureError::Missing(path),
            _ => ManifestSignatureError::Unreadable { path, source },
        }
    })
}
