//! Sources: manifests that come from elsewhere, and what this machine has accepted of them.

use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_approval::{Approvers, ApproversError};
use ccm_governance::approval::SignatureFailure;
use ccm_host::state::StateError;
use ccm_host::{Cancellation, LocalExecutor, PrivateDirectory, RunnerError};
use ccm_model::{Severity, SourceVersion, VersionId, error_layers, escape_control};
use ccm_release::{AcceptanceRules, ChannelName, Envelope, ProgramVersion, SignatureThreshold};
use ccm_source::{
    BranchFollowing, FollowError, Following, FollowingRules, ProxySettings, ReleaseFollowing, SourceAddress,
    SourceCache, SourceDoors, is_git_commit,
};

use crate::input::{GivenValues, ManifestSource};
use crate::run::RunMode;
use crate::session::{Session, absolute_path};

pub use ccm_source::{
    AddressError, CacheError, Followed, KeptKind, KeptReason, ReceiveError, RewindError, RewoundVersion,
    SourceRecord,
};

/// Namespace of the signatures of commits.
const COMMIT_NAMESPACE: &str = "git";
/// What the record has in place of a file of signers.
const NO_SIGNERS: &str = "none";
/// Variables that name proxies, in lower case.
const PROXIES: [&str; 3] = ["https_proxy", "all_proxy", "no_proxy"];
/// Day on which this version of ccm was made, in seconds since 1970. A clock before it is wrong.
const PROGRAM_DATE: u64 = 1_795_910_400;

/// Source of manifests, and who may sign its releases.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Address, such as `https://example.com/base.release`, the path of a release, or
    /// `git+https://example.com/site.git#main`.
    pub address: String,
    /// People who may sign.
    pub signers: SourceSigners,
    /// Number of people who have to sign.
    pub threshold: SignatureThreshold,
    /// Channel that releases have to have; `None` takes that of the first one.
    pub channel: Option<ChannelName>,
    /// First commit of the history of a branch; `None` takes that of the first version.
    pub root: Option<String>,
    /// Takes a branch that was rewritten.
    pub allows_rewind: bool,
    /// Manifest in the source.
    pub manifest: PathBuf,
    /// Begins anew if nothing tells any more what was accepted.
    pub bootstrap: bool,
    /// File with certificates to trust in place of those of the system.
    pub ca_file: Option<PathBuf>,
    /// Time that fetching may take.
    pub wait: Duration,
}

