//! Errors of runs that can't begin, and of state directories that can't be used.

use std::io;

use ccm_runtime::model::{ResourceId, quote_words};
use ccm_runtime::status::StatusError;
use ccm_runtime::{
    BeginError, LedgerError, LockError, NameMissing, SelectionOption, Session, StateError, StoreError,
    UnknownResource, UnknownResources,
};

use crate::audit::problem_hint;
use crate::error::CommandError;
use crate::plan::plan_error;
use crate::policy::policy_error;

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

/// Returns the reason why a run can't begin.
pub(crate) fn begin_error(session: &Session, error: &BeginError) -> CommandError {
    let nothing = CommandError::of(error).therefore("nothing was run");
    match error {
        BeginError::Cancelled(cause) => CommandError::stopped(cause, "the wait for another run"),
        BeginError::Selection(unknown) => unknown_selection(unknown),
        BeginError::Policy(error) => policy_error(error, "nothing was run"),
        BeginError::Audit(problem) => nothing.hint(problem_hint(problem)),
        BeginError::Runner(error) => CommandError::setup(error),
        BeginError::State(error) => nothing.hint(error.hint()),
        BeginError::Lock(error) => nothing.hint(match error {
            LockError::Ancestor { .. } => {
                "apply the manifest with a resource of the type `apply`, or give the inner run a state directory of its own: \
                 `--state-dir`"
                    .to_owned()
            }
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
        }),
        BeginError::NotSigned { manifest, .. } => {
            nothing.hint(format!("let an approver sign it: `ccm approve --manifest {manifest} --until 30d`"))
        }
        BeginError::PlanRequired { has_plan: true, .. } => {
            nothing.hint("let an approver sign it: `ccm approve --plan PLAN`")
        }
        BeginError::PlanRequired { .. } => nothing.hints([
            "write a plan with `ccm apply --noop --plan-out PLAN MANIFEST`, let an approver sign it with \
             `ccm approve --plan PLAN`, and apply it with `ccm apply --plan PLAN`",
            "let timers and `ccm push` only look: `--noop`",
        ]),
        BeginError::Plan(error) => plan_error(session, error),
        BeginError::Name(error) => error.into(),
        BeginError::Ledger(error) => ledger_error(session, error),
        _ => nothing,
    }
}

/// Returns the error of names of `--only` and `--skip` that are not in the manifest.
pub(crate) fn unknown_selection(unknown: &UnknownResources) -> CommandError {
    let error = |UnknownResource { option, id, nearest }: &UnknownResource| {
        let option = match option {
            SelectionOption::Only => "--only",
            SelectionOption::Skip => "--skip",
        };
        let message = format!("{option} names `{id}`, which is not in the manifest; nothing was run");
        let several = id.to_string();
        let several: Vec<&str> = several.split(',').map(str::trim).collect();
        let are_references = several.len() > 1 && several.iter().all(|name| ResourceId::parse(name).is_ok());
        let repeated = || {
            let each = several.iter().map(|name| format!("{option} {}", quote_words([*name])));
            format!("repeat `{option}`: `{}`", each.collect::<Vec<_>>().join(" "))
        };
        let hint = are_references.then(repeated);
        let hint = hint.or_else(|| nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?")));
        let is_glob = id.to_string().contains(['*', '?']);
        let hint = hint.or_else(|| {
            is_glob.then(|| format!("name each resource: `{option}` takes no wildcards, and can be repeated"))
        });
        CommandError::usage(message).hints(hint)
    };
    CommandError::of_several(unknown.0.iter().map(error).collect())
}

impl From<&NameMissing> for CommandError {
    fn from(error: &NameMissing) -> Self {
        Self::of(error)
            .therefore("nothing was run")
            .caused_by(&"ccm records pending refreshes under the name of the manifest")
            .hint("add `name` below `ccm`")
    }
}

/// Returns the reason why a ledger can't be used.
pub(crate) fn ledger_error(session: &Session, error: &LedgerError) -> CommandError {
    CommandError::of(error).therefore("nothing was run").hint(ledger_hint(session, error))
}

/// Returns the reason why a state directory can't be read.
pub(crate) fn state_error(session: &Session, error: &StatusError) -> CommandError {
    CommandError::of(error).hints(match error {
        StatusError::State(error) | StatusError::Store(StoreError::State(error)) => {
            Some(state_hint(session, error))
        }
        StatusError::Ledger(error) => Some(ledger_hint(session, error)),
        StatusError::Store(StoreError::Read { path, source }) => {
            Some(session.state_advice(path, source).to_string())
        }
        _ => None,
    })
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
