//! The status as JSON.

use std::path::Path;
use std::time::SystemTime;

use ccm_engine::{PendingLedger, RecordedRefresh};
use ccm_model::display_timestamp;
use ccm_report::StoredRun;
use serde_json::{Value, json};

use super::{ManifestState, ManifestStatus, PendingRefreshes, SessionStatus};
use crate::pause::Pause;

impl SessionStatus {
    /// Returns the status as JSON, of one manifest if there is one.
    pub fn json(&self, manifest: Option<&Path>) -> Value {
        let PendingRefreshes { ledgers, damaged, is_locked } = &self.pending;
        json!({
            "last_run": self.history.runs().first().map(StoredRun::json),
            "manifests": self.manifests(manifest).iter().map(ManifestStatus::json).collect::<Vec<_>>(),
            "is_going_on": self.is_going_on(),
            "current_resource": self.current_resource,
            "paused": self.current_pause().map(Pause::json),
            "is_locked": is_locked,
            "pending": ledgers.iter().map(of_ledger).collect::<Vec<_>>(),
            "damaged": damaged,
        })
    }
}

impl PendingRefreshes {
    /// Returns the pending refreshes as JSON.
    pub fn json(&self) -> Value {
        json!({
            "is_locked": self.is_locked,
            "pending": self.ledgers.iter().map(of_ledger).collect::<Vec<_>>(),
            "damaged": self.damaged,
        })
    }
}

impl ManifestState {
    /// Returns the name in JSON and in metrics.
    pub fn name(self) -> String {
        self.word().replace(' ', "_")
    }
}

impl ManifestStatus<'_> {
    /// Returns the status of the manifest as JSON.
    pub fn json(&self) -> Value {
        let time = |at: Option<SystemTime>| at.map(|at| display_timestamp(at, 2));
        json!({
            "manifest": self.manifest,
            "state": self.state.name(),
            "gone": self.is_gone,
            "judged": self.is_judged(),
            "judged_run_id": self.judged.map(|run| &run.id),
            "began": time(self.began()),
            "succeeded": time(self.succeeded),
            "is_going_on": self.current.is_some(),
            "pending_refreshes": self.pending,
            "last_run": self.last.map(StoredRun::json),
        })
    }
}

fn of_ledger(ledger: &PendingLedger) -> Value {
    json!({
        "key": ledger.key,
        "file": ledger.file,
        "unreadable": ledger.unreadable,
        "untrusted": (!ledger.untrusted.is_empty()).then(|| ledger.untrusted.join(": ")),
        "refreshes": ledger.refreshes.iter().map(of_refresh).collect::<Vec<_>>(),
    })
}

fn of_refresh(pending: &RecordedRefresh) -> Value {
    json!({
        "subscriber": pending.subscriber.to_string(),
        "source": pending.refresh.source.to_string(),
        "run_id": pending.refresh.run_id,
        "since": display_timestamp(pending.refresh.since, 2),
        "assumed": pending.refresh.is_assumed,
        "manifest": pending.manifest,
        "kept_by": pending.blocked_by,
    })
}
