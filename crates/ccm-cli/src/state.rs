//! The state directory of a run and the lock on it, or words about why there is none.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::signals::Signals;
use ccm_host::state::{Directory, Lock, LockError, LockHolder, StateError, default_state_directory};
use ccm_host::{Cancellation, Files as _, Look, SystemFiles, absolute};

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
            LockError::Held { .. } => "let it end, or wait longer with --lock-wait".to_owned(),
            // The directory around it is of who runs this.
            LockError::Use { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "give it to whom the directory belongs with chown, or remove it".to_owned()
            }
            LockError::Use { path, source } => hint(path, source),
            _ => "look at the state directory".to_owned(),
        };
        messages::from_error(&error, "nothing was run", &[hint]);
        Code::NothingRun
    })
}

/// What to do about something in a state directory that can't be used. Another directory is no advice: what is owed is in
/// this one, and runs keep out of each other's way only here.
pub(crate) fn hint(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => "mount its file system so that it can be written".to_owned(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on its disk".to_owned(),
        io::ErrorKind::PermissionDenied => {
            let files = SystemFiles::new(Cancellation::never());
            let owner = |path: &Path| Some(files.look(path, Look::default()).ok()?.target?.uid);
            path.ancestors().find_map(owner).map_or_else(
                || "run ccm as the user to whom it belongs".to_owned(),
                |uid| {
                    let name = files.user_name(uid).ok().flatten();
                    let name =
                        name.map_or_else(|| format!("uid {uid}"), |name| format!("{name} (uid {uid})"));
                    format!("run ccm as {name}, to whom it belongs")
                },
            )
        }
        _ => "move away what is in its place; ccm makes it anew".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_leads_to_no_other_directory() {
        for (kind, expected) in [
            (io::ErrorKind::ReadOnlyFilesystem, "mount its file system so that it can be written"),
            (io::ErrorKind::StorageFull, "make room on its disk"),
            (io::ErrorKind::PermissionDenied, "run ccm as root (uid 0), to whom it belongs"),
            (io::ErrorKind::IsADirectory, "move away what is in its place; ccm makes it anew"),
            (io::ErrorKind::Other, "move away what is in its place; ccm makes it anew"),
        ] {
            // Nothing is there, and what is around it is root's.
            assert_eq!(hint(Path::new("/proc/nosuch/lock"), &kind.into()), expected, "{kind}");
        }
    }
}
