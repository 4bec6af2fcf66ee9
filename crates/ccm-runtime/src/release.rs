//! Releases: manifests that are built once, signed, and taken by many machines.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_approval::{Approvers, ApproversError};
use ccm_governance::approval::{SignError, SignatureFailure};
use ccm_host::{FileAttributes, FileError, NewContent, NewFile, SigningKey, TextError};
use ccm_sshsig::SshSignature;

use crate::session::{Session, absolute_path};

pub use ccm_release::{
    BundleDigest, ChannelName, Envelope, EnvelopeError, ProgramVersion, RELEASE_NAMESPACE, Release,
    ReleaseError, SignatureThreshold, ThresholdError, Wave, WaveError, Waves,
};
pub use ccm_source::bundle::{BuildError, BuiltBundle};
pub use ccm_sshsig::VerifiedSignature;

use ccm_release::MAX_ENVELOPE;
use ccm_source::bundle::{self, MAX_BUNDLE};

/// What a new release says beside its bundle.
#[derive(Clone, Debug)]
pub struct ReleasePlan {
    /// Channel.
    pub channel: ChannelName,
    /// Version.
    pub version: u64,
    /// Epoch.
    pub epoch: u64,
    /// Time for which machines accept it.
    pub lifetime: Option<Duration>,
    /// Oldest version of ccm that can apply it.
    pub min_ccm: Option<ProgramVersion>,
    /// Waves.
    pub waves: Waves,
    /// Time over which the machines of a wave are spread.
    pub splay: Duration,
    /// Note for people.
    pub note: Option<String>,
}

/// Release that was written, or read, with its file and that of its bundle.
#[derive(Debug)]
pub struct ReleaseFile {
    /// The release.
    pub release: Release,
    /// The envelope.
    pub envelope: Envelope,
    /// Path of the envelope.
    pub path: PathBuf,
    /// Path of the bundle.
    pub bundle: PathBuf,
}

/// Reason for which a release was not built, signed or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseFileError {
    /// The bundle can't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The document is wrong.
    #[error("{path:?} is no release")]
    Document {
        /// Path of the envelope.
        path: PathBuf,
        /// The error.
        source: ReleaseError,
    },
    /// What was asked for makes no release.
    #[error(transparent)]
    Plan(ReleaseError),
    /// The envelope is wrong.
    #[error("{path:?} is no release")]
    Envelope {
        /// Path of the envelope.
        path: PathBuf,
        /// The error.
        source: EnvelopeError,
    },
    /// A file can't be read.
    #[error(transparent)]
    Read(#[from] TextError),
    /// A file can't be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The bundle is not that of the release.
    #[error("{path:?} is not the bundle of this release")]
    OtherBundle {
        /// Path of the bundle.
        path: PathBuf,
        /// Error of reading it as an archive.
        #[source]
        source: Option<std::io::Error>,
    },
    /// There is no signature of the person at the terminal.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The signers can't be read.
    #[error("the signers {path:?} can't be used")]
    Signers {
        /// Path of the file of signers.
        path: PathBuf,
        /// The error.
        source: ApproversError,
    },
    /// Too few people have signed.
    #[error("{path:?} is not accepted")]
    Threshold {
        /// Path of the envelope.
        path: PathBuf,
        /// The error.
        source: ThresholdError,
    },
}

/// Key that a signature names, without a proof that the signature is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedKey {
    /// Name of the algorithm; `None` if the signature can't be read.
    pub algorithm: Option<String>,
    /// Fingerprint, such as `SHA256:…`.
    pub fingerprint: Option<String>,
}

impl ReleaseFile {
    /// Returns the keys that the signatures name. Nothing is verified.
    pub fn claimed_keys(&self) -> Vec<ClaimedKey> {
        let signatures = self.envelope.signatures().iter();
        let keys = signatures.map(|armoured| match SshSignature::parse(armoured) {
            Some(signature) => ClaimedKey {
                algorithm: Some(signature.key().algorithm().to_owned()),
                fingerprint: Some(signature.key().fingerprint()),
            },
            None => ClaimedKey { algorithm: None, fingerprint: None },
        });
        keys.collect()
    }

    fn of(path: &Path, envelope: Envelope, release: Release) -> Self {
        let path = absolute_path(path);
        let bundle = path.with_file_name(release.bundle.file_name());
        Self { release, envelope, path, bundle }
    }
}

