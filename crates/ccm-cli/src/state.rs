//! The state directory of a run and the lock on it, or words about why there is none.

use std::time::Duration;

use ccm_host::signals::Signals;
use ccm_host::state::{Directory, Lock, LockError, LockHolder, default_state_directory};

use crate::arguments::StateArguments;
use crate::exit::Code;
use crate::messages;

/// Opens the state directory, and makes it if need be.
pub(crate) fn directory(arguments: &StateArguments) -> Result<Directory, Code> {
    let named = arguments.state_dir.clone().map_or_else(default_state_directory, Ok);
    named.and_then(|path| Directory::open_private(&path)).map_err(|error| {
        messages::from_error(&error, "nothing was run", &[error.hint()]);
        Code::NothingRun
    })
}

/// Takes the lock. A signal ends the wait for it.
pub(crate) async fn lock(
    directory: &Directory,
    holder: &LockHolder,
    wait: Duration,
    signals: &mut Signals,
) -> Result<Lock, Code> {
    let mut on_wait = |other: &str| messages::note(&format!("waiting for another run to end ({other})"));
    let result = tokio::select! {
        biased;
        result = Lock::take(directory, holder, wait, &mut on_wait) => result,
        signal = signals.next() => {
            messages::error(&format!("{} ended the wait for another run; nothing was run", signal.name), &[], &[]);
            return Err(Code::Signal(u8::try_from(signal.number).unwrap_or_default()));
        }
    };
    result.map_err(|error| {
        let hint = match &error {
            LockError::Held { .. } => "let it end, or wait longer with --lock-wait",
            _ => "name another state directory with --state-dir",
        };
        messages::from_error(&error, "nothing was run", &[hint.to_owned()]);
        Code::NothingRun
    })
}
