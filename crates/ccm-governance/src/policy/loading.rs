//! Loading of a policy.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_facts::CustomFacts;
use ccm_host::{TrustError, TrustedDirectory, current_user};
use ccm_policy::{Policy, PolicyFiles, PolicyText, read_policy_files};

use super::intended::digest_of_files;
use crate::governance::Governance;
use ccm_host::TextError;
use ccm_model::{Findings, ManifestErrors};

/// Directory of the system's policy.
const SYSTEM: &str = "/etc/ccm";
const FILE: &str = "policy.yaml";
const FRAGMENTS: &str = "policy.d";
const SIGNATURE: &str = "policy.yaml.sig";
/// Namespace of the signature of a policy.
pub const POLICY_NAMESPACE: &str = "ccm-policy@v1";
/// Maximum size of a policy file in bytes.
const MAX_SIZE: u64 = 1 << 20;
/// Maximum number of files in `policy.d`.
const MAX_FRAGMENTS: usize = 256;

/// Origin of the policy that judges the commands of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PolicySource {
    /// `/etc/ccm/policy.yaml` with `/etc/ccm/policy.d/*.yaml`. Only root may be able to write them. The file
    /// `ccm/policy.yaml` in the configuration directory of a user other than root adds to them.
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
    /// The signature of a policy file does not count.
    #[error("the signature {path} does not count")]
    Signature {
        /// Path of the signature.
        path: String,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The policy is signed, but not a file that may allow as much as the policy.
    #[error("{0} is not signed, but policy.yaml is, and lists it below `trusted`")]
    Unsigned(String),
    /// A file of `policy.d` would not be read.
    #[error("{0} is not read: the names of policies end in `.yaml`")]
    NotRead(String),
    /// There are files in `policy.d`, but no policy that they add to.
    #[error("{0} has no effect: there is no policy.yaml")]
    WithoutMain(String),
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

impl Governance {
    /// Returns the policy of the machine, which is read once; `None` without a policy.
    pub fn policy(&self) -> Result<Option<&CheckedPolicy>, Arc<PolicyError>> {
        let loaded = self.policy.get_or_init(|| {
            let found = self.found_policy()?;
            self.check_found(found).map_err(Arc::new)
        });
        loaded.as_ref().map(Option::as_ref).map_err(Arc::clone)
    }

    /// Reads a policy file that the caller names. The file may belong to anybody.
    pub fn read_policy(&self, path: &Path) -> Result<CheckedPolicy, PolicyError> {
        let (name, text) = self.read_text(Some(path), MAX_SIZE, "policy")?;
        let main = Some(PolicyText { name, text: text.into() });
        check_policy(&PolicyFiles { main, ..PolicyFiles::default() })
    }

    /// Returns `true` if the files of the policy are those that [`Self::policy`] has read. A policy that could not be used
    /// is never current, and neither is one that was not read yet.
    pub fn policy_is_current(&self) -> bool {
        let is_usable = self.policy.get().is_some_and(Result::is_ok);
        let digest = self.found_policy().ok().map(FoundPolicy::digest).filter(|_| is_usable);
        digest.is_some_and(|digest| self.find_policy().is_ok_and(|found| found.digest() == digest))
    }

    /// Returns the files of the policy, which are read once. Nothing in them has been checked yet.
    pub fn found_policy(&self) -> Result<&FoundPolicy, Arc<PolicyError>> {
        let found = self.found_policy.get_or_init(|| self.find_policy().map_err(Arc::new));
        found.as_ref().map_err(Arc::clone)
    }

    /// Reads the files of the policy.
    fn find_policy(&self) -> Result<FoundPolicy, PolicyError> {
        let mut found = FoundPolicy::default();
        let (directory, owner) = match &self.places.policy {
            PolicySource::None => return Ok(found),
            PolicySource::System => (Path::new(SYSTEM), 0),
            PolicySource::Directory(directory) => (&**directory, current_user()),
        };
        found.files.own = match &self.places.policy {
            PolicySource::System => self.own_policy()?,
            _ => None,
        };
        let Some(directory) = TrustedDirectory::open(directory, owner)? else { return Ok(found) };
        found.files.main = text(&directory, OsStr::new(FILE))?;
        let fragments = directory.enter(OsStr::new(FRAGMENTS))?;
        if let Some(below) = &fragments {
            let path = |name: &OsStr| below.path().join(name).display().to_string();
            if let Some(name) = below.names(".yml", MAX_FRAGMENTS)?.first() {
                return Err(PolicyError::NotRead(path(name)));
            }
            for name in below.names(".yaml", MAX_FRAGMENTS)? {
                if found.files.main.is_none() {
                    return Err(PolicyError::WithoutMain(path(&name)));
                }
                found.files.fragments.extend(text(below, &name)?);
            }
        }
        if found.files.main.is_some() {
            found.signature = text(&directory, OsStr::new(SIGNATURE))?;
        }
        found.directory = Some(directory);
        Ok(found)
    }

    fn check_found(&self, found: &FoundPolicy) -> Result<Option<CheckedPolicy>, PolicyError> {
        let FoundPolicy { files, signature, directory } = found;
        // The directory, if its policy is signed.
        let mut signed = None;
        if let (Some(main), Some(signature)) = (&files.main, signature) {
            self.check_signature(main, signature)?;
            signed = directory.as_ref();
        }
        if found.is_absent() {
            return Ok(None);
        }
        let checked = check_policy(files)?;
        for name in signed.iter().flat_map(|_| checked.policy.trusted()) {
            let fragment =
                files.fragments.iter().find(|fragment| fragment.name.ends_with(&format!("/{name}")));
            let Some(fragment) = fragment else { continue };
            let below =
                signed.as_ref().and_then(|directory| directory.enter(OsStr::new(FRAGMENTS)).transpose());
            let signature = match below.transpose()? {
                Some(below) => text(&below, OsStr::new(&format!("{name}.sig")))?,
                None => None,
            };
            let signature = signature.ok_or_else(|| PolicyError::Unsigned(fragment.name.clone()))?;
            self.check_signature(fragment, &signature)?;
        }
        Ok(Some(checked))
    }

    /// Reads the policy of the user who runs ccm. Root has the policy of the system alone: with the environment of another
    /// user, the file would be that user's.
    fn own_policy(&self) -> Result<Option<PolicyText>, PolicyError> {
        let directory = CustomFacts::of_this_user().user.filter(|_| current_user() != 0);
        let Some(directory) = directory else { return Ok(None) };
        match self.read_text(Some(&directory.join(FILE)), MAX_SIZE, "policy") {
            Ok((name, text)) => Ok(Some(PolicyText { name, text: text.into() })),
            Err(TextError::Read { source, .. })
                if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Checks the signature of a policy file with the approvers beside the policy. The policy itself does not choose
    /// them: its text counts only after this check.
    fn check_signature(&self, file: &PolicyText, signature: &PolicyText) -> Result<(), PolicyError> {
        let refused = |source: Box<dyn std::error::Error + Send + Sync>| PolicyError::Signature {
            path: signature.name.clone(),
            source,
        };
        let approvers = self.default_approvers().map_err(|error| refused(Box::new(error)))?;
        let verified = self.verify(&approvers, POLICY_NAMESPACE, file.text.as_bytes(), &signature.text);
        verified.map(drop).map_err(|error| refused(Box::new(error)))
    }
}

/// Files of a policy, as they were found.
#[derive(Default)]
pub struct FoundPolicy {
    pub(crate) files: PolicyFiles,
    /// Signature of the main file.
    signature: Option<PolicyText>,
    directory: Option<TrustedDirectory>,
}

impl FoundPolicy {
    /// Returns `true` if there is no policy.
    pub fn is_absent(&self) -> bool {
        self.files.main.is_none() && self.files.own.is_none()
    }

    /// Returns `true` if the policy is not signed, and has no setting that a run needs before it asks about a command:
    /// the policy requires no signed manifest and no plan, and says nothing about the audit log. The names of these settings would be
    /// in the text, unless a double-quoted scalar writes them with escapes.
    pub(crate) fn has_no_run_settings(&self) -> bool {
        const MARKS: [&str; 8] = ["audit", "signed", "plan", r"\x", r"\u", r"\U", "\\\n", "\\\r"];
        let PolicyFiles { main, fragments, own } = &self.files;
        let mut texts = main.iter().chain(fragments).chain(own).map(|file| &file.text);
        self.signature.is_none() && texts.all(|text| !MARKS.iter().any(|mark| text.contains(mark)))
    }

    /// Returns the SHA-256 of all files.
    pub fn digest(&self) -> String {
        let PolicyFiles { main, fragments, own } = &self.files;
        let files = main.iter().chain(fragments).chain(own).chain(&self.signature);
        digest_of_files(files.map(|file| (&*file.name, &*file.text)))
    }
}

fn text(directory: &TrustedDirectory, name: &OsStr) -> Result<Option<PolicyText>, TrustError> {
    let text = directory.read(name, MAX_SIZE)?;
    let name = directory.path().join(name).display().to_string();
    Ok(text.map(|text| PolicyText { name, text: text.into() }))
}

fn check_policy(files: &PolicyFiles) -> Result<CheckedPolicy, PolicyError> {
    let reading = read_policy_files(files);
    let files = files.main.iter().chain(&files.fragments).chain(&files.own);
    let files = files.map(|file| file.name.clone()).collect();
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
