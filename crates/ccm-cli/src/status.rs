//! `ccm status`: the last run, and what is owed to the next ones.

use ccm_engine::{PendingLedger, PendingRefresh, pending};
use ccm_model::{display_timestamp, escape_control};
use ccm_report::{History, owed_line};
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
    if arguments.pending {
        return Ok(match arguments.output {
            HistoryOutput::Text => text(&ledgers),
            HistoryOutput::Json => format!("{:#}\n", json!({ "pending": json(&ledgers) })),
        });
    }
    let history = History::open(&state).map_err(|error| {
        messages::from_error(&error, "", &["name another state directory with --state-dir".to_owned()]);
        Code::NothingRun
    })?;
    let last = history.runs().first();
    Ok(match arguments.output {
        HistoryOutput::Text => {
            let last = last
                .map_or_else(|| "no run is recorded".to_owned(), |run| format!("last run: {}", run.line()));
            format!("{last}\n{}", text(&ledgers))
        }
        HistoryOutput::Json => {
            let last = last.map(ccm_report::StoredRun::json);
            format!("{:#}\n", json!({ "last_run": last, "pending": json(&ledgers) }))
        }
    })
}

fn text(ledgers: &[PendingLedger]) -> String {
    if ledgers.is_empty() {
        return "no refresh is owed\n".to_owned();
    }
    let mut text = String::new();
    for PendingLedger { file, key, refreshes, unreadable } in ledgers {
        let key = key.as_ref().map_or_else(String::new, |key| format!("{} ", escape_control(key)));
        text += &format!("{key}({})\n", escape_control(file));
        if let Some(reason) = unreadable {
            text += &format!("  can't be read, so all may be owed: {}\n", escape_control(reason));
        }
        for PendingRefresh { subscriber, refresh, .. } in refreshes {
            text += &format!("  {}\n", escape_control(&owed_line(subscriber, refresh)));
        }
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
