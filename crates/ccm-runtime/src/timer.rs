//! Timers of systemd that apply a manifest: a service and a timer that ccm writes, enables, lists and removes.
//!
//! ccm recognises its units by a checksum in their first line. It replaces and removes no other file, and an edited
//! unit only if it is forced to. An installation that fails leaves the units as they were.

mod change;
mod drop_in_credentials;
mod drop_ins;
mod list;
mod migrate;
mod name;
mod notice;
mod service_settings;
mod systemctl;
mod template;
mod undo;
mod unit_file;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{FileError, FileKind, InspectOptions, RunnerError, variable};
use ccm_resources::systemd::{SYSTEM_UNITS, SYSTEMD_RUNNING, UNIT_DIRECTORIES, UnitContent, read_unit};

use crate::session::Session;

pub use ccm_resources::systemd::{FailureAction, FailureUnit, FailureUnitError, OnFailure, SummaryFormat};
pub use ccm_resources::{Schedule, ScheduleError};
pub use drop_in_credentials::CredentialOrigin;
pub use list::{InstalledTimer, LastRun, TimerKind};
pub use migrate::{MigrationPlan, MigrationWarning, PlannedDropIn};
pub use name::{TimerName, TimerNameError};
pub use notice::{FailureNotice, NotifyError};
pub use service_settings::{ServiceCredential, ServiceCredentialError};
pub use systemctl::SystemctlError;

use systemctl::TimerSystemctl;
use unit_file::{UnitFile, name_of, unit_names};

/// File with variables of the package's services.
const DEFAULTS: &str = "/etc/default/ccm";
/// Mode of the directories above the units of a user.
const DIRECTORY_MODE: u32 = 0o700;
/// Directory with a file for each user whose manager always runs.
const LINGERING: &str = "/var/lib/systemd/linger";
/// Bits of a mode by which the group or everybody may change a file, or what is in a directory.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Bit of the mode of a directory in which each user changes only what belongs to him.
const STICKY: u32 = 0o1000;

/// Manager that runs units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitScope {
    /// The manager of the system.
    System,
    /// The manager of the user who runs ccm.
    User,
}

/// Release that the runs of a timer take their manifest from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerSource {
    /// Manifest in the source.
    pub manifest: String,
    /// Absolute path of the file of signers; `None` if nobody has to sign.
    pub signers: Option<PathBuf>,
}

/// Timer to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerRequest {
    /// Name of the timer.
    pub name: TimerName,
    /// Absolute path of the manifest, or the address of the release that it is taken from.
    pub manifest: String,
    /// Release that the manifest is taken from; `None` for a manifest of this machine.
    pub source: Option<TimerSource>,
    /// Times of the runs.
    pub schedule: Schedule,
    /// Maximum delay of a run. Each machine has its own, which stays the same.
    pub jitter: Duration,
    /// Options of `ccm apply`, with absolute paths.
    pub options: Vec<String>,
    /// Absolute path of the program.
    pub program: String,
    /// `true` if the options name a state directory.
    pub has_state_directory: bool,
    /// Credentials that systemd hands to the service.
    pub credentials: Vec<ServiceCredential>,
    /// Units and commands for a run that failed.
    pub on_failure: OnFailure,
    /// Replaces edited units, and a timer of this name for another manifest.
    pub force: bool,
}

/// A unit that an installation writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedUnit {
    /// Name of the unit.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Content of the file.
    pub text: String,
    /// `true` if the file has other content now, or does not exist.
    pub is_changed: bool,
}

/// Checked installation of a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerPlan {
    /// The service, then the timer.
    pub units: [PlannedUnit; 2],
    /// Name of the service.
    pub service: String,
    /// Name of the timer.
    pub timer: String,
}

