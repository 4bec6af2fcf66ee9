//! `ccm apply --verify-idempotent`: a second run of the manifest, which must not change anything.

use ccm_report::pending_line;
use ccm_runtime::{ChangedAgain, ExitCode, Session, Verification, VerificationError};

use crate::apply::report_record_errors;
use crate::console::Console;
use crate::{diagnostics, manifest, state};

/// Reports why there was no second run, and returns the exit code.
pub(crate) fn report_missing_verification(
    console: &Console,
    session: &Session,
    name: &str,
    error: &VerificationError,
    code: ExitCode,
) -> ExitCode {
    match error {
        VerificationError::NotSuccessful => {
            console.note(&error.to_string());
            return code;
        }
        VerificationError::Input(error) => {
            manifest::report_input_error(console, error);
        }
        VerificationError::Manifest(errors) => {
            diagnostics::print(console, errors);
            console.error(&format!("{errors} in {name}"), &[], &[]);
        }
        VerificationError::Selection(unknown) => {
            state::report_unknown_selection(console, unknown);
        }
        VerificationError::Ledger { source, first } => {
            report_record_errors(console, first);
            state::report_ledger_error(console, session, source);
        }
        _ => console.error_of(error, "", &[]),
    }
    console.error(
        "the manifest was applied once, and the second run, which verifies it, was not started",
        &[],
        &[],
    );
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
    let causes: Vec<String> = changed_again.iter().map(reason).chain(pending).collect();
    let hints: Vec<String> = advice.iter().map(|advice| (*advice).to_owned()).collect();
    console.error(&message, &causes, &hints);
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
