//! Access to the log for `ccm audit`: making, reading, verifying, copying.

use std::io;
use std::path::{Path, PathBuf};

use ccm_audit::{
    AuditError, AuditLine, AuditLog, Checkpoint, CheckpointError, KeyError, LogVerification, NextKeyCheck,
    OpenError, PublicKey, Trust, end_of_log, export, read_log, verify,
};
use ccm_host::state::{Directory, StateError};

use crate::governance::Governance;
use ccm_host::TextError;

/// Maximum size of a file with a key.
const MAX_KEY: u64 = 64 << 10;
/// Maximum size of a file with checkpoints.
const MAX_CHECKPOINTS: u64 = 64 << 20;

/// Error of reading or making the audit log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditAccessError {
    /// The directory can't be used.
    #[error("the directory of the audit log can't be used")]
    Directory(#[from] StateError),
    /// There is no log.
    #[error("there is no audit log in {path:?}")]
    Missing {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The directory that the caller names does not exist.
    #[error("there is no directory {path:?}")]
    NoDirectory {
        /// Path of the directory.
        path: PathBuf,
    },
    /// There is no log in the directory that the caller names.
    #[error("there is no audit log in {path:?}")]
    NoCopy {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The log can't be made.
    #[error(transparent)]
    Create(#[from] OpenError),
    /// The log can't be read.
    #[error(transparent)]
    Log(#[from] AuditError),
    /// A file with a key or with checkpoints can't be read.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A file holds no key.
    #[error("{name} holds no key of a seal")]
    Key {
        /// Name of the file.
        name: String,
        /// Reason.
        source: KeyError,
    },
    /// A file holds no checkpoints.
    #[error("{name} holds no checkpoints")]
    Checkpoints {
        /// Name of the file.
        name: String,
        /// Reason.
        source: CheckpointError,
    },
    /// The directory of an export holds something.
    #[error("{path:?} is not empty")]
    NotEmpty {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The directory of an export can't be read.
    #[error("{path:?} can't be read")]
    Target {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

/// Log that was made.
#[derive(Clone, Debug)]
pub struct InitialisedAudit {
    /// Path of the directory.
    pub path: PathBuf,
    /// Id of the machine in the log.
    pub machine: String,
    /// Public key of the first seal.
    pub key: PublicKey,
}

impl Governance {
    /// Makes the audit log. An existing one is an error.
    pub fn init_audit(&self) -> Result<InitialisedAudit, AuditAccessError> {
        let path = self.audit_path()?;
        let machine = self.audited_machine();
        let id = machine.id.clone();
        let directory = Directory::open_private(&path)?;
        let (_, key) = AuditLog::create(directory, machine, self.doors.clock().now())?;
        Ok(InitialisedAudit { path, machine: id, key })
    }

    /// Opens the audit log, or a copy of one, to read.
    fn open_audit(&self, copy: Option<&Path>) -> Result<Directory, AuditAccessError> {
        let path = copy.map_or_else(|| self.audit_path(), |path| Ok(path.to_owned()))?;
        let missing = |has_directory: bool| {
            let path = path.clone();
            match copy {
                None => AuditAccessError::Missing { path },
                Some(_) if has_directory => AuditAccessError::NoCopy { path },
                Some(_) => AuditAccessError::NoDirectory { path },
            }
        };
        let directory = Directory::open(&path)?.ok_or_else(|| missing(false))?;
        let names =
            directory.names().map_err(|source| AuditAccessError::Target { path: path.clone(), source })?;
        if names.iter().any(|name| name.starts_with("audit-")) { Ok(directory) } else { Err(missing(true)) }
    }

    /// Reads all lines of the audit log, or of a copy, without verifying them.
    pub fn read_audit(
        &self,
        copy: Option<&Path>,
        take: &mut dyn FnMut(AuditLine<'_>),
    ) -> Result<(), AuditAccessError> {
        Ok(read_log(&self.open_audit(copy)?, take)?)
    }

    /// Verifies the audit log, or a copy.
    pub fn verify_audit(
        &self,
        copy: Option<&Path>,
        trust: &Trust,
    ) -> Result<LogVerification, AuditAccessError> {
        Ok(verify(&self.open_audit(copy)?, trust)?)
    }

    /// Returns the end of the audit log. What is before its last lines is not verified.
    pub fn end_of_audit(&self) -> Result<Checkpoint, AuditAccessError> {
        Ok(end_of_log(&self.open_audit(None)?)?)
    }

    /// Copies the audit log for an auditor into a directory, which is made or is empty. Returns the verification of the
    /// copy, or that of a log that is not intact.
    pub fn export_audit(
        &self,
        copy: Option<&Path>,
        target: &Path,
        next_key: NextKeyCheck,
    ) -> Result<LogVerification, AuditAccessError> {
        let directory = self.open_audit(copy)?;
        let written = Directory::open_private(target)?;
        let path = || target.to_owned();
        let names = written.names().map_err(|source| AuditAccessError::Target { path: path(), source })?;
        if !names.is_empty() {
            return Err(AuditAccessError::NotEmpty { path: path() });
        }
        Ok(export(&directory, &written, next_key)?)
    }

    /// Reads the public key of a first seal from a file.
    pub fn read_audit_key(&self, path: &Path) -> Result<PublicKey, AuditAccessError> {
        let (name, text) = self.read_text(Some(path), MAX_KEY, "key")?;
        let line = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
        PublicKey::parse(line.unwrap_or_default()).map_err(|source| AuditAccessError::Key { name, source })
    }

    /// Reads checkpoints from a file, or from standard input without a path.
    pub fn read_checkpoints(&self, path: Option<&Path>) -> Result<Vec<Checkpoint>, AuditAccessError> {
        let (name, text) = self.read_text(path, MAX_CHECKPOINTS, "checkpoint")?;
        Checkpoint::parse_lines(&text).map_err(|source| AuditAccessError::Checkpoints { name, source })
    }
}
