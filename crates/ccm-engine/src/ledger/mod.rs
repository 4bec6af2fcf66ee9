//! The ledger of a manifest: the refreshes that its changes have asked for and that were not done yet.
//!
//! What a change will owe is on the disk before the change happens, so a run may die at any moment: what is
//! left in the ledger is owed to the next one. A manifest that owes nothing has no ledger.

mod file;
mod pending;
mod record;

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ccm_host::state::Directory;

pub(crate) use file::LedgerFile;
pub use pending::{PendingLedger, PendingRefresh, damaged, pending};
pub(crate) use record::{Debt, Debts, Named, Pair, dropped, hash, owed, paid, whole};

use file::DIRECTORY;
use record::{Content, Unreadable};

/// Says why what is owed can't be known, so that nothing should be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A later version of ccm has written it.
    #[error("the ledger {path:?} was written by a newer ccm (its version is {version})")]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        version: u64,
    },
    /// Others than who runs ccm may have written it, or the directory it is in.
    #[error("{path:?} can't be trusted to say what is owed")]
    Untrusted {
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The directory of all ledgers can't be used.
    #[error("the ledgers in {path:?} can't be read")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Says what is wrong with a ledger that is not believed, so that everything counts as owed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ledger {path:?} is damaged: {reason}")]
pub struct LedgerDamage {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
    /// Under which name a run keeps it.
    pub kept_as: String,
}

/// The run for which a ledger is opened.
#[derive(Clone, Debug)]
pub struct LedgerRun {
    /// The key of its manifest: `ccm.name`, or the path of the file.
    pub key: String,
    /// What records call the manifest: the path of the file.
    pub manifest: String,
    /// The name of the run.
    pub run_id: String,
}

/// The ledger of a manifest, opened for a run.
#[derive(Debug)]
pub struct Ledger {
    run: LedgerRun,
    salt: String,
    earlier: Debts,
    damage: Option<LedgerDamage>,
    untrusted: Option<LedgerError>,
    /// None for a run that writes nothing.
    file: Option<RefCell<LedgerFile>>,
}

impl Ledger {
    /// Opens it for a run that holds the lock of the state directory. Writes nothing yet.
    pub fn open(state: &Directory, run: LedgerRun) -> Result<Self, LedgerError> {
        let name = file::name(&run.key);
        trust(state, DIRECTORY)?;
        let directory = enter(state)?;
        if let Some(directory) = &directory {
            trust(directory, &name)?;
        }
        let found = directory.as_ref().map_or(Ok(None), |directory| read(directory, &name, &run))?;
        let Found { salt, earlier, damage } = found.unwrap_or_default();
        let set_aside = damage.as_ref().map(|damage| damage.kept_as.clone());
        let again = state.try_clone();
        let state = again.map_err(|source| LedgerError::Directory { path: state.path().into(), source })?;
        let file = RefCell::new(LedgerFile::new(state, directory, name, set_aside));
        Ok(Self { run, salt: salted(salt), earlier, damage, untrusted: None, file: Some(file) })
    }

    /// Looks at it for a run that writes nothing, also where one that writes would be refused.
    pub fn look(state: &Path, run: LedgerRun) -> Result<Self, LedgerError> {
        let failed = |source| LedgerError::Directory { path: state.join(DIRECTORY), source };
        let state = Directory::open(state).map_err(failed)?;
        let directory = state.as_ref().map_or(Ok(None), enter)?;
        let name = file::name(&run.key);
        let untrusted = state.as_ref().and_then(|state| untrusted(state, directory.as_ref(), &name));
        let found = directory.as_ref().map_or(Ok(None), |directory| read(directory, &name, &run))?;
        let Found { salt, earlier, damage } = found.unwrap_or_default();
        Ok(Self { run, salt: salted(salt), earlier, damage, untrusted, file: None })
    }

    /// What is wrong with it, if nobody can tell what it says.
    pub fn damage(&self) -> Option<&LedgerDamage> {
        self.damage.as_ref()
    }

    /// Why a run that writes would refuse it, if this one only looks.
    pub fn untrusted(&self) -> Option<&LedgerError> {
        self.untrusted.as_ref()
    }

    pub(crate) fn run(&self) -> &LedgerRun {
        &self.run
    }

    /// What is hashed with names that can't be shown.
    pub(crate) fn salt(&self) -> &str {
        &self.salt
    }

    /// What is owed from earlier runs; nothing can be told of a damaged one.
    pub(crate) fn earlier(&self) -> &Debts {
        &self.earlier
    }

    pub(crate) fn file(&self) -> Option<&RefCell<LedgerFile>> {
        self.file.as_ref()
    }
}

/// Reads a ledger and writes it down again as a whole; none if these bytes say nothing.
#[cfg(feature = "testing")]
pub fn ledger_read_back(bytes: &[u8]) -> Option<String> {
    record::parse(bytes).ok().map(|Content { key, salt, debts }| whole(&key, &salt, &debts))
}

/// Makes sure that nobody else can have written something, if it is there.
fn trust(directory: &Directory, name: &str) -> Result<(), LedgerError> {
    match directory.only_ours(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => {
            result.map_err(|source| LedgerError::Untrusted { path: directory.path().join(name), source })
        }
    }
}

/// Why nobody would act on a ledger that is only looked at: somebody else can have written it, or what it is in.
fn untrusted(state: &Directory, directory: Option<&Directory>, name: &str) -> Option<LedgerError> {
    let itself = state.only_ours(".");
    let itself = itself.map_err(|source| LedgerError::Untrusted { path: state.path().into(), source });
    let inside = || directory.map_or(Ok(()), |directory| trust(directory, name));
    itself.and_then(|()| trust(state, DIRECTORY)).and_then(|()| inside()).err()
}

/// Opens the directory of all ledgers; none if it is not there.
fn enter(state: &Directory) -> Result<Option<Directory>, LedgerError> {
    match state.enter(DIRECTORY) {
        Ok(directory) => Ok(Some(directory)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LedgerError::Directory { path: state.path().join(DIRECTORY), source }),
    }
}

/// A salt that was found, or a new one.
fn salted(found: String) -> String {
    if found.is_empty() { format!("{:032x}", ccm_host::random()) } else { found }
}

/// What a ledger says, or what is wrong with it.
#[derive(Default)]
struct Found {
    salt: String,
    earlier: Debts,
    damage: Option<LedgerDamage>,
}

/// Reads a ledger; none if it is not there.
fn read(directory: &Directory, name: &str, run: &LedgerRun) -> Result<Option<Found>, LedgerError> {
    let path = directory.path().join(name);
    let content = match file::read(directory, name) {
        Ok(None) => return Ok(None),
        Ok(Some(bytes)) => record::parse(&bytes),
        Err(error) => Err(Unreadable::Damaged { reason: error.to_string() }),
    };
    let reason = match content {
        Ok(Content { key, salt, debts }) if key == run.key => {
            return Ok(Some(Found { salt, earlier: debts, damage: None }));
        }
        Ok(Content { key, .. }) => format!("it is of the manifest `{key}`"),
        Err(Unreadable::Newer { version }) => return Err(LedgerError::Newer { path, version }),
        Err(Unreadable::Damaged { reason }) => reason,
    };
    let kept_as = format!("{name}.damaged-{}", run.run_id);
    let damage = Some(LedgerDamage { path, reason, kept_as });
    Ok(Some(Found { damage, ..Found::default() }))
}
