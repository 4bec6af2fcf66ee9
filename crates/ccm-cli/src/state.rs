//! Words about a state directory that can't be used.

use std::io;
use std::path::Path;

use ccm_engine::LedgerError;
use ccm_host::state::LockError;
use ccm_host::{Cancellation, Files as _, Look, SystemFiles};
use ccm_report::StoreError;
use ccm_runtime::{BeginError, ExitCode, NameMissing, StatusError, UnknownResource, UnknownResources};

use crate::messages;
use crate::session::ledger_hint;

/// Says why a run can't begin.
pub(crate) fn not_begun(error: &BeginError) -> ExitCode {
    match error {
        BeginError::Selection(unknown) => return not_selected(unknown),
        BeginError::Runner(error) => return crate::apply::cannot_start(error),
        BeginError::State(error) => messages::from_error(error, "nothing was run", &[error.hint()]),
        BeginError::Lock(error) => {
            let hint = match error {
                LockError::Held { .. } => "let it end, or wait longer with --lock-wait".to_owned(),
                // The directory around it is of who runs this.
                LockError::Use { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                    "give it to whom the directory belongs with chown, or remove it".to_owned()
                }
                LockError::Use { path, source } => hint(path, source),
                _ => "look at the state directory".to_owned(),
            };
            messages::from_error(error, "nothing was run", &[hint]);
        }
        BeginError::Name(error) => return name_missing(*error),
        BeginError::Ledger(error) => ledger_refused(error),
        _ => messages::from_error(error, "nothing was run", &[]),
    }
    ExitCode::NothingRun
}

/// Shows names of `--only` that are not in the manifest.
fn not_selected(unknown: &UnknownResources) -> ExitCode {
    for UnknownResource { id, nearest } in &unknown.0 {
        let message = format!("--only names `{id}`, which is not in the manifest; nothing was run");
        let hint = nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?"));
        messages::error(&message, &[], &hint.into_iter().collect::<Vec<_>>());
    }
    ExitCode::Usage
}

/// Says that a manifest needs a name.
pub(crate) fn name_missing(error: NameMissing) -> ExitCode {
    let cause = "what it owes to subscribers is remembered for the next run under its name".to_owned();
    messages::error(&format!("{error}; nothing was run"), &[cause], &["add `name` below `ccm`".to_owned()]);
    ExitCode::NothingRun
}

/// Says why a ledger can't be used.
pub(crate) fn ledger_refused(error: &LedgerError) {
    messages::from_error(error, "nothing was run", &[ledger_hint(error)]);
}

/// Says why a state directory can't be read.
pub(crate) fn not_read(error: &StatusError) -> ExitCode {
    let hints = match error {
        StatusError::State(error) => vec![error.hint()],
        StatusError::Ledger(error) => vec![ledger_hint(error)],
        StatusError::Store(StoreError::Read { path, source }) => vec![hint(path, source)],
        _ => Vec::new(),
    };
    messages::from_error(error, "", &hints);
    ExitCode::NothingRun
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
