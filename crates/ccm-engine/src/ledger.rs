//! Ledger of a manifest: refreshes that its changes demand and that are not done yet.
//!
//! A refresh is written and synced before the change that demands it. A run may therefore be killed at any
//! moment, and the next run does the refreshes that are left. A manifest without pending refreshes has no
//! ledger.

mod file;
mod pending;
mod record;

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ccm_host::state::{Directory, StateError};

pub(crate) use file::LedgerFile;
pub use pending::{PendingLedger, RecordedRefresh, damaged, pending};
pub(crate) use record::{
    LedgerResource, Pair, Pending, PendingByPair, completed_line, dropped_line, hash, ledger_text,
    pending_line,
};

use file::DIRECTORY;
use record::{LedgerContent, Unreadable, VERSION};

/// Error of opening a ledger. The caller should not start a run, because the pending refreshes are unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A newer version of ccm has written it.
    #[error(
        "the ledger {path:?} was written by a newer ccm (format version {version}; this ccm reads version {VERSION})"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        version: u64,
    },
    /// A user other than the one who runs ccm may have written the ledger or its directory.
    #[error("{path:?} can't be trusted")]
    Untrusted {
        /// The file or directory.
        path: PathBuf,
        /// `true` if the path is the directory of a ledger, `false` if it is a ledger.
        is_directory: bool,
        /// Cause of the error.
        source: io::Error,
    },
    /// The state directory can't be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The directory of all ledgers can't be used.
    #[error("the ledgers in {path:?} can't be read")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Cause of the error.
        source: io::Error,
    },
}

/// Damage of a ledger. Every refresh of the manifest counts as pending because of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ledger {path:?} is damaged: {reason}")]
pub struct LedgerDamage {
    /// The file.
    pub path: PathBuf,
    /// Description of the damage.
    pub reason: String,
    /// Name under which a run keeps the damaged file.
    pub kept_as: String,
}

/// Run for which a ledger is opened.
#[derive(Clone, Debug)]
pub struct LedgerRun {
    /// Key of its manifest: `ccm.name`, or the path of the file.
    pub key: String,
    /// Path of the manifest, as records name it.
    pub manifest: String,
    /// Name of the run.
    pub run_id: String,
}

/// Ledger of a manifest, opened for a run.
#[derive(Debug)]
pub struct Ledger {
    run: LedgerRun,
    salt: String,
    earlier: PendingByPair,
    damage: Option<LedgerDamage>,
    untrusted: Option<LedgerError>,
    /// `None` for a run that writes nothing.
    file: Option<RefCell<LedgerFile>>,
}

impl Ledger {
    /// Opens a ledger for a run that holds the lock of the state directory. Writes nothing yet.
    pub fn open(state: &Directory, run: LedgerRun) -> Result<Self, LedgerError> {
        let name = file::name(&run.key);
        trust_directory(state, DIRECTORY)?;
        let directory = open_ledgers(state)?;
        if let Some(directory) = &directory {
            trust(directory, &name)?;
        }
        let found = directory.as_ref().map_or(Ok(None), |directory| read(directory, &name, &run))?;
        let LedgerState { salt, earlier, damage } = found.unwrap_or_default();
        let set_aside = damage.as_ref().map(|damage| damage.kept_as.clone());
        let again = state.try_clone();
        let state = again.map_err(|source| LedgerError::Directory { path: state.path().into(), source })?;
        let file = RefCell::new(LedgerFile::new(state, directory, name, set_aside));
        Ok(Self { run, salt: salt_or_new(salt), earlier, damage, untrusted: None, file: Some(file) })
    }

    /// Opens a ledger for a run that writes nothing, even if a run that writes would refuse it.
    pub fn inspect(state: &Path, run: LedgerRun) -> Result<Self, LedgerError> {
        let state = Directory::open(state)?;
        let directory = state.as_ref().map_or(Ok(None), open_ledgers)?;
        let name = file::name(&run.key);
        let untrusted = state.as_ref().and_then(|state| trust_error(state, directory.as_ref(), &name));
        let found = directory.as_ref().map_or(Ok(None), |directory| read(directory, &name, &run))?;
        let LedgerState { salt, earlier, damage } = found.unwrap_or_default();
        Ok(Self { run, salt: salt_or_new(salt), earlier, damage, untrusted, file: None })
    }

