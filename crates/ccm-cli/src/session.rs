//! The session behind a command, and its notices on standard error.

use std::path::PathBuf;

use ccm_engine::LedgerError;
use ccm_runtime::{Config, Data, Facts, Notice, Session, Values};

use crate::arguments::{DataArguments, FactArguments, StateArguments, ValueArguments};
use crate::messages;
use crate::secrets::secrets;
use crate::state;

/// Opens a session for a command that keeps no state.
pub(crate) fn open() -> Session {
    with_state(None)
}

/// Opens a session in the state directory of the command line.
pub(crate) fn open_with(arguments: &StateArguments) -> Session {
    with_state(arguments.state_dir.clone())
}

fn with_state(state_directory: Option<PathBuf>) -> Session {
    let config = Config {
        secrets: secrets().clone(),
        state_directory,
        // Every process has its own program under this path, also after an update has replaced the file.
        launcher: Some("/proc/self/exe".into()),
        ..Config::default()
    };
    Session::open(config).on_notice(show)
}

fn show(notice: &Notice<'_>) {
    match notice {
        Notice::Facts(warning) => messages::warning_of(warning),
        Notice::Waiting(other) => messages::note(&format!("waiting for another run to end ({other})")),
        Notice::UntrustedLedger(error) => {
            messages::warning_of(error);
            messages::note(&format!("a run refuses it; {}", ledger_hint(error)));
        }
        Notice::DamagedLedger { damage, is_kept } => {
            messages::warning_of(damage);
            messages::note(&if *is_kept {
                format!(
                    "every refresh of this manifest counts as owed; the file is kept as {}",
                    damage.kept_as
                )
            } else {
                "every refresh of this manifest counts as owed; a run keeps the file under another name"
                    .to_owned()
            });
        }
        _ => {}
    }
}

/// Advises what to do about a ledger that can't be used.
pub(crate) fn ledger_hint(error: &LedgerError) -> String {
    match error {
        LedgerError::Newer { .. } => "run that ccm, or one that is newer still".to_owned(),
        LedgerError::Directory { path, source } => state::hint(path, source),
        LedgerError::Untrusted { .. } => {
            "look at what is in it; then make it yours alone (`chown`, `chmod go-w`), or remove it".to_owned()
        }
        _ => "look at the state directory".to_owned(),
    }
}

/// Facts that the command line gives.
pub(crate) fn facts(arguments: &FactArguments) -> Facts {
    Facts { files: arguments.facts.clone(), assignments: arguments.fact.clone() }
}

/// Values that the command line gives.
pub(crate) fn data(arguments: &DataArguments) -> Data {
    Data { files: arguments.hiera.clone(), assignments: arguments.data.clone() }
}

/// Everything that the command line gives to expressions.
pub(crate) fn values(arguments: &ValueArguments) -> Values {
    Values {
        facts: facts(&arguments.facts),
        data: data(&arguments.data),
        no_dotenv: arguments.environment.no_env,
    }
}