/// Reason why a timer is not installed, listed, migrated or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimerError {
    /// systemd does not run.
    #[error("systemd is not running on this machine")]
    NoSystemd,
    /// The user has no manager.
    #[error("the service manager of this user is not running")]
    NoUserManager,
    /// The directory of the user's units is not known.
    #[error(
        "the directory of the user's units is not known: neither XDG_CONFIG_HOME nor HOME is an absolute path"
    )]
    NoUserDirectory,
    /// There is no such timer.
    #[error("there is no timer `{name}` of ccm")]
    Missing {
        /// Name of the timer.
        name: TimerName,
        /// Names of the timers that there are.
        known: Vec<String>,
    },
    /// The manifest is a pipe or a device, which a later run can't read again.
    #[error("{0} is no file")]
    Transient(String),
    /// The unit was edited.
    #[error("{} was edited after ccm wrote it", .0.display())]
    Edited(PathBuf),
    /// The unit is not one of ccm.
    #[error("{} was not written by ccm", .0.display())]
    Foreign(PathBuf),
    /// A unit of the name is in another directory of systemd.
    #[error("the timer would replace {}, which ccm did not write", .0.display())]
    Elsewhere(PathBuf),
    /// The timer applies another manifest.
    #[error("the timer `{name}` applies {}", manifest.display())]
    OtherManifest {
        /// Name of the timer.
        name: TimerName,
        /// Its manifest.
        manifest: PathBuf,
    },
    /// An option has a secret, which everybody could read in the unit.
    #[error("`{0}` has the value of a sensitive key, and everybody can read it in the unit")]
    Secret(String),
    /// The service would start itself after a failure.
    #[error("`{0}` is the service of the timer itself")]
    OwnFailureUnit(String),
    /// There is no such timer of the package's template.
    #[error("the timer {unit} is neither enabled nor running")]
    NoTemplateTimer {
        /// Name of the unit.
        unit: String,
        /// Enabled timers of the template, without their kind.
        known: Vec<String>,
    },
    /// A timer of ccm applies the same manifest in another way.
    #[error("the timer `{name}` of ccm applies the same manifest as {unit}, with other settings")]
    OtherSettings {
        /// Name of the timer.
        name: TimerName,
        /// Timer of the template.
        unit: String,
    },
    /// A drop-in of the new timer has other content than the one that is carried over.
    #[error("the drop-in {} has other content than that of the timer before", .0.display())]
    OtherDropIn(PathBuf),
    /// A drop-in or a file of variables is no text.
    #[error("{} is no text of at most 1 MiB", .0.display())]
    NoText(PathBuf),
    /// `EnvironmentFile=` names files by a pattern.
    #[error("`EnvironmentFile={0}` in a drop-in is a pattern, of which the files are not known")]
    PatternOfVariables(String),
    /// Options are in a file that not everybody can read.
    #[error("{} sets CCM_OPTIONS and is closed to other users, who could read the options in the new unit", .0.display())]
    HiddenOptions(PathBuf),
    /// The path of the program can't be written into a unit.
    #[error("the path of ccm, \"{0}\", has characters that systemd does not allow for a program")]
    Program(String),
    /// A unit can't be read, written or removed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The directory of the units can't be used.
    #[error("{} can't be used", path.display())]
    Directory {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Commands can't be run.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// systemctl failed.
    #[error(transparent)]
    Systemctl(#[from] SystemctlError),
    /// What was written before a failure could not be taken back.
    #[error("the units could not be restored: {}", left.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NotRestored {
        /// Units that are not as they were.
        left: Vec<PathBuf>,
        /// The failure.
        source: Box<TimerError>,
    },
}

/// Paths at which ccm finds systemd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemdPaths {
    /// Directory of the units.
    pub units: PathBuf,
    /// Further directories of units and drop-ins, those of the highest precedence first.
    pub others: Vec<PathBuf>,
    /// File with variables of the package's services.
    pub defaults: PathBuf,
    /// Directory that exists while systemd runs.
    pub running: PathBuf,
    /// Directories in which systemctl is searched, separated by `:`. The default is the search path of commands.
    pub search_path: Option<String>,
}

/// Timers in a directory of units.
pub struct Timers<'s> {
    session: &'s Session,
    scope: UnitScope,
    paths: SystemdPaths,
}

impl Session {
    /// Returns the timers of the system, in `/etc/systemd/system`, or those of the user who runs ccm, in
    /// `systemd/user` below `$XDG_CONFIG_HOME` or `~/.config`.
    pub fn timers(&self, scope: UnitScope) -> Result<Timers<'_>, TimerError> {
        let units = match scope {
            UnitScope::System => PathBuf::from(SYSTEM_UNITS),
            UnitScope::User => {
                let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
                let configuration =
                    absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
                configuration.ok_or(TimerError::NoUserDirectory)?.join("systemd/user")
            }
        };
        let others = match scope {
            UnitScope::System => {
                UNIT_DIRECTORIES.iter().map(PathBuf::from).filter(|path| *path != units).collect()
            }
            UnitScope::User => Vec::new(),
        };
        let (defaults, running) = (PathBuf::from(DEFAULTS), PathBuf::from(SYSTEMD_RUNNING));
        Ok(self.timers_at(scope, SystemdPaths { units, others, defaults, running, search_path: None }))
    }

    /// Returns the timers of a systemd at other paths.
    pub fn timers_at(&self, scope: UnitScope, paths: SystemdPaths) -> Timers<'_> {
        Timers { session: self, scope, paths }
    }
}

