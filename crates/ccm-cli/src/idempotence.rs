//! `ccm apply --verify-idempotent`: a second run of the manifest, which must not change anything.

use ccm_runtime::report::pending_line;
use ccm_runtime::{ChangedAgain, ExitCode, Session, Verification, VerificationError};

use crate::apply::report_record_errors;
use crate::console::Console;
use crate::error::CommandError;
use crate::state;

/// Reports why there was no second run, and returns the exit code.
pub(crate) fn report_missing_verification(
    console: &Console,
    session: &Session,
    name: &str,
    error: &VerificationError,
    code: ExitCode,
) -> ExitCode {
    let reason = match error {
        VerificationError::NotSuccessful => {
            console.note(&error.to_string());
            return code;
        }
        VerificationError::Input(error) => error.into(),
        VerificationError::Manifest(errors) => {
            CommandError::located(errors).with_message(format!("{errors} in {name}"))
        }
        VerificationError::Selection(unknown) => state::unknown_selection(unknown),
        VerificationError::Ledger { source, first } => {
            report_record_errors(console, first);
            state::ledger_error(session, source)
        }
        _ => CommandError::of(error),
    };
    let message = "the manifest was applied once, and the second run, which verifies it, was not started";
    console.error(&CommandError::new(message).after(&[reason]));
    code.and_failed()
}

/// Reports the changes of the second run, the pending refreshes, and advice.
pub(crate) fn show(console: &Console, verification: &Verification) {
    let Verification { changed_again, due, not_due, advice, .. } = verification;
    if !not_due.is_empty() {
        let refreshes = match not_due.len() {
            1 => "1 refresh stays".to_owned(),
            count => format!("{count} refreshes stay"),
        };
        console.note(&format!(
            "{refreshes} pending even after another run with these options; see `ccm status --pending`"
        ));
    }
    if verification.is_idempotent() {
        return;
    }
    let message = match changed_again.len() {
        0 => "not idempotent: pending refreshes are left for a later run".to_owned(),
        1 => "not idempotent: a second run changed 1 resource again".to_owned(),
        count => format!("not idempotent: a second run changed {count} resources again"),
    };
    let pending = due.iter().map(|pending| pending_line(&pending.subscriber, &pending.refresh));
    let causes = changed_again.iter().map(reason).chain(pending);
    let error = causes.fold(CommandError::new(message), |error, cause| error.caused_by(&cause));
    console.error(&error.hints(advice.iter().copied()));
}

fn reason(changed: &ChangedAgain) -> String {
    let triggers: Vec<String> = changed.triggered_by.iter().map(ToString::to_string).collect();
    let because = match (&*triggers, &changed.reason) {
        ([], Some(reason)) => Some(reason.to_string()),
        ([], None) => None,
        (triggers, _) => Some(format!("triggered by {}", triggers.join(", "))),
    };
    let all: Vec<String> = because.into_iter().chain(changed.warnings.iter().cloned()).collect();
    if all.is_empty() { changed.id.to_string() } else { format!("{}: {}", changed.id, all.join("; ")) }
}