/// People who may sign what a source offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSigners {
    /// File of allowed signers.
    File(PathBuf),
    /// Nobody has to: TLS, SSH or the file system is trusted alone.
    Nobody,
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
    /// The manifest is not in the source.
    #[error("{0:?} is no path in a source")]
    Manifest(PathBuf),
    /// What was asked for does not fit the kind of the source.
    #[error("{0}")]
    Kind(&'static str),
    /// The root is no commit.
    #[error("{0:?} is not the full hash of a commit")]
    Root(String),
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
    /// A source can't be rewound.
    #[error(transparent)]
    Rewind(#[from] RewindError),
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
        check_kind(&address, options)?;
        let (signers, people) = match &options.signers {
            SourceSigners::Nobody => (NO_SIGNERS.to_owned(), None),
            SourceSigners::File(path) => {
                let path = absolute_path(path);
                let people = self.governance.signers(&path);
                let failed = |source| SourceError::Signers { path: path.clone(), source };
                (path.display().to_string(), Some(people.map_err(failed)?))
            }
        };
        let verify_envelope = |envelope: &Envelope| {
            let verified = people.as_ref().map(|people| {
                let verified = self.verify_envelope(envelope, people, options.threshold)?;
                Ok(verified.into_iter().map(|signature| signature.principal).collect())
            });
            verified.unwrap_or_else(|| Ok(Vec::new()))
        };
        let verify_commit = |text: &[u8], signature: &str| match &people {
            Some(people) => self.verify_commit(text, signature, people),
            None => Ok(String::new()),
        };
        let check = |version: &Path| self.check_version(version, &options.manifest, values, max_size);
        let node = self.doors.machine.kernel().hostname;
        let environment = self.doors.doors.environment();
        let proxies = ProxySettings::of_environment(&environment);
        self.secrets.add(proxies.passwords());
        let now = self.doors.clock.now();
        let commands;
        let executor;
        let (variables, rules) = (proxy_variables(&environment), release_rules(options, now));
        let rules = if address.is_branch() {
            commands = self.commands()?;
            executor = LocalExecutor::new(commands, commands, &*self.doors.files);
            FollowingRules::Branch(BranchFollowing {
                verify: people.is_some().then_some(&verify_commit),
                root: options.root.as_deref(),
                allows_rewind: options.allows_rewind,
                executor: &executor,
                environment: &variables,
            })
        } else {
            FollowingRules::Releases(ReleaseFollowing { verify: &verify_envelope, node: &node, rules })
        };
        let following = Following {
            address: &address,
            signers: &signers,
            threshold: options.threshold.0,
            rules,
            check: &check,
            now,
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
            RunMode::Plan | RunMode::Monitor => {
                let private = self.commands()?.private_directory(None).map_err(SourceError::Private)?;
                (following.preview(&state, private.path()).await?, Some(private))
            }
        };
        Ok(FollowedManifest {
            source: accepted_source(&followed, &options.manifest),
            followed,
            _private: private,
        })
    }

    /// Verifies the signature of a commit, and returns who signed.
    fn verify_commit(
        &self,
        text: &[u8],
        signature: &str,
        people: &Approvers,
    ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let verified = self.governance.verify(people, COMMIT_NAMESPACE, text, signature);
        let verified = verified.map_err(|failure| match failure {
            // A layer that only passes its cause on says nothing.
            SignatureFailure::Refused(refusal) => Box::from(refusal),
            other => Box::<dyn std::error::Error + Send + Sync>::from(other),
        })?;
        Ok(verified.principal)
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

    /// Goes back to the version before that is kept of a source, until a newer one comes. Returns `None` if nothing is known
    /// of the source.
    pub fn rewind_source(&self, name: &str, reason: &str) -> Result<Option<SourceRecord>, SourceError> {
        let now = self.doors.clock.now();
        self.known_source(name, |cache| cache.rewind(reason, now))
    }

    /// Applies the version again that was accepted of a source. Returns `None` if nothing is known of the source.
    pub fn forward_source(&self, name: &str) -> Result<Option<SourceRecord>, SourceError> {
        self.known_source(name, SourceCache::forward)
    }

    fn known_source<T>(
        &self,
        name: &str,
        change: impl FnOnce(&SourceCache) -> Result<T, RewindError>,
    ) -> Result<Option<T>, SourceError> {
        let state = self.state_path()?;
        if !SourceCache::names(&state)?.iter().any(|known| known == name) {
            return Ok(None);
        }
        Ok(Some(change(&SourceCache::open(&state, name)?)?))
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
            directory: version.to_owned(),
            name: manifest.display().to_string(),
            version: SourceVersion {
                name: String::new(),
                version: VersionId::Number(0),
                digest: String::new(),
            },
            is_signed: true,
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

fn release_rules(options: &SourceOptions, now: SystemTime) -> AcceptanceRules<'_> {
    AcceptanceRules {
        channel: options.channel.as_ref(),
        now,
        program: program_version(),
        built: program_date(),
    }
}

/// Returns the manifest of a version that is followed.
fn accepted_source(followed: &Followed, manifest: &Path) -> ManifestSource {
    ManifestSource::Accepted {
        path: followed.path.join(manifest),
        directory: followed.path.clone(),
        name: format!("{}:{}", followed.name, manifest.display()),
        version: SourceVersion {
            name: followed.name.clone(),
            version: followed.version.version.clone(),
            digest: followed.version.digest.clone(),
        },
        is_signed: !followed.version.signed_by.is_empty(),
    }
}

/// Checks that what was asked for fits the kind of the source.
fn check_kind(address: &SourceAddress, options: &SourceOptions) -> Result<(), SourceError> {
    let has_commits = options.root.is_some() || options.allows_rewind;
    let wrong = if address.is_branch() {
        [
            (options.channel.is_some(), "a branch has no channel"),
            (options.threshold.0 > 1, "a commit has one signature"),
        ]
    } else if address.is_push() {
        [
            (options.channel.is_some() || has_commits, "what is pushed has no channel and no commits"),
            (
                options.signers != SourceSigners::Nobody,
                "what is pushed has no signers; write `--signers none`",
            ),
        ]
    } else {
        [
            (has_commits, "a release has no commits"),
            (options.signers == SourceSigners::Nobody, "a release has to be signed"),
        ]
    };
    if let Some((_, message)) = wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
        return Err(SourceError::Kind(message));
    }
    match options.root.as_deref().filter(|root| !is_git_commit(root)) {
        Some(root) => Err(SourceError::Root(root.to_owned())),
        None => Ok(()),
    }
}

/// Returns the variables that name proxies, which commands of ccm don't have otherwise.
fn proxy_variables(environment: &[(String, String)]) -> Vec<(String, String)> {
    let is_proxy = |(name, _): &&(String, String)| PROXIES.contains(&name.to_ascii_lowercase().as_str());
    environment.iter().filter(is_proxy).cloned().collect()
}

fn program_version() -> ProgramVersion {
    // The version of every crate of ccm has three numbers.
    ProgramVersion::parse(env!("CARGO_PKG_VERSION")).unwrap_or_else(ProgramVersion::none)
}

fn program_date() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(PROGRAM_DATE)
}