impl Timers<'_> {
    /// Returns the names of the timers that ccm wrote, sorted.
    pub fn names(&self) -> Vec<TimerName> {
        let files = self.session.doors.doors.files_below(&self.paths.units).unwrap_or_default();
        let own = files.iter().filter(|path| path.parent() == Some(&self.paths.units));
        let mut names: Vec<TimerName> = own.filter_map(|path| name_of(path)).collect();
        names.sort();
        names.dedup();
        // One unit is enough: somebody may have removed the other.
        let is_own = |unit: String| self.unit_file(&unit).is_ok_and(|unit| unit.own().is_some());
        names.retain(|name| unit_names(name).into_iter().any(is_own));
        names
    }

    /// Returns those of the manifest, the program, the credentials and the directories above them that another user than
    /// root can change, if root runs them.
    pub fn exposed(&self, request: &TimerRequest) -> Vec<PathBuf> {
        if self.scope != UnitScope::System {
            return Vec::new();
        }
        let files = &self.session.doors.files;
        let is_exposed = |path: &Path| {
            let found = files.inspect(path, InspectOptions::default()).ok().and_then(|found| found.target);
            found.is_some_and(|found| {
                // In a sticky directory, nobody else can exchange what belongs to root.
                let is_kept = matches!(found.kind, FileKind::Directory { .. }) && found.mode & STICKY != 0;
                found.uid != 0 || found.mode & WRITABLE_BY_OTHERS != 0 && !is_kept
            })
        };
        let mut exposed = Vec::new();
        let credentials = request.credentials.iter().map(ServiceCredential::path);
        // What a source holds may be signed; who may sign it is in a file of this machine.
        let manifest = match &request.source {
            None => Some(PathBuf::from(&request.manifest)),
            Some(release) => release.signers.clone(),
        };
        let used = [&*request.program].into_iter().chain(credentials).map(PathBuf::from);
        for used in manifest.into_iter().chain(used) {
            let used = files.canonical(&used).unwrap_or(used);
            for path in used.ancestors().filter(|path| is_exposed(path)) {
                if !exposed.iter().any(|known| known == path) {
                    exposed.push(path.to_owned());
                }
            }
        }
        exposed
    }

    /// Returns `true` if the manager of the user runs also while the user is not logged in.
    pub fn is_lingering(&self) -> bool {
        let files = &self.session.doors.files;
        let own = self.session.doors.commands(&self.session.secrets, self.session.launcher.as_deref());
        let uid = own.ok().and_then(|commands| commands.own_identity().ok()).map(|own| own.uid);
        let name = uid.and_then(|uid| files.user_name(uid).ok().flatten());
        name.is_some_and(|name| files.exists(&Path::new(LINGERING).join(name)).unwrap_or(false))
    }

    fn systemctl(&self) -> Result<TimerSystemctl<'_>, TimerError> {
        let commands =
            self.session.doors.commands(&self.session.secrets, self.session.launcher.as_deref())?;
        TimerSystemctl::find(commands, &self.session.doors, self.scope, &self.paths)
    }

    /// Returns the path of a unit, without links if its directory exists.
    fn path(&self, unit: &str) -> PathBuf {
        let canonical = self.session.doors.files.canonical(&self.paths.units);
        canonical.as_ref().unwrap_or(&self.paths.units).join(unit)
    }

    /// Reads a unit. A link is foreign: systemd masks units by links.
    fn unit_file(&self, unit: &str) -> Result<UnitFile, TimerError> {
        Ok(match read_unit(&self.path(unit), &*self.session.doors.files)? {
            UnitContent::Missing => UnitFile::Missing,
            UnitContent::Foreign => UnitFile::Foreign,
            UnitContent::File(content) => UnitFile::parse(content),
        })
    }
}
