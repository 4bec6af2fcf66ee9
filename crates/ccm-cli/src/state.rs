//! Errors of runs that can't begin, and of state directories that can't be used.

use std::io;

use ccm_runtime::{
    BeginError, ExitCode, LedgerError, LockError, NameMissing, SelectionOption, Session, StateError,
    StatusError, StopCause, StoreError, UnknownResource, UnknownResources,
};

use crate::audit::problem_hint;
use crate::console::Console;
use crate::policy::report_policy_error;
use crate::reactor::signal_code;

/// Hint for a ledger that a newer ccm has written. Its format has a version of its own.
pub(crate) const NEWER_HINT: &str = "use the ccm that last applied this manifest, or a newer one";

/// Returns the hint for a ledger, or its directory, that others can write.
pub(crate) fn untrusted_hint(is_directory: bool) -> &'static str {
    if is_directory {
        "check the files in this directory; then make yourself its owner and the only one who can write it"
    } else {
        "check the file; then make yourself its owner and the only one who can write it, or remove the file, which \
         drops its pending refreshes"
    }
}

/// Reports why a run can't begin.
pub(crate) fn report_begin_error(console: &Console, session: &Session, error: &BeginError) -> ExitCode {
    let nothing = |hints: &[String]| console.error_of(error, "nothing was run", hints);
    match error {
        BeginError::Cancelled(cause) => return report_wait_end(console, cause),
        BeginError::Selection(unknown) => return report_unknown_selection(console, unknown),
        BeginError::Policy(error) => return report_policy_error(console, error, "nothing was run"),
        BeginError::Audit(problem) => nothing(&[problem_hint(problem)]),
        BeginError::Runner(error) => return report_setup_error(console, error),
        BeginError::State(error) => nothing(&[error.hint()]),
        BeginError::Lock(error) => nothing(&[match error {
            LockError::Held { .. } => {
                "wait until the other run ends, or wait longer with `--lock-wait`".to_owned()
            }
            // The parent directory belongs to the user who runs ccm.
            LockError::Use { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "as root, give the lock file with `chown` to the owner of its directory; remove it only if no run is going on"
                    .to_owned()
            }
            LockError::Use { path, source } => session.state_advice(path, source).to_string(),
            _ => "check owner and permissions of the state directory".to_owned(),
        }]),
        BeginError::NotSigned { manifest, .. } => {
            nothing(&[format!("let an approver sign it: `ccm approve --manifest {manifest} --until 30d`")]);
        }
        BeginError::Name(error) => return report_missing_name(console, error),
        BeginError::Ledger(error) => report_ledger_error(console, session, error),
        _ => nothing(&[]),
    }
    ExitCode::NothingRun
}

/// Reports that a signal ended the wait for another run.
fn report_wait_end(console: &Console, cause: &StopCause) -> ExitCode {
    // The time limit counts from the beginning of a run, so only a signal ends the wait.
    let StopCause::Signal { name, number } = cause else { return ExitCode::NothingRun };
    console.error(&format!("{name} ended the wait for another run; nothing was run"), &[], &[]);
    signal_code(*number)
}

/// Reports that ccm itself could not be set up.
pub(crate) fn report_setup_error(console: &Console, error: &dyn std::error::Error) -> ExitCode {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    console.error("ccm can't start a run", &causes.map(ToString::to_string).collect::<Vec<_>>(), &[]);
    ExitCode::NothingRun
}

/// Reports names of `--only` and `--skip` that are not in the manifest.
pub(crate) fn report_unknown_selection(console: &Console, unknown: &UnknownResources) -> ExitCode {
    for UnknownResource { option, id, nearest } in &unknown.0 {
        let option = match option {
            SelectionOption::Only => "--only",
            SelectionOption::Skip => "--skip",
        };
        let message = format!("{option} names `{id}`, which is not in the manifest; nothing was run");
        let hint = nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?"));
        console.error(&message, &[], &hint.into_iter().collect::<Vec<_>>());
    }
    ExitCode::Usage
}

/// Reports that a manifest needs a name.
pub(crate) fn report_missing_name(console: &Console, error: &NameMissing) -> ExitCode {
    let cause = "ccm records pending refreshes under the name of the manifest".to_owned();
    console.error(&format!("{error}; nothing was run"), &[cause], &["add `name` below `ccm`".to_owned()]);
    ExitCode::NothingRun
}

/// Reports why a ledger can't be used.
pub(crate) fn report_ledger_error(console: &Console, session: &Session, error: &LedgerError) {
    console.error_of(error, "nothing was run", &[ledger_hint(session, error)]);
}

/// Reports why a state directory can't be read.
pub(crate) fn report_state_error(console: &Console, session: &Session, error: &StatusError) -> ExitCode {
    let hints = match error {
        StatusError::State(error) | StatusError::Store(StoreError::State(error)) => {
            vec![state_hint(session, error)]
        }
        StatusError::Ledger(error) => vec![ledger_hint(session, error)],
        StatusError::Store(StoreError::Read { path, source }) => {
            vec![session.state_advice(path, source).to_string()]
        }
        _ => Vec::new(),
    };
    console.error_of(error, "", &hints);
    ExitCode::NothingRun
}

/// Returns advice about a state directory that can't be read.
pub(crate) fn state_hint(session: &Session, error: &StateError) -> String {
    match error {
        StateError::Open { path, source } => session.state_advice(path, source).to_string(),
        error => error.hint(),
    }
}

/// Returns advice about a ledger that can't be used.
fn ledger_hint(session: &Session, error: &LedgerError) -> String {
    match error {
        LedgerError::State(error) => state_hint(session, error),
        LedgerError::Newer { .. } => NEWER_HINT.to_owned(),
        LedgerError::Directory { path, source } => session.state_advice(path, source).to_string(),
        LedgerError::Untrusted { is_directory, .. } => untrusted_hint(*is_directory).to_owned(),
        _ => "check owner and permissions of the state directory".to_owned(),
    }
}
