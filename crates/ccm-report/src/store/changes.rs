//! Changes of one resource in the recorded runs.

use std::time::SystemTime;

use ccm_host::LocalZone;
use ccm_model::{Event, EventLine, ResourceId, TransactionLine, display_timestamp, escape_control};
use serde_json::{Value, json};

use super::show::{age, report_of};
use super::{History, StoreError, StoredRun};
use crate::table::{Column, table};

/// Change of a resource in a recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceChange<'h> {
    /// The run.
    pub run: &'h StoredRun,
    /// Recorded event of the resource.
    pub event: TransactionLine<'static>,
}

/// Changes of a resource, the newest first.
#[derive(Debug)]
pub struct ResourceChanges<'h> {
    resource: ResourceId,
    changes: Vec<ResourceChange<'h>>,
    /// Number of runs that were searched.
    searched: usize,
    /// Errors of records that can't be read.
    pub unreadable: Vec<StoreError>,
}

impl History {
    /// Searches runs for changes of a resource, which a name or an alias identifies. Ends after `limit` changes.
    pub fn changes<'h>(
        &'h self,
        runs: &[&'h StoredRun],
        resource: &ResourceId,
        limit: usize,
    ) -> ResourceChanges<'h> {
        let mut found = ResourceChanges {
            resource: resource.clone(),
            changes: Vec::new(),
            searched: runs.len(),
            unreadable: Vec::new(),
        };
        for run in runs {
            if found.changes.len() >= limit {
                break;
            }
            // An unchanged run is not read. A failed resource may have changed something.
            if run.summary.as_ref().is_some_and(|summary| {
                let counts = &summary.counts;
                counts.changed + counts.refreshed + counts.failed == 0
            }) {
                continue;
            }
            match self.events(run) {
                Ok(events) => {
                    let event = events.into_iter().find_map(|event| match event {
                        EventLine::Transaction(line) if is_change_of(&line, resource) => Some(*line),
                        _ => None,
                    });
                    found.changes.extend(event.map(|event| ResourceChange { run, event }));
                }
                Err(error) => found.unreadable.push(error),
            }
        }
        found
    }
}

/// Returns `true` if the resource was changed or refreshed, or failed after it may have changed something.
fn is_change_of(line: &TransactionLine<'_>, resource: &ResourceId) -> bool {
    let is_named = *line.name == *resource.name || line.alias.as_deref() == Some(&*resource.name);
    *line.type_name == *resource.type_name && is_named && !line.noop && (line.changed || line.refreshed)
}

impl ResourceChanges<'_> {
    /// Returns the last change with its details, and the time of each earlier one, as text.
    pub fn text(&self, history: &History, zone: &LocalZone, now: SystemTime) -> String {
        let name = escape_control(&self.resource.to_string()).into_owned();
        let Some((last, earlier)) = self.changes.split_first() else {
            let runs = if self.searched == 1 { "run" } else { "runs" };
            let text = format!("no change of {name} is recorded in {} {runs}\n", self.searched);
            return history.screen.folded(&text).into_owned();
        };
        let ResourceChange { run, event } = last;
        let mut text = format!(
            "{name} last changed {} ({})\nrun {} of {}",
            zone.display(event.timestamp),
            age(event.timestamp, now),
            history.short(&run.id),
            escape_control(run.manifest()),
        );
        if let Some(started_by) = run.started_by() {
            text += &format!(", started by {}", escape_control(&started_by.label()));
        }
        text += "\n";
        text = history.screen.folded(&text).into_owned();
        let line = EventLine::Transaction(Box::new(event.clone()));
        text += &report_of([Event::from(line)], history.screen);
        let action = event.action.as_deref();
        if event.diff.is_none()
            && action.is_some_and(|action| action.changes.iter().any(|change| change.aspect == "content"))
        {
            text += "no diff is recorded\n";
        }
        if !earlier.is_empty() {
            text += "earlier changes:\n";
            let row = |change: &ResourceChange<'_>| {
                let outcome = json!(change.event.outcome).as_str().unwrap_or_default().to_owned();
                [
                    zone.display(change.event.timestamp),
                    history.short(&change.run.id).to_owned(),
                    outcome,
                    escape_control(change.run.manifest()).into_owned(),
                ]
            };
            let heads = [
                Column::new("TIME"),
                Column::new("RUN"),
                Column::new("OUTCOME").optional(),
                Column::new("MANIFEST").cut_to(12),
            ];
            let rows: Vec<_> = earlier.iter().map(row).collect();
            text += &table(heads, &rows, history.screen);
        }
        text
    }

    /// Returns the changes as JSON.
    pub fn json(&self) -> Value {
        let change = |change: &ResourceChange<'_>| {
            json!({
                "run_id": change.run.id,
                "manifest": change.run.manifest(),
                "timestamp": display_timestamp(change.event.timestamp, 2),
                "started_by": change.run.started_by(),
                "event": change.event,
            })
        };
        json!({
            "resource": self.resource.to_string(),
            "searched_runs": self.searched,
            "changes": self.changes.iter().map(change).collect::<Vec<_>>(),
        })
    }
}
