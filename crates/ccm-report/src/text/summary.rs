//! The end of the text report.

use std::fmt::{self, Write as _};

use ccm_model::{Counts, ResourceId, RunSummary, StopCause, display_duration};

use super::layout::name;

/// Writes what a run amounted to, so that the end of a long report is enough to know.
pub(crate) fn write(out: &mut String, run: &RunSummary, failed: &[ResourceId]) -> fmt::Result {
    let Counts { total, .. } = run.counts;
    let noun = if total == 1 { "resource" } else { "resources" };
    write!(out, "Summary: {total} {noun} in {}", display_duration(run.duration))?;
    let counts = counted(run);
    if !counts.is_empty() {
        write!(out, ": {counts}")?;
    }
    writeln!(out)?;
    if run.noop {
        writeln!(out, "  noop: nothing was changed")?;
    }
    if let Some(cause) = &run.stopped {
        writeln!(out, "  {}", stopped(cause))?;
    }
    failed.iter().try_for_each(|id| writeln!(out, "  failed: {}", name(id)))
}

/// The counts that are not zero, with the words that the lines above used.
pub(crate) fn counted(run: &RunSummary) -> String {
    let Counts { total: _, unchanged, changed, refreshed, pending, failed, unmet, skipped } = run.counts;
    let (changes, refreshes) =
        if run.noop { ("would change", "would refresh") } else { ("changed", "refreshed") };
    let counts = [
        (unchanged, "stable"),
        (changed, changes),
        (refreshed, refreshes),
        (pending, "would change"),
        (failed, "failed"),
        (unmet, "unmet"),
        (skipped, "skipped"),
    ];
    let shown: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    shown.join(", ")
}

/// Says what ended a run before its end.
pub(crate) fn stopped(cause: &StopCause) -> String {
    match cause {
        StopCause::Failed { culprit } => {
            format!("the run was stopped because {} failed (fail_on_error)", name(culprit))
        }
        StopCause::Signal { name, .. } => format!("the run was stopped by {name}"),
        StopCause::Timeout { after } => {
            format!("the run was stopped after {}, the time it was given", display_duration(*after))
        }
    }
}
