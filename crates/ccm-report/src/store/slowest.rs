//! Slowest resources of a recorded run.

use ccm_model::{EventLine, ResourceId, TransactionLine, display_duration, escape_control};
use serde_json::{Value, json};

use super::{SlowResource, StoredRun};
use crate::screen::{Screen, columns};
use crate::table::{Column, table};

impl StoredRun {
    /// Returns the slowest resources, the slowest first. Without a summary, these are the slowest of the
    /// recorded events, which have no unchanged resources.
    pub fn slowest(&self, events: &[EventLine], limit: usize) -> Vec<SlowResource> {
        let recorded = self.summary.as_ref().and_then(|summary| summary.slowest.clone());
        let mut slowest = recorded.unwrap_or_else(|| {
            let of = |line: &TransactionLine<'_>| SlowResource {
                resource: ResourceId::new(&*line.type_name, &*line.name).to_string(),
                duration: line.duration,
                outcome: line.outcome,
            };
            super::show::transactions(events).map(of).collect()
        });
        slowest.sort_by_key(|slow| std::cmp::Reverse(slow.duration));
        slowest.truncate(limit);
        slowest
    }
}

/// Returns the slowest resources of a run as text, a line each.
pub(super) fn text(slowest: &[SlowResource], screen: Screen) -> String {
    if slowest.is_empty() {
        return "no slow resource is recorded\n".to_owned();
    }
    let row = |slow: &SlowResource| {
        let outcome = json!(slow.outcome).as_str().unwrap_or_default().replace('_', " ");
        [display_duration(slow.duration), outcome, escape_control(&slow.resource).into_owned()]
    };
    let heads = [Column::new("DURATION"), Column::new("OUTCOME"), Column::new("RESOURCE").cut_to(16)];
    table(heads, &slowest.iter().map(row).collect::<Vec<_>>(), screen)
}

/// Returns the slowest resources of a run as JSON.
pub(super) fn json(slowest: &[SlowResource]) -> Value {
    json!(slowest)
}

impl super::History {
    /// Returns the slowest resources of a run as text.
    pub fn slowest_text(&self, run: &StoredRun, events: &[EventLine], limit: usize) -> String {
        let duration = run.summary.as_ref().map_or_else(String::new, |summary| {
            format!(", which took {}", display_duration(summary.duration))
        });
        let manifest = escape_control(run.manifest());
        let short = self.short(&run.id);
        let taken = columns(&format!("run {short} of {duration}"));
        let room = self.screen.width.map_or(usize::MAX, |width| width.saturating_sub(taken));
        let manifest = self.screen.cut(&manifest, room);
        format!("run {short} of {manifest}{duration}\n") + &text(&run.slowest(events, limit), self.screen)
    }

    /// Returns the slowest resources of a run as JSON.
    pub fn slowest_json(&self, run: &StoredRun, events: &[EventLine], limit: usize) -> Value {
        json!({ "run": run.json(), "slowest": json(&run.slowest(events, limit)) })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ccm_model::OutcomeName;

    use super::*;
    use crate::store::StoredSummary;

    #[test]
    fn the_slowest_resources_are_listed() {
        let slow = |resource: &str, milliseconds| SlowResource {
            resource: resource.to_owned(),
            duration: Duration::from_millis(milliseconds),
            outcome: OutcomeName::Unchanged,
        };
        let slowest = Some(vec![slow("exec#b", 20), slow("exec#a", 3000), slow("file#/c", 10)]);
        let summary = Some(StoredSummary { slowest, ..StoredSummary::default() });
        let run = StoredRun { id: String::new(), start: None, summary, ended: true };
        let expected = "\
DURATION  OUTCOME    RESOURCE
3s        unchanged  exec#a
20ms      unchanged  exec#b
";
        assert_eq!(text(&run.slowest(&[], 2), Screen::default()), expected);
    }
}
