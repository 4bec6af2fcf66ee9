//! Sources: manifests that come from elsewhere, and what this machine has accepted of them.

use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_approval::ApproversError;
use ccm_host::state::StateError;
use ccm_host::{Cancellation, PrivateDirectory, RunnerError};
use ccm_model::{Severity, SourceVersion, error_layers, escape_control};
use ccm_release::{AcceptanceRules, ChannelName, Envelope, ProgramVersion, SignatureThreshold};
use ccm_source::{FollowError, Following, ProxySettings, SourceAddress, SourceCache, SourceDoors};

use crate::input::{GivenValues, ManifestSource};
use crate::run::RunMode;
use crate::session::{Session, absolute_path};

pub use ccm_source::{AddressError, CacheError, Followed, KeptKind, KeptReason, SourceRecord};

/// Day on which this version of ccm was made, in seconds since 1970. A clock before it is wrong.
const PROGRAM_DATE: u64 = 1_795_910_400;

/// Source of manifests, and who may sign its releases.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Address, such as `https://example.com/base.release` or the path of a release.
    pub address: String,
    /// File of allowed signers.
    pub signers: PathBuf,
    /// Number of people who have to sign.
    pub threshold: SignatureThreshold,
    /// Channel that releases have to have; `None` takes that of the first one.
    pub channel: Option<ChannelName>,
    /// Manifest in the release.
    pub manifest: PathBuf,
    /// Begins anew if nothing tells any more what was accepted.
    pub bootstrap: bool,
    /// File with certificates to trust in place of those of the system.
    pub ca_file: Option<PathBuf>,
    /// Time that fetching may take.
    pub wait: Duration,
}

/// Manifest of a source, ready to be read.
#[derive(Debug)]
pub struct FollowedManifest {
    /// The manifest.
    pub source: ManifestSource,
    /// Version of the source.
    pub followed: Followed,
    /// Directory of a version that is only looked at.
    _private: Option<PrivateDirectory>,
}

/// Reason for which no manifest of a source can be applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The address is none.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The manifest is not in the release.
    #[error("{0:?} is no path in a release")]
    Manifest(PathBuf),
    /// The signers can't be read.
    #[error("the signers {path:?} can't be used")]
    Signers {
        /// Path of the file.
        path: PathBuf,
        /// The error.
        source: ApproversError,
    },
    /// The state directory can't be found.
    #[error(transparent)]
    State(#[from] StateError),
    /// The cache of the source can't be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A version can't be looked at.
    #[error("a new version can't be unpacked to look at it")]
    Private(#[source] std::io::Error),
    /// Nothing was ever accepted, and what is offered is not.
    #[error("nothing of the source {address} was accepted yet: {reason}")]
    Nothing {
        /// Address of the source.
        address: String,
        /// Reason, as a clause.
        reason: String,
    },
    /// No command can be run.
    #[error(transparent)]
    Runner(#[from] RunnerError),
}

impl From<FollowError> for SourceError {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Cache(error) => Self::Cache(error),
            FollowError::Nothing { address, reason } => Self::Nothing { address, reason },
            // There is no other one.
            other => Self::Nothing { address: String::new(), reason: other.to_string() },
        }
    }
}

/// Source that this machine follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedSource {
    /// Name, under which everything about it is kept.
    pub name: String,
    /// What was accepted.
    pub record: SourceRecord,
}

