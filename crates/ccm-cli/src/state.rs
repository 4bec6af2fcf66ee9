//! The state directory of a run and the lock on it, or words about why there is none.

use std::path::PathBuf;
use std::time::Duration;

use ccm_host::absolute;
use ccm_host::signals::Signals;
use ccm_host::state::{Directory, Lock, LockError, LockHolder, StateError, default_state_directory};

use crate::arguments::StateArguments;
use crate::exit::Code;
use crate::messages;

/// Finds where the state directory is, or is to be, seen from the root.
pub(crate) fn path(arguments: &StateArguments) -> Result<PathBuf, StateError> {
    let Some(named) = &arguments.state_dir else { return default_state_directory() };
    absolute(named).map_err(|source| StateError::Open { path: named.clone(), source })
}

/// Opens the state directory, and makes it if need be.
pub(crate) fn directory(arguments: &StateArguments) -> Result<Directory, Code> {
    path(arguments).and_then(|path| Directory::open_private(&path)).map_err(|error| {
        messages::from_error(&error, "nothing was run", &[error.hint()]);
        Code::NothingRun
    })
}

/// Takes the lock of a state directory, if a run needs one. A signal ends the wait for it.
pub(crate) async fn lock(
    directory: Option<&Directory>,
    holder: &LockHolder,
    wait: Duration,
    signals: &Signals,
) -> Result<Option<Lock>, Code> {
    let Some(directory) = directory else { return Ok(None) };
    let mut on_wait = |other: &str| messages::note(&format!("waiting for another run to end ({other})"));
    let result = tokio::select! {
        biased;
        result = Lock::take(directory, holder, wait, &mut on_wait) => result,
        signal = signals.next() => {
            let signal = signal.map_err(|error| crate::apply::cannot_start(&error))?;
            messages::error(&format!("{} ended the wait for another run; nothing was run", signal.name), &[], &[]);
            return Err(Code::Signal(u8::try_from(signal.number).unwrap_or_default()));
        }
    };
    result.map(Some).map_err(|error| {
        let hint = match &error {
            LockError::Held { .. } => "let it end, or wait longer with --lock-wait",
            _ => "name another state directory with --state-dir",
        };
        messages::from_error(&error, "nothing was run", &[hint.to_owned()]);
        Code::NothingRun
    })
}
