//! Page of the past of a machine: which resource changed when.

use std::collections::BTreeMap;

use ccm_host::LocalZone;
use ccm_model::{ResourceId, display_duration};
use ccm_report::{Past, PastRun, RecordedOutcome, RunOutcome, Screen, StoredSummary};
use serde::Serialize;

use crate::door::{PageError, render};
use crate::outcome::Mark;
use crate::text::counted;

/// Maximum number of runs with a column.
const MAX_COLUMNS: usize = 60;
/// Maximum number of resources with a row.
const MAX_ROWS: usize = 500;

#[derive(Serialize)]
struct RunRow {
    mark: Mark,
    began: String,
    short: String,
    duration: String,
    by: String,
    manifest: String,
    sentence: String,
}

#[derive(Serialize)]
struct PastCell {
    mark: Option<Mark>,
    /// Description of the cell.
    title: String,
}

#[derive(Serialize)]
struct PastRow {
    name: String,
    changes: usize,
    failures: usize,
    last: String,
    /// A cell for each run with a column, the oldest first.
    cells: Vec<PastCell>,
}

#[derive(Serialize)]
struct MachinePage {
    title: String,
    machine: String,
    sentence: String,
    rows: Vec<PastRow>,
    more_rows: Option<String>,
    first: String,
    last: String,
    runs: Vec<RunRow>,
    version: &'static str,
}

/// Returns the page of the past of a machine.
pub fn machine_page(past: &Past<'_>, zone: &LocalZone) -> Result<String, PageError> {
    let began =
        |run: &PastRun<'_>| run.run.began().map_or_else(|| "?".to_owned(), |began| zone.display(began));
    let machine =
        past.runs.iter().filter_map(|run| run.run.start.as_ref()).map(|start| start.host.to_string());
    let machine = machine.into_iter().find(|host| !host.is_empty()).unwrap_or_default();
    let mut columns: Vec<&PastRun<'_>> =
        past.runs.iter().filter(|run| !run.outcomes.is_empty()).take(MAX_COLUMNS).collect();
    columns.reverse();
    let mut by_resource: BTreeMap<&ResourceId, Vec<(usize, RecordedOutcome)>> = BTreeMap::new();
    for (column, run) in columns.iter().enumerate() {
        for (id, outcome) in &run.outcomes {
            by_resource.entry(id).or_default().push((column, *outcome));
        }
    }
    let count = by_resource.len();
    let mut resources: Vec<_> = by_resource.into_iter().collect();
    // What changed last comes first, failures before others.
    resources.sort_by_key(|(_, found)| std::cmp::Reverse(found.last().copied()));
    let row = |(id, found): (&ResourceId, Vec<(usize, RecordedOutcome)>)| {
        let has_failed = |(_, outcome): &&(usize, RecordedOutcome)| *outcome == RecordedOutcome::Failed;
        let failures = found.iter().filter(has_failed).count();
        let mut cells: Vec<PastCell> =
            columns.iter().map(|_| PastCell { mark: None, title: String::new() }).collect();
        for (column, outcome) in &found {
            let mark = Mark::of(Some(*outcome));
            let title =
                format!("{} {}, run {}", mark.word(), began(columns[*column]), columns[*column].short);
            cells[*column] = PastCell { mark: Some(mark), title };
        }
        PastRow {
            name: id.to_string(),
            changes: found.len() - failures,
            failures,
            last: found.last().map_or_else(String::new, |(column, _)| began(columns[*column])),
            cells,
        }
    };
    let rows = resources.into_iter().take(MAX_ROWS).map(row).collect();
    let run_row = |run: &PastRun<'_>| RunRow {
        mark: mark_of(run.run.summary.as_ref()),
        began: began(run),
        short: run.short.to_owned(),
        duration: run
            .run
            .summary
            .as_ref()
            .map_or_else(String::new, |summary| display_duration(summary.duration)),
        by: run.run.started_by().map_or_else(String::new, ccm_model::StartedBy::short_label),
        manifest: run.run.manifest().to_owned(),
        sentence: run.run.counts_text(Screen::default()).unwrap_or_else(|| "unfinished".to_owned()),
    };
    let page = MachinePage {
        title: format!("{} – ccm history", if machine.is_empty() { "This machine" } else { &machine }),
        sentence: format!(
            "{}, {} that changed or failed",
            counted(past.runs.len(), "recorded run"),
            counted(count, "resource")
        ),
        machine,
        rows,
        more_rows: count.checked_sub(MAX_ROWS + 1).map(|more| counted(more + 1, "more resource")),
        first: columns.first().map_or_else(String::new, |run| began(run)),
        last: columns.last().map_or_else(String::new, |run| began(run)),
        runs: past.runs.iter().map(run_row).collect(),
        version: env!("CARGO_PKG_VERSION"),
    };
    render("machine.html", &page)
}

fn mark_of(summary: Option<&StoredSummary>) -> Mark {
    match summary.map(StoredSummary::outcome) {
        Some(RunOutcome::Unchanged) => Mark::Same,
        Some(RunOutcome::Changed) => Mark::Changed,
        Some(RunOutcome::Failed | RunOutcome::Refused) => Mark::Failed,
        Some(RunOutcome::Stopped) => Mark::Unmet,
        None => Mark::Open,
    }
}