impl Session {
    /// Fetches what a source offers, accepts it if it comes next, and returns the manifest to apply. A plan accepts
    /// nothing, and looks at what a run would accept.
    ///
    /// Whatever is wrong with what is offered: what was accepted before is applied, and [`Followed::kept`] says why.
    pub async fn follow(
        &self,
        options: &SourceOptions,
        values: &GivenValues,
        (mode, max_size): (RunMode, u64),
        cancellation: &Cancellation,
    ) -> Result<FollowedManifest, SourceError> {
        let is_inside = options.manifest.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || options.manifest.as_os_str().is_empty() {
            return Err(SourceError::Manifest(options.manifest.clone()));
        }
        let address = SourceAddress::parse(&options.address, &absolute_path(Path::new(".")))?;
        let signers = absolute_path(&options.signers);
        let people = self
            .governance
            .signers(&signers)
            .map_err(|source| SourceError::Signers { path: signers.clone(), source })?;
        let verify = |envelope: &Envelope| {
            let verified = self.verify_envelope(envelope, &people, options.threshold)?;
            Ok(verified.into_iter().map(|signature| signature.principal).collect())
        };
        let check = |version: &Path| self.check_version(version, &options.manifest, values, max_size);
        let node = self.doors.machine.kernel().hostname;
        let proxies = ProxySettings::of_environment(&self.doors.doors.environment());
        self.secrets.add(proxies.passwords());
        let signers_text = signers.display().to_string();
        let following = Following {
            address: &address,
            signers: &signers_text,
            threshold: options.threshold.0,
            verify: &verify,
            check: &check,
            node: &node,
            rules: AcceptanceRules {
                channel: options.channel.as_ref(),
                now: self.doors.clock.now(),
                program: program_version(),
                built: program_date(),
            },
            bootstrap: options.bootstrap,
            doors: SourceDoors {
                files: &*self.doors.files,
                cancellation,
                proxies: &proxies,
                ca_file: options.ca_file.as_deref(),
                wait: options.wait,
            },
        };
        let state = self.state_path()?;
        let (followed, private) = match mode {
            RunMode::Apply => (following.follow(&state).await?, None),
            RunMode::Plan => {
                let commands = self.doors.commands(&self.secrets, self.launcher.as_deref())?;
                let private = commands.private_directory(None).map_err(SourceError::Private)?;
                (following.preview(&state, private.path()).await?, Some(private))
            }
        };
        let source = ManifestSource::Accepted {
            path: followed.path.join(&options.manifest),
            name: format!("{}:{}", followed.name, options.manifest.display()),
            version: SourceVersion {
                name: followed.name.clone(),
                version: followed.version.version,
                digest: followed.version.digest.clone(),
            },
        };
        Ok(FollowedManifest { source, followed, _private: private })
    }

    /// Records that a version was applied without a failure. It is kept for the time after a later one fails.
    pub fn mark_applied(&self, followed: &Followed) -> Result<(), SourceError> {
        let cache = SourceCache::open(&self.state_path()?, &followed.name)?;
        let digest = Some(followed.version.digest.clone());
        if let Some(record) = cache.record(true)?.filter(|record| record.applied != digest) {
            cache.write(&SourceRecord { applied: digest, ..record })?;
        }
        Ok(())
    }

    /// Returns the sources that this machine follows. One whose record can't be read is an error.
    pub fn sources(&self) -> Result<Vec<FollowedSource>, SourceError> {
        let state = self.state_path()?;
        let mut sources = Vec::new();
        for name in SourceCache::names(&state)? {
            if let Some(record) = SourceCache::peek(&state, &name)? {
                sources.push(FollowedSource { name, record });
            }
        }
        Ok(sources)
    }

    /// Forgets a source with all its versions. The next version of it is a first one. Returns `false` if nothing is known
    /// of it.
    pub fn forget_source(&self, name: &str) -> Result<bool, SourceError> {
        let state = self.state_path()?;
        if !SourceCache::names(&state)?.iter().any(|known| known == name) {
            return Ok(false);
        }
        Ok(SourceCache::open(&state, name)?.forget()?)
    }

    /// Checks the manifest of a version that was unpacked. The error is a clause.
    fn check_version(
        &self,
        version: &Path,
        manifest: &Path,
        values: &GivenValues,
        max_size: u64,
    ) -> Result<(), String> {
        let source = ManifestSource::Accepted {
            path: version.join(manifest),
            name: manifest.display().to_string(),
            version: SourceVersion { name: String::new(), version: 0, digest: String::new() },
        };
        let input = self.read(source, values, max_size);
        let input = input.map_err(|error| error_layers(&error).join(": "))?;
        let Err(errors) = self.load(&input) else { return Ok(()) };
        // The first one says what to look for.
        let first = errors.diagnostics.iter().find(|found| found.severity == Severity::Error);
        let first = first.map_or_else(String::new, |found| {
            let location = found.span().and_then(|span| errors.texts.location(span));
            let location = location.map(|location| format!("{location}: ")).unwrap_or_default();
            format!(": {}", escape_control(&format!("{location}{}", found.message)))
        });
        Err(format!("its manifest has {}{first}", errors.count()))
    }
}

fn program_version() -> ProgramVersion {
    // The version of every crate of ccm has three numbers.
    ProgramVersion::parse(env!("CARGO_PKG_VERSION")).unwrap_or_else(ProgramVersion::none)
}

fn program_date() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(PROGRAM_DATE)
}