impl Session {
    /// Packs a directory, and writes the release with its bundle beside it. The bundle comes first, so that a release
    /// never lies there without it. Returns the release, and the number of its files.
    pub fn build_release(
        &self,
        directory: &Path,
        plan: ReleasePlan,
        path: &Path,
    ) -> Result<(ReleaseFile, usize), ReleaseFileError> {
        let built = bundle::build(&*self.doors.files, &absolute_path(directory))?;
        let issued = self.doors.clock.now();
        let release = Release {
            channel: plan.channel,
            version: plan.version,
            epoch: plan.epoch,
            issued,
            expires: plan.lifetime.and_then(|lifetime| issued.checked_add(lifetime)),
            bundle: built.digest,
            min_ccm: plan.min_ccm,
            waves: plan.waves,
            splay: plan.splay,
            note: plan.note,
        };
        let envelope = Envelope::new(release.text().map_err(ReleaseFileError::Plan)?);
        let file = ReleaseFile::of(path, envelope, release);
        self.write_shared(&file.bundle, &built.content)?;
        self.write_shared(&file.path, file.envelope.content().as_bytes())?;
        Ok((file, built.paths.len()))
    }

    /// Reads a release without verifying anything.
    pub fn read_release(&self, path: &Path) -> Result<ReleaseFile, ReleaseFileError> {
        let (_, text) = self.read_text(Some(path), MAX_ENVELOPE as u64, "release")?;
        let at = || path.to_owned();
        let envelope = Envelope::parse(text.as_bytes())
            .map_err(|source| ReleaseFileError::Envelope { path: at(), source })?;
        let release = Release::parse(envelope.payload())
            .map_err(|source| ReleaseFileError::Document { path: at(), source })?;
        Ok(ReleaseFile::of(path, envelope, release))
    }

    /// Checks that the bundle beside a release is its own.
    pub fn check_bundle(&self, file: &ReleaseFile) -> Result<(), ReleaseFileError> {
        let other = |source| ReleaseFileError::OtherBundle { path: file.bundle.clone(), source };
        let content = self.doors.files.content(&file.bundle, MAX_BUNDLE)?.ok_or_else(|| other(None))?;
        match bundle::has_digest(&content, &file.release.bundle) {
            Ok(true) => Ok(()),
            Ok(false) => Err(other(None)),
            Err(error) => Err(other(Some(error))),
        }
    }

    /// Signs a release with a key of the person at the terminal, after its bundle was checked.
    pub fn sign_release(&self, file: &mut ReleaseFile, key: &SigningKey) -> Result<(), ReleaseFileError> {
        self.check_bundle(file)?;
        let text = file.envelope.payload().as_bytes();
        let (signature, _) = self.governance.sign(key, RELEASE_NAMESPACE, text, None)?;
        let failed = |source| ReleaseFileError::Envelope { path: file.path.clone(), source };
        file.envelope.add_signature(signature).map_err(failed)?;
        self.write_shared(&file.path, file.envelope.content().as_bytes())
    }

    /// Verifies the signatures of a release with a file of allowed signers, and its bundle. Returns everybody whose
    /// signature counts.
    pub fn verify_release(
        &self,
        file: &ReleaseFile,
        signers: &Path,
        threshold: SignatureThreshold,
    ) -> Result<Vec<VerifiedSignature>, ReleaseFileError> {
        let signers = absolute_path(signers);
        let signers = self
            .governance
            .signers(&signers)
            .map_err(|source| ReleaseFileError::Signers { path: signers.clone(), source })?;
        let verified = self.verify_envelope(&file.envelope, &signers, threshold);
        let failed = |source| ReleaseFileError::Threshold { path: file.path.clone(), source };
        let verified = verified.map_err(failed)?;
        self.check_bundle(file)?;
        Ok(verified)
    }

    pub(crate) fn verify_envelope(
        &self,
        envelope: &Envelope,
        signers: &Approvers,
        threshold: SignatureThreshold,
    ) -> Result<Vec<VerifiedSignature>, ThresholdError> {
        let mut verify = |text: &str, signature: &str| {
            let verified = self.governance.verify(signers, RELEASE_NAMESPACE, text.as_bytes(), signature);
            // A layer that only passes its cause on says nothing.
            verified.map_err(|failure| match failure {
                SignatureFailure::Refused(refusal) => refusal.into(),
                other => other.into(),
            })
        };
        Ok(envelope.verify(threshold, &mut verify)?.1)
    }

    /// Writes a file that everybody may read.
    fn write_shared(&self, path: &Path, content: &[u8]) -> Result<(), ReleaseFileError> {
        let attributes = FileAttributes { mode: Some(0o644), ..FileAttributes::default() };
        let new = NewFile { content: NewContent::Bytes(content), attributes };
        self.doors.files.write(path, &new).map(drop).map_err(ReleaseFileError::File)
    }
}
