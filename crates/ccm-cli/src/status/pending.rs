//! Pending refreshes as text.

use std::path::Path;

use ccm_runtime::model::{RefreshBlocker, escape_control, quote_words};
use ccm_runtime::report::pending_line;
use ccm_runtime::status::PendingRefreshes;
use ccm_runtime::{NextStep, PendingLedger, RecordedRefresh, Session};

use crate::state::NEWER_HINT;

/// Returns the pending refreshes as text, with their next steps. `state_dir` is set if the command line
/// names it.
pub(super) fn text(session: &Session, pending: &PendingRefreshes, state_dir: Option<&Path>) -> String {
    let PendingRefreshes { ledgers, damaged, is_locked } = pending;
    let mut text = if ledgers.is_empty() { "no refresh is pending\n".to_owned() } else { String::new() };
    for ledger in ledgers {
        let PendingLedger { file, key, refreshes, unreadable, untrusted, .. } = ledger;
        let key = key.as_ref().map_or_else(String::new, |key| format!("{} ", escape_control(key)));
        text += &format!("{key}(ledger refreshes/{})\n", escape_control(file));
        if let Some(reason) = unreadable {
            text +=
                &format!("  can't be read, so every refresh may be pending: {}\n", escape_control(reason));
        }
        if !untrusted.is_empty() {
            text +=
                &format!("  {}; `ccm apply` refuses this ledger\n", escape_control(&untrusted.join(": ")));
        }
        for RecordedRefresh { subscriber, refresh, blocked_by, .. } in refreshes {
            let blocker = match blocked_by {
                None => "",
                Some(RefreshBlocker::Control) => {
                    "; the resource is not managed; it is refreshed once it is managed"
                }
                Some(RefreshBlocker::NoopManifest) => {
                    "; its manifest is in noop; it is refreshed once noop is removed"
                }
            };
            text += &format!("  {}{blocker}\n", escape_control(&pending_line(subscriber, refresh)));
        }
        text.extend(session.next_steps(ledger).iter().map(|step| next_step_line(step, file, state_dir)));
    }
    if *is_locked && !ledgers.is_empty() {
        text += "a run is going on; refreshes that it has not done yet are listed\n";
    }
    for name in damaged {
        text += &format!(
            "damaged ledger kept: refreshes/{} in the state directory; remove it when you have inspected it\n",
            escape_control(name)
        );
    }
    text
}

/// Returns the line of a next step for a ledger in that file.
fn next_step_line(step: &NextStep, file: &str, state_dir: Option<&Path>) -> String {
    match step {
        NextStep::Apply(manifest) => apply_line(manifest, state_dir),
        NextStep::ApplyKey(_) => {
            "  next: apply the manifest of this ledger, which does every refresh that may be pending\n".to_owned()
        }
        NextStep::ApplyUnknown => {
            "  next: find the manifest of this ledger, and apply it; the name of the ledger is derived from its name or path\n"
                .to_owned()
        }
        NextStep::UseNewerVersion => format!("  next: {NEWER_HINT}\n"),
        NextStep::Gone { manifest, is_whole_ledger } => {
            let manifest = escape_control(manifest);
            let gone = format!("  {manifest} does not exist any more, so no run does these refreshes");
            let file = escape_control(file);
            gone + &if *is_whole_ledger {
                format!("; to drop them, remove refreshes/{file} in the state directory while no run is going on\n")
            } else {
                "\n".to_owned()
            }
        }
        _ => String::new(),
    }
}

/// Returns the line with the command that applies a manifest.
fn apply_line(manifest: &str, state_dir: Option<&Path>) -> String {
    let state = state_dir.map_or_else(String::new, |state| {
        format!(" --state-dir {}", quote_words([&*state.display().to_string()]))
    });
    let line = format!("ccm apply {}{state}", quote_words([manifest]));
    format!("  next: {}\n", escape_control(&line))
}
