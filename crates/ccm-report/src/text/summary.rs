//! Summary at the end of the text report.

use std::collections::HashSet;
use std::fmt::{self, Write as _};

use ccm_model::{CheckCounts, Counts, PendingRefresh, ResourceId, RunSummary, display_duration};

use super::layout::{DIM, FAILURE, PLAIN, Page, WARNING, few, name};
use super::refreshes;
use super::tally::Tally;
use crate::counts::{self, CountedGroup};
use crate::screen::columns;

/// What the report of a run remembers for its summary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remembered {
    /// Counts by verb.
    pub tally: Tally,
    /// Failed resources, which may be far above.
    pub failed: Vec<ResourceId>,
    /// Failed resources that changed nothing.
    pub failed_unchanged: Vec<ResourceId>,
    /// Changed resources, also those that failed after that.
    pub changed: HashSet<ResourceId>,
    /// Resources that the run did not reach before it was stopped from outside.
    pub not_reached: Vec<ResourceId>,
    /// Id of the run; empty if it is unknown.
    pub run_id: String,
}

impl Remembered {
    /// Returns `true` if the source of a refresh was changed in this run.
    pub(super) fn is_of_change(&self, refresh: &PendingRefresh) -> bool {
        !refresh.is_assumed && refresh.run_id == self.run_id && self.changed.contains(&refresh.source)
    }

    /// Returns `true` if the source of a refresh failed in this run and changed nothing.
    pub(super) fn is_of_unchanged_failure(&self, refresh: &PendingRefresh) -> bool {
        !refresh.is_assumed
            && refresh.run_id == self.run_id
            && self.failed_unchanged.contains(&refresh.source)
    }
}

/// Writes the summary of a run. `run_id` is the short id of the run, if it is recorded.
pub(super) fn write(
    page: &mut Page<'_>,
    run: &RunSummary,
    remembered: &Remembered,
    is_record: bool,
    run_id: Option<&str>,
) -> fmt::Result {
    let Remembered { tally, failed, not_reached, .. } = remembered;
    refreshes::write(page, &run.refreshes, remembered, (run.noop, is_record))?;
    let listed = |ids: &[ResourceId]| few(&ids.iter().map(name).collect::<Vec<_>>());
    if let Some(cause) = &run.stopped {
        page.text(WARNING, 2, &cause.to_string())?;
    }
    if !not_reached.is_empty() {
        page.text(PLAIN, 2, &format!("not reached: {}", listed(not_reached)))?;
    }
    if !failed.is_empty() {
        page.text(FAILURE, 2, &format!("failed: {}", listed(failed)))?;
    }
    if let Some(checks) = checks(run) {
        let CheckCounts { warning, critical, unknown, .. } = run.checks;
        let style = match (critical + unknown, warning) {
            (0, 0) => DIM,
            (0, _) => WARNING,
            _ => FAILURE,
        };
        page.text(style, 2, &checks)?;
    }
    let Counts { total, .. } = run.counts;
    let noun = if total == 1 { "resource" } else { "resources" };
    let mut line = format!("{total} {noun} in {}", display_duration(run.duration));
    if run.monitor_only {
        line += ", only health checks";
    }
    let counts = tally.counted(run);
    if !counts.is_empty() {
        line += &format!(": {counts}");
    }
    let style = if run.counts.failed + run.counts.unmet > 0 { FAILURE } else { PLAIN };
    let with_id = run_id.map_or_else(|| line.clone(), |run_id| format!("{line} (run {run_id})"));
    if page.screen.width.is_some_and(|width| columns(&with_id) > width) {
        return page.text(style, 0, &with_id);
    }
    write!(page.out, "{style}{line}{style:#}")?;
    match run_id {
        Some(run_id) => writeln!(page.out, " {DIM}(run {run_id}){DIM:#}"),
        None => writeln!(page.out),
    }
}

/// Returns the counts of health checks; `None` without health checks.
fn checks(run: &RunSummary) -> Option<String> {
    let CheckCounts { ok, warning, critical, unknown, not_run } = run.checks;
    if not_run > 0 {
        let noun = if not_run == 1 { "health check is" } else { "health checks are" };
        return Some(format!("{not_run} {noun} not run in noop"));
    }
    let counts = [(ok, "ok"), (warning, "warning"), (critical, "critical"), (unknown, "unknown")];
    let shown: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    (!shown.is_empty()).then(|| format!("health checks: {}", shown.join(", ")))
}

/// Returns the most important count, for a table without room for all: failures, then changes.
pub(crate) fn counted_briefly(run: &RunSummary) -> String {
    let of = |wanted: &[CountedGroup]| -> usize {
        counts::counted(run).filter(|(group, _)| wanted.contains(group)).map(|(_, count)| count).sum()
    };
    let total = run.counts.total;
    let groups = [
        (of(&[CountedGroup::Failed]), "failed"),
        (of(&[CountedGroup::Changed, CountedGroup::Refreshed]), "changed"),
        (of(&[CountedGroup::Unchanged]), "unchanged"),
    ];
    match groups.into_iter().find(|(count, _)| *count > 0) {
        Some((count, word)) if count == total => format!("{total} {word}"),
        Some((count, word)) => format!("{count} of {total} {word}"),
        None => format!("{total} skipped"),
    }
}

/// Returns the counts that are not zero, for the list of runs.
pub(crate) fn counted(run: &RunSummary) -> String {
    let shown = counts::counted(run).map(|(group, count)| format!("{count} {}", group.words()));
    shown.collect::<Vec<_>>().join(", ")
}
