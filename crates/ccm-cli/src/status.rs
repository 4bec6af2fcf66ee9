//! `ccm status`: the last run, and what is owed to the next ones.

use std::collections::BTreeSet;
use std::path::Path;

use ccm_engine::{PendingLedger, PendingRefresh};
use ccm_host::{Cancellation, Files as _, SystemFiles};
use ccm_model::{KeptBy, display_timestamp, escape_control, quote_words};
use ccm_report::{StoredRun, owed_line};
use serde_json::{Value, json};

use crate::arguments::{HistoryOutput, Status};
use crate::show::print;
use crate::{session, state};
use ccm_runtime::{ExitCode, Pending};

/// Shows them.
pub(crate) fn run(arguments: &Status) -> ExitCode {
    match shown(arguments) {
        Ok(text) => print(&text),
        Err(code) => code,
    }
}

fn shown(arguments: &Status) -> Result<String, ExitCode> {
    let session = session::open_with(&arguments.state);
    let state = session.state_path().map_err(|error| state::not_read(&error.into()))?;
    let named = arguments.state.state_dir.as_ref().map(|_| &*state);
    let pending = session.pending().map_err(|error| state::not_read(&error))?;
    let Pending { ledgers, damaged: kept, is_locked } = &pending;
    if arguments.pending {
        return Ok(match arguments.output {
            HistoryOutput::Text => text(ledgers, kept, *is_locked, named),
            HistoryOutput::Json => {
                let pending = json(ledgers);
                format!("{:#}\n", json!({ "is_going_on": is_locked, "pending": pending, "damaged": kept }))
            }
        });
    }
    let history = session.history().map_err(|error| state::not_read(&error))?;
    let last = history.runs().first();
    let is_going_on = last.is_some_and(StoredRun::is_unfinished) && *is_locked;
    Ok(match arguments.output {
        HistoryOutput::Text => {
            let last = last.map_or_else(
                || "no run is recorded".to_owned(),
                |run| format!("last run: {}", run.line(is_going_on)),
            );
            format!("{last}\n{}", text(ledgers, kept, *is_locked, named))
        }
        HistoryOutput::Json => {
            let last = last.map(StoredRun::json);
            format!(
                "{:#}\n",
                json!({ "last_run": last, "is_going_on": is_going_on, "pending": json(ledgers), "damaged": kept })
            )
        }
    })
}

/// `named` is the state directory if it is not the one that a run has by itself.
fn text(ledgers: &[PendingLedger], damaged: &[String], is_going_on: bool, named: Option<&Path>) -> String {
    let mut text = if ledgers.is_empty() { "no refresh is owed\n".to_owned() } else { String::new() };
    for ledger in ledgers {
        let PendingLedger { file, key, refreshes, unreadable, untrusted, .. } = ledger;
        let key = key.as_ref().map_or_else(String::new, |key| format!("{} ", escape_control(key)));
        text += &format!("{key}({})\n", escape_control(file));
        if let Some(reason) = unreadable {
            text += &format!("  can't be read, so all may be owed: {}\n", escape_control(reason));
        }
        if !untrusted.is_empty() {
            text += &format!("  {}; a run refuses it\n", escape_control(&untrusted.join(": ")));
        }
        for PendingRefresh { subscriber, refresh, kept_by, .. } in refreshes {
            let kept = match kept_by {
                None => "",
                Some(KeptBy::Control) => "; it is not managed, and a run does it once it is",
                Some(KeptBy::NoopManifest) => {
                    "; its manifest is in noop, and a run does it once that is not so"
                }
            };
            text += &format!("  {}{kept}\n", escape_control(&owed_line(subscriber, refresh)));
        }
        if untrusted.is_empty() {
            text += &match unreadable {
                Some(_) => next_of_unreadable(ledger, named),
                None => next(file, refreshes, named),
            };
        }
    }
    if is_going_on && !ledgers.is_empty() {
        text += "a run is going on; what it comes to do is listed until then\n";
    }
    for name in damaged {
        text += &format!(
            "kept, because it was damaged: refreshes/{}; remove it when you have seen it\n",
            escape_control(name)
        );
    }
    text
}

/// How what a ledger says is done, as far as a run would do it.
fn next(file: &str, refreshes: &[PendingRefresh], state: Option<&Path>) -> String {
    // What came from standard input has no path.
    let (there, gone): (BTreeSet<&str>, BTreeSet<&str>) = refreshes
        .iter()
        .map(|owed| &*owed.manifest)
        .filter(|manifest| manifest.starts_with('/'))
        .partition(|manifest| is_there(manifest));
    let mut text = String::new();
    for manifest in &gone {
        text += &format!("  {} is not there any more, so no run of it does that", escape_control(manifest));
        let is_all = gone.len() == 1 && refreshes.iter().all(|owed| owed.manifest == *manifest);
        let file = escape_control(file);
        text += &if is_all { format!("; remove refreshes/{file} to forget it\n") } else { "\n".to_owned() };
    }
    let is_due =
        |manifest: &&str| refreshes.iter().any(|owed| owed.manifest == **manifest && owed.kept_by.is_none());
    text.extend(there.into_iter().filter(is_due).map(|manifest| apply(manifest, state)));
    text
}

/// How what a ledger may say that can't be read is done.
fn next_of_unreadable(ledger: &PendingLedger, state: Option<&Path>) -> String {
    if ledger.is_newer {
        return "  next: run that ccm, or one that is newer still\n".to_owned();
    }
    let manifests =
        ledger.manifests.iter().filter(|manifest| manifest.starts_with('/') && is_there(manifest));
    let text: String = manifests.map(|manifest| apply(manifest, state)).collect();
    match ledger.key {
        _ if !text.is_empty() => text,
        Some(_) => "  next: apply its manifest, which does all that may be owed\n".to_owned(),
        None => "  next: apply its manifest, whose name or path the name of the file comes from\n".to_owned(),
    }
}

/// Tells whether a manifest is there. One that can't be looked for is not known to be gone.
fn is_there(manifest: &str) -> bool {
    SystemFiles::new(Cancellation::never()).exists(Path::new(manifest)).unwrap_or(true)
}

/// The line that says how a manifest is applied.
fn apply(manifest: &str, state: Option<&Path>) -> String {
    let state = state.map_or_else(String::new, |state| {
        format!(" --state-dir {}", quote_words([&*state.display().to_string()]))
    });
    let line = format!("ccm apply {}{state}", quote_words([manifest]));
    format!("  next: {}\n", escape_control(&line))
}

fn json(ledgers: &[PendingLedger]) -> Value {
    let refresh = |owed: &PendingRefresh| {
        json!({
            "subscriber": owed.subscriber.to_string(),
            "source": owed.refresh.source.to_string(),
            "run_id": owed.refresh.run_id,
            "since": display_timestamp(owed.refresh.since, 2),
            "assumed": owed.refresh.is_assumed,
            "manifest": owed.manifest,
            "kept_by": owed.kept_by,
        })
    };
    let ledger = |ledger: &PendingLedger| {
        json!({
            "key": ledger.key,
            "file": ledger.file,
            "unreadable": ledger.unreadable,
            "untrusted": (!ledger.untrusted.is_empty()).then(|| ledger.untrusted.join(": ")),
            "refreshes": ledger.refreshes.iter().map(refresh).collect::<Vec<_>>(),
        })
    };
    ledgers.iter().map(ledger).collect()
}
