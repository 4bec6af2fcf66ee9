//! Loading of a policy.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_host::{TrustError, TrustedDirectory, current_user};
use ccm_model::{Diagnostic, DiagnosticKind, SourceMap};
use ccm_policy::{Policy, PolicyText, read_policy};

use crate::findings::{Findings, ManifestErrors};
use crate::session::Session;
use crate::text::TextError;

/// Directory of the system's policy.
const SYSTEM: &str = "/etc/ccm";
const FILE: &str = "policy.yaml";
const FRAGMENTS: &str = "policy.d";
/// Maximum size of a policy file in bytes.
const MAX_SIZE: u64 = 1 << 20;
/// Maximum number of files in `policy.d`.
const MAX_FRAGMENTS: usize = 256;

/// Origin of the policy that judges the commands of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PolicySource {
    /// `/etc/ccm/policy.yaml` with `/etc/ccm/policy.d/*.yaml`. Only root may be able to write them.
    #[default]
    System,
    /// The same files in another directory, which may also belong to the user of the process.
    Directory(PathBuf),
    /// No policy.
    None,
}

/// Reason for which a policy can't be used. Nothing is run then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// Another user may have written a file.
    #[error("the policy can't be trusted")]
    Trust(#[from] TrustError),
    /// A file that the caller names can't be read.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Errors in the policy.
    #[error("{0} in the policy")]
    Errors(ManifestErrors),
}

/// Policy that was read without an error.
#[derive(Clone, Debug)]
pub struct CheckedPolicy {
    /// The policy.
    pub policy: Policy,
    /// Names of its files.
    pub files: Vec<String>,
    /// Warnings.
    pub warnings: Findings,
}

impl Session {
    /// Returns the policy of the session, which is read once; `None` without a policy.
    pub fn policy(&self) -> Result<Option<&CheckedPolicy>, Arc<PolicyError>> {
        let loaded = self.policy.get_or_init(|| self.load_policy().map_err(Arc::new));
        loaded.as_ref().map(Option::as_ref).map_err(Arc::clone)
    }

    /// Reads a policy file that the caller names. The file may belong to anybody.
    pub fn read_policy(&self, path: &Path) -> Result<CheckedPolicy, PolicyError> {
        let (name, text) = self.read_text(Some(path), MAX_SIZE, "policy")?;
        check_policy(&PolicyText { name, text: text.into() }, &[])
    }

    fn load_policy(&self) -> Result<Option<CheckedPolicy>, PolicyError> {
        let (directory, owner) = match &self.policy_source {
            PolicySource::None => return Ok(None),
            PolicySource::System => (Path::new(SYSTEM), 0),
            PolicySource::Directory(directory) => (&**directory, current_user()),
        };
        let Some(directory) = TrustedDirectory::open(directory, owner)? else { return Ok(None) };
        let text = |directory: &TrustedDirectory, name: &OsStr| -> Result<Option<PolicyText>, TrustError> {
            let text = directory.read(name, MAX_SIZE)?;
            let name = directory.path().join(name).display().to_string();
            Ok(text.map(|text| PolicyText { name, text: text.into() }))
        };
        let Some(main) = text(&directory, OsStr::new(FILE))? else { return Ok(None) };
        let mut fragments = Vec::new();
        if let Some(below) = directory.enter(OsStr::new(FRAGMENTS))? {
            for name in below.names(".yaml", MAX_FRAGMENTS)? {
                fragments.extend(text(&below, &name)?);
            }
        }
        check_policy(&main, &fragments).map(Some)
    }

    /// Returns the policy that a run obeys. Settings that this version can't keep for a run are errors, so that nobody
    /// relies on them.
    pub(crate) fn policy_of_run(&self) -> Result<Option<&CheckedPolicy>, Arc<PolicyError>> {
        let Some(checked) = self.policy()? else { return Ok(None) };
        let unsupported = |span, message: &str, hint: &str| {
            Diagnostic::error(DiagnosticKind::Unsupported, span, message).with_hint(hint)
        };
        let mut errors = Vec::new();
        if let Some(span) = checked.policy.apply_settings().signed {
            errors.push(unsupported(
                span,
                "this version of ccm can't verify signatures of manifests",
                "remove `signed: required`",
            ));
        }
        if errors.is_empty() {
            return Ok(Some(checked));
        }
        let texts: SourceMap = checked.policy.texts().clone();
        Err(Arc::new(PolicyError::Errors(ManifestErrors(Findings { diagnostics: errors, texts }))))
    }
}

fn check_policy(main: &PolicyText, fragments: &[PolicyText]) -> Result<CheckedPolicy, PolicyError> {
    let reading = read_policy(main, fragments);
    let files = std::iter::once(main).chain(fragments).map(|file| file.name.clone()).collect();
    match reading.policy {
        Some(policy) => {
            let warnings = Findings { diagnostics: reading.diagnostics, texts: (*reading.texts).clone() };
            Ok(CheckedPolicy { policy, files, warnings })
        }
        None => Err(PolicyError::Errors(ManifestErrors(Findings {
            diagnostics: reading.diagnostics,
            texts: (*reading.texts).clone(),
        }))),
    }
}
