//! Statements about manifests: written for an approver to sign, and checked before a run.

mod sources;

pub(crate) use sources::CopyKind;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ccm_governance::signed::{
    ManifestContent, ManifestSignature, ManifestSignatureError, SignedFiles, SignedManifest, StatementPaths,
};
use ccm_host::{FileAttributes, NewContent, NewFile};

use crate::input::ManifestSource;
use crate::manifest::LoadedManifest;
use crate::session::absolute_path;

impl LoadedManifest<'_> {
    /// Returns the paths of the statement about the manifest.
    pub fn statement_paths(&self) -> Result<StatementPaths, ManifestSignatureError> {
        if self.input.executor().is_some() {
            return Err(ManifestSignatureError::Command);
        }
        match self.input.source() {
            ManifestSource::File(path) if !self.input.is_transient() => Ok(StatementPaths::of(path)),
            ManifestSource::Accepted { is_signed: true, .. } => Err(ManifestSignatureError::GivenValues),
            ManifestSource::Accepted { .. } => Err(ManifestSignatureError::UnsignedSource),
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
        self.statement_paths()?;
        let mut content = self.content()?;
        for path in also {
            self.add_named(&absolute_path(path), &mut content.sources)?;
        }
        let now = self.session.doors.clock.now();
        content.statement(now, now.checked_add(valid).unwrap_or(now))
    }

    /// Returns the manifest with all its files, as they are now.
    fn content(&self) -> Result<ManifestContent<'_>, ManifestSignatureError> {
        Ok(ManifestContent {
            name: self.input.file_name().ok_or(ManifestSignatureError::Transient)?,
            directory: self.input.directory(),
            data: &self.input.data().assignments,
            hiera: self.input.data().files.iter().map(|path| absolute_path(path)).collect(),
            reads: self.input.reads().files(),
            sources: self.local_sources()?,
            managed: self.managed_paths().into_keys().collect(),
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
        let files = self.content()?.compare(statement)?;
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
        self.session.governance.read_statement(&self.statement_paths()?)
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
        let (statement, signature) = self.session.governance.signed_statement(&self.statement_paths()?)?;
        Ok((signature, self.content()?.compare(&statement)?))
    }
}
