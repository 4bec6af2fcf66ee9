//! `ccm status`: the last run, and what is owed to the next ones.

use ccm_engine::{PendingLedger, PendingRefresh, damaged, pending};
use ccm_host::state::Lock;
use ccm_model::{display_timestamp, escape_control};
use ccm_report::{History, StoredRun, owed_line};
use serde_json::{Value, json};

use crate::arguments::{HistoryOutput, Status};
use crate::exit::Code;
use crate::show::print;
use crate::{messages, owed, state};

/// Shows them.
pub(crate) fn run(arguments: &Status) -> Code {
    match shown(arguments) {
        Ok(text) => print(&text),
        Err(code) => code,
    }
}

fn shown(arguments: &Status) -> Result<String, Code> {
    let state = state::path(&arguments.state).map_err(|error| {
        messages::from_error(&error, "", &[error.hint()]);
        Code::NothingRun
    })?;
    let ledgers = pending(&state).map_err(|error| {
        messages::from_error(&error, "", &[owed::hint(&error)]);
        Code::NothingRun
    })?;
    let kept = damaged(&state).map_err(|error| {
        messages::from_error(&error, "", &[owed::hint(&error)]);
        Code::NothingRun
    })?;
    // A ledger is read without the lock: it is replaced as a whole, and where it grows its last line may be torn.
    let is_held = Lock::is_held(&state);
    if arguments.pending {
        return Ok(match arguments.output {
            HistoryOutput::Text => text(&ledgers, &kept, is_held),
            HistoryOutput::Json => {
                let pending = json(&ledgers);
                format!("{:#}\n", json!({ "is_going_on": is_held, "pending": pending, "damaged": kept }))
            }
        });
    }
    let history = History::open(&state).map_err(|error| {
        messages::from_error(&error, "", &["name another state directory with --state-dir".to_owned()]);
        Code::NothingRun
    })?;
    let last = history.runs().first();
    let is_going_on = last.is_some_and(StoredRun::is_unfinished) && is_held;
    Ok(match arguments.output {
        HistoryOutput::Text => {
            let last = last.map_or_else(
                || "no run is recorded".to_owned(),
                |run| format!("last run: {}", run.line(is_going_on)),
            );
            format!("{last}\n{}", text(&ledgers, &kept, is_held))
        }
        HistoryOutput::Json => {
            let last = last.map(StoredRun::json);
            format!(
                "{:#}\n",
                json!({ "last_run": last, "is_going_on": is_going_on, "pending": json(&ledgers), "damaged": kept })
            )
        }
    })
}

fn text(ledgers: &[PendingLedger], damaged: &[String], is_going_on: bool) -> String {
    let mut text = if ledgers.is_empty() { "no refresh is owed\n".to_owned() } else { String::new() };
    for PendingLedger { file, key, refreshes, unreadable } in ledgers {
        let key = key.as_ref().map_or_else(String::new, |key| format!("{} ", escape_control(key)));
        text += &format!("{key}({})\n", escape_control(file));
        if let Some(reason) = unreadable {
            text += &format!("  can't be read, so all may be owed: {}\n", escape_control(reason));
        }
        let mut manifests: Vec<&str> = refreshes.iter().map(|owed| &*owed.manifest).collect();
        manifests.sort_unstable();
        manifests.dedup();
        for PendingRefresh { subscriber, refresh, .. } in refreshes {
            text += &format!("  {}\n", escape_control(&owed_line(subscriber, refresh)));
        }
        // What came from standard input has no path.
        for manifest in manifests.into_iter().filter(|manifest| manifest.starts_with('/')) {
            text += &format!("  next: ccm apply {}\n", escape_control(manifest));
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

fn json(ledgers: &[PendingLedger]) -> Value {
    let refresh = |owed: &PendingRefresh| {
        json!({
            "subscriber": owed.subscriber.to_string(),
            "source": owed.refresh.source.to_string(),
            "run_id": owed.refresh.run_id,
            "since": display_timestamp(owed.refresh.since, 2),
            "assumed": owed.refresh.is_assumed,
            "manifest": owed.manifest,
        })
    };
    let ledger = |ledger: &PendingLedger| {
        json!({
            "key": ledger.key,
            "file": ledger.file,
            "unreadable": ledger.unreadable,
            "refreshes": ledger.refreshes.iter().map(refresh).collect::<Vec<_>>(),
        })
    };
    ledgers.iter().map(ledger).collect()
}
