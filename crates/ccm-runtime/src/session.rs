//! Sessions, and their configuration.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use ccm_engine::{DynGate, LedgerDamage, LedgerError, OpenGate, ResourceType};
use ccm_governance::audit::AuditSource;
use ccm_governance::policy::PolicySource;
use ccm_governance::signed::ManifestSignatureError;
use ccm_governance::{Governance, GovernanceNotice, GovernancePlaces};
use ccm_host::state::{StateError, default_state_directory};
use ccm_host::{
    Cancellation, Clock, Commands, ConfigurationError, Files, RunnerError, TextError, Writer, absolute,
    read_text,
};
use ccm_model::{Diagnostic, ManifestErrors, SourceMap};
use ccm_properties::TypeSpec;
use ccm_redaction::Secrets;

use crate::canceller::Canceller;
use crate::doors::{Doors, OpenDoors, SystemDoors};
use crate::encrypted_values::EncryptedValues;
use crate::findings::redacted;
use crate::notices::Notices;
use crate::session_doors::SessionDoors;

/// Settings of a [`Session`].
pub struct Config {
    /// Values that must not be shown. Copies share the secrets that the session adds.
    pub secrets: Secrets,
    /// State directory; the default is `/var/lib/ccm` as root, and the user's own otherwise. A run creates it.
    /// Sessions with one state directory wait for each other's runs.
    pub state_directory: Option<PathBuf>,
    /// Program that starts commands as another user, with a umask or in a sandbox: one whose `main` begins with
    /// [`launcher::begin`](crate::process::launcher::begin), such as this program as `/proc/self/exe`. Without
    /// it, resources that need it fail.
    pub launcher: Option<PathBuf>,
    /// Further resource types of the program. A type replaces a built-in one of the same name.
    pub types: Vec<&'static dyn ResourceType>,
    /// Doors to the machine.
    pub doors: Box<dyn Doors + Send>,
    /// Gate that decides on every command and every change of a run before it happens; the default allows all
    /// of them.
    pub gate: Box<dyn DynGate + Send>,
    /// Policy of the operator, which judges commands and changes before the gate.
    pub policy: PolicySource,
    /// Place of the audit log. A log that exists there is used.
    pub audit: AuditSource,
    /// Directory of requests and approvals; the default is `/var/lib/ccm/approvals` as root, and the user's own
    /// otherwise.
    pub approvals: Option<PathBuf>,
    /// Refuses to apply manifests that no approver has signed.
    pub requires_signed: bool,
    /// Lets only runs of approved plans begin. The policy can require that as well.
    pub requires_plan: bool,
    /// Keeps the digests of the files of manifests, which plans need.
    pub handles_plans: bool,
    /// Bounds of what is read before a run, for manifests that somebody with fewer rights than this process may have
    /// named.
    pub bounds: Option<InputBounds>,
    /// Refuses inputs that are no regular files. Those within [`Self::bounds`] always have to be regular.
    pub regular_inputs: bool,
    /// File with the private key that opens encrypted values; the default is the key of the machine.
    pub identity: Option<PathBuf>,
}