    /// Returns the damage, if the ledger is damaged.
    pub fn damage(&self) -> Option<&LedgerDamage> {
        self.damage.as_ref()
    }

    /// Returns the error with which a run that writes would refuse the ledger; `None` for such a run.
    pub fn untrusted(&self) -> Option<&LedgerError> {
        self.untrusted.as_ref()
    }

    pub(crate) fn run(&self) -> &LedgerRun {
        &self.run
    }

    /// Returns the salt of the hashes of names.
    pub(crate) fn salt(&self) -> &str {
        &self.salt
    }

    /// Returns the refreshes that are pending from earlier runs. A damaged ledger has none.
    pub(crate) fn earlier(&self) -> &PendingByPair {
        &self.earlier
    }

    pub(crate) fn file(&self) -> Option<&RefCell<LedgerFile>> {
        self.file.as_ref()
    }
}

/// Reads a ledger and writes it again as a whole. Returns `None` if the bytes are not a ledger.
#[doc(hidden)]
pub fn ledger_read_back(bytes: &[u8]) -> Option<String> {
    record::parse(bytes).ok().map(|LedgerContent { key, salt, pending }| ledger_text(&key, &salt, &pending))
}

/// Checks that no other user can have written a ledger, if it exists.
fn trust(directory: &Directory, name: &str) -> Result<(), LedgerError> {
    only_ours(directory, name, false)
}

/// Checks that no other user can write a directory, if it exists.
fn trust_directory(parent: &Directory, name: &str) -> Result<(), LedgerError> {
    only_ours(parent, name, true)
}

fn only_ours(parent: &Directory, name: &str, is_directory: bool) -> Result<(), LedgerError> {
    match parent.only_ours(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result.map_err(|source| LedgerError::Untrusted {
            path: parent.path().join(name),
            is_directory,
            source,
        }),
    }
}

/// Returns the error with which a run that writes would refuse a ledger: another user may have written it,
/// or its directory.
fn trust_error(state: &Directory, directory: Option<&Directory>, name: &str) -> Option<LedgerError> {
    let itself = state.only_ours(".");
    let itself = itself.map_err(|source| LedgerError::Untrusted {
        path: state.path().into(),
        is_directory: true,
        source,
    });
    let inside = || directory.map_or(Ok(()), |directory| trust(directory, name));
    itself.and_then(|()| trust_directory(state, DIRECTORY)).and_then(|()| inside()).err()
}

/// Opens the directory of all ledgers. Returns `None` if it does not exist.
fn open_ledgers(state: &Directory) -> Result<Option<Directory>, LedgerError> {
    match state.enter(DIRECTORY) {
        Ok(directory) => Ok(Some(directory)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LedgerError::Directory { path: state.path().join(DIRECTORY), source }),
    }
}

/// Returns the salt that was found, or a new one.
fn salt_or_new(found: String) -> String {
    if found.is_empty() { format!("{:032x}", ccm_host::random()) } else { found }
}

/// Content of a ledger, or its damage.
#[derive(Default)]
struct LedgerState {
    salt: String,
    earlier: PendingByPair,
    damage: Option<LedgerDamage>,
}

/// Reads a ledger. Returns `None` if it does not exist.
fn read(directory: &Directory, name: &str, run: &LedgerRun) -> Result<Option<LedgerState>, LedgerError> {
    let path = directory.path().join(name);
    let content = match file::read(directory, name) {
        Ok(None) => return Ok(None),
        Ok(Some(bytes)) => record::parse(&bytes),
        Err(error) => Err(Unreadable::Damaged { reason: error.to_string() }),
    };
    let reason = match content {
        Ok(LedgerContent { key, salt, pending }) if key == run.key => {
            return Ok(Some(LedgerState { salt, earlier: pending, damage: None }));
        }
        Ok(LedgerContent { key, .. }) => format!("it belongs to the manifest `{key}`"),
        Err(Unreadable::Newer { version }) => return Err(LedgerError::Newer { path, version }),
        Err(Unreadable::Damaged { reason }) => reason,
    };
    let kept_as = format!("{name}.damaged-{}", run.run_id);
    let damage = Some(LedgerDamage { path, reason, kept_as });
    Ok(Some(LedgerState { damage, ..LedgerState::default() }))
}