/// Bounds of what is read for a manifest before its run. Inputs have to be regular files.
#[derive(Clone, Debug)]
pub struct InputBounds {
    /// Maximum size of all files that the resources copy or extract, in bytes.
    pub max_bytes: u64,
    /// Maximum number of these files.
    pub max_files: usize,
    /// Maximum time in which the values of a manifest are computed before the run.
    pub max_time: Duration,
    /// Handle that ends the reading.
    pub canceller: Canceller,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            secrets: Secrets::new(),
            state_directory: None,
            launcher: None,
            types: Vec::new(),
            doors: Box::new(SystemDoors),
            gate: Box::new(OpenGate),
            policy: PolicySource::default(),
            audit: AuditSource::default(),
            approvals: None,
            requires_signed: false,
            requires_plan: false,
            handles_plans: false,
            bounds: None,
            regular_inputs: false,
            identity: None,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Config")
            .field("state_directory", &self.state_directory)
            .field("launcher", &self.launcher)
            .field("types", &self.types.iter().map(|found| found.name()).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// Notice that is not an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// Facts of this machine that could not be gathered.
    Facts(&'a ccm_facts::Warning),
    /// File of variables beside a manifest that another user may have written. It was not read.
    Environment(&'a ConfigurationError),
    /// File of values in the working directory that another user may have written. It was not read.
    DataFile(&'a ConfigurationError),
    /// An expression of the manifest or of its data uses the environment.
    EnvironmentUsed,
    /// Another run holds the lock, as its holder describes it.
    Waiting(&'a str),
    /// A ledger that a run would refuse.
    UntrustedLedger(&'a LedgerError),
    /// A container that could not be stopped or removed at the end of a run.
    ContainerProblem(&'a str),
    /// A container that is kept at the end of a run.
    Container(&'a str),
    /// A notice of the policy or of the audit log.
    Governance(&'a GovernanceNotice<'a>),
    /// Files of a manifest that others can change, each with the file or directory that is open to them, and them.
    Changeable(&'a [(PathBuf, Writer)]),
    /// A signature of a manifest that does not count. The run goes on without it.
    UnusedSignature {
        /// Name of the manifest.
        manifest: &'a str,
        /// The reason.
        error: &'a ManifestSignatureError,
    },
    /// A ledger that was damaged. Every refresh of the manifest counts as pending.
    DamagedLedger {
        /// The damage.
        damage: &'a LedgerDamage,
        /// `true` if the ledger was set aside, `false` in noop.
        is_kept: bool,
    },
}

/// State of one user of ccm: secrets, types, doors to the machine and the path of the state directory.
///
/// A session stays on its thread. Sessions of one process do not see each other's secrets, caches or
/// catalogs.
pub struct Session {
    pub(crate) types: Vec<&'static dyn ResourceType>,
    pub(crate) secrets: Secrets,
    pub(crate) doors: Rc<OpenDoors>,
    pub(crate) launcher: Option<PathBuf>,
    pub(crate) gate: Rc<dyn DynGate>,
    pub(crate) governance: Governance,
    pub(crate) requires_signed: bool,
    pub(crate) requires_plan: bool,
    pub(crate) handles_plans: bool,
    pub(crate) bounds: Option<InputBounds>,
    pub(crate) notices: Notices,
    /// What inputs and governance share with the session.
    pub(crate) shared: Rc<SessionDoors>,
    state_directory: Option<PathBuf>,
}

impl Session {
    /// Opens a session. Nothing is read or written yet.
    pub fn open(config: Config) -> Self {
        let Config {
            secrets,
            state_directory,
            launcher,
            types,
            doors,
            gate,
            policy,
            audit,
            approvals,
            requires_signed,
            requires_plan,
            handles_plans,
            bounds,
            regular_inputs,
            identity,
        } = config;
        let notices = Notices::default();
        let cancellation = bounds.as_ref().map(|bounds| bounds.canceller.cancellation().clone());
        let mut known = ccm_resources::types();
        known.retain(|found| !types.iter().any(|own| own.name() == found.name()));
        known.extend(types);
        let doors = Rc::new(OpenDoors::new(doors, &cancellation.unwrap_or_else(Cancellation::never)));
        let shared = Rc::new(SessionDoors {
            doors: Rc::clone(&doors),
            secrets: secrets.clone(),
            notices: notices.clone(),
            bounds: bounds.clone(),
            regular_inputs: regular_inputs || bounds.is_some(),
            encrypted: Rc::new(EncryptedValues::new(identity)),
        });
        let places = GovernancePlaces { policy, audit, approvals };
        let governance =
            Governance::new(Rc::<SessionDoors>::clone(&shared), secrets.clone(), launcher.clone(), places);
        Self {
            types: known,
            secrets,
            doors,
            launcher,
            gate: Rc::from(gate as Box<dyn DynGate>),
            governance,
            requires_signed,
            requires_plan,
            handles_plans,
            bounds,
            notices,
            shared,
            state_directory,
        }
    }

    /// Sets the receiver of notices.
    #[must_use]
    pub fn on_notice(self, receiver: impl Fn(&Notice<'_>) + 'static) -> Self {
        self.notices.receive(receiver);
        self
    }

    /// Returns the names of all resource types.
    pub fn type_names(&self) -> Vec<&'static str> {
        self.types.iter().map(|known| known.name()).collect()
    }

    /// Returns the policy, the approvals and the audit log of the machine.
    pub fn governance(&self) -> &Governance {
        &self.governance
    }

    /// Returns the values that must not be shown.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Returns the door to commands, which is opened on first use.
    pub fn commands(&self) -> Result<&dyn Commands, RunnerError> {
        self.doors.commands(&self.secrets, self.launcher.as_deref())
    }

    /// Returns the door to files outside of runs.
    pub fn files(&self) -> &dyn Files {
        &*self.doors.files
    }

    /// Returns the clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.doors.clock
    }

    /// Returns the resource types, the built-in ones first.
    pub fn types(&self) -> &[&'static dyn ResourceType] {
        &self.types
    }

    /// Reads a file of at most `limit` bytes, or standard input without a path. Returns its name and its
    /// text. `what` names the kind of the text in errors.
    pub fn read_text(
        &self,
        path: Option<&Path>,
        limit: u64,
        what: &'static str,
    ) -> Result<(String, String), TextError> {
        read_text(|path, limit| self.doors.input(path, limit, self.shared.regular_inputs), path, limit, what)
    }

    /// Returns the JSON schema of manifests.
    pub fn schema(&self) -> serde_json::Value {
        ccm_manifest::schema(&self.specs())
    }

    /// Returns the path of the state directory, which need not exist.
    pub fn state_path(&self) -> Result<PathBuf, StateError> {
        let Some(named) = &self.state_directory else { return default_state_directory() };
        absolute(named).map_err(|source| StateError::Open { path: named.clone(), source })
    }

    /// Returns the time since the boot of the machine. Every process of a boot has the same one.
    pub fn since_boot(&self) -> Duration {
        self.doors.machine.since_boot()
    }

    /// Returns the state directory from the configuration.
    pub fn named_state_directory(&self) -> Option<&Path> {
        self.state_directory.as_deref()
    }

    /// Builds errors that can be shown.
    pub(crate) fn errors(&self, diagnostics: Vec<Diagnostic>, texts: &SourceMap) -> ManifestErrors {
        ManifestErrors(redacted(diagnostics, texts, &self.secrets))
    }

    pub(crate) fn specs(&self) -> Vec<&'static dyn TypeSpec> {
        self.types.iter().map(|found| *found as &dyn TypeSpec).collect()
    }
}

/// Returns an absolute path with its links as they are.
pub(crate) fn absolute_path(path: &Path) -> PathBuf {
    // A path that can't be made absolute stays what it is, and leads to no file.
    absolute(path).unwrap_or_else(|_| path.to_owned())
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Session")
            .field("state_directory", &self.state_directory)
            .finish_non_exhaustive()
    }
}
