//! Summary at the end of the text report.

use std::fmt::{self, Write as _};

use ccm_model::{
    CancelledRefresh, Counts, PendingCause, PendingRefresh, RefreshSummary, ResourceId, RunSummary,
    display_duration, display_timestamp, escape_control,
};

use super::layout::{below, few, name};

/// Writes the summary of a run. It repeats the failed resources, which may be far above.
pub(super) fn write(
    out: &mut String,
    run: &RunSummary,
    failed: &[ResourceId],
    is_record: bool,
) -> fmt::Result {
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
        writeln!(out, "  {cause}")?;
    }
    failed.iter().try_for_each(|id| writeln!(out, "  failed: {}", name(id)))?;
    refreshes(out, &run.refreshes, run.noop, is_record)
}

/// Writes the pending and cancelled refreshes, and the next step.
fn refreshes(out: &mut String, refreshes: &RefreshSummary, noop: bool, is_record: bool) -> fmt::Result {
    for unfinished in &refreshes.pending {
        let mut line = pending_line(&unfinished.subscriber, &unfinished.refresh);
        // In noop, all pending refreshes have this cause.
        if unfinished.cause != (PendingCause::Noop { blocked_by: None }) {
            line += &format!("; {}", unfinished.cause);
        }
        writeln!(out, "  {}", escape_control(&line))?;
    }
    let total = refreshes.pending.len();
    let for_next = refreshes.pending.iter().filter(|unfinished| unfinished.cause.is_for_next_run());
    let next = for_next.clone().count();
    // A later run may have done the refreshes of a recorded run.
    if total > 0 && !is_record {
        let run = if noop { "a run" } else { "the next run of the manifest" };
        match next {
            0 => writeln!(out, "  `ccm status --pending` lists the pending refreshes"),
            _ if next == total => {
                writeln!(out, "  {run} does the pending refreshes; `ccm status --pending` lists them")
            }
            _ => {
                let mut names: Vec<String> =
                    for_next.map(|unfinished| name(&unfinished.subscriber)).collect();
                names.dedup();
                let names = few(&names);
                writeln!(out, "  {run} refreshes {names}; `ccm status --pending` lists the pending refreshes")
            }
        }?;
    }
    if let Some(damage) = &refreshes.damage {
        writeln!(out, "  {}; every refresh of this manifest counted as pending", escape_control(damage))?;
    }
    for cancelled in &refreshes.cancelled {
        let CancelledRefresh { subscriber, refresh, .. } = cancelled;
        let why = cancelled.explanation();
        let more = if noop { "no longer pending after a run" } else { "no longer pending" };
        let (subscriber, source) = (name(subscriber), name(&refresh.source));
        let why = escape_control(&why);
        writeln!(out, "  {more}: the refresh of {subscriber} that {source} triggered: {why}")?;
    }
    if let [first, rest @ ..] = &refreshes.unwritten[..] {
        writeln!(out, "  {}; the next run may repeat refreshes of this run", escape_control(first))?;
        rest.iter().try_for_each(|layer| writeln!(out, "    caused by: {}", escape_control(layer)))?;
    }
    Ok(())
}

/// Returns a line about a pending refresh.
pub fn pending_line(subscriber: &ResourceId, refresh: &PendingRefresh) -> String {
    format!("{subscriber} still needs a refresh: {}", origin(refresh))
}

/// Writes a detail about the pending refresh that triggered a resource.
pub(super) fn pending_detail(out: &mut String, refresh: &PendingRefresh) -> fmt::Result {
    below(out, if refresh.is_assumed { "" } else { "pending from an earlier run: " }, &origin(refresh))
}

/// Returns the source of a pending refresh, and the run that triggered it.
fn origin(refresh: &PendingRefresh) -> String {
    let PendingRefresh { source, run_id, since, is_assumed } = refresh;
    if *is_assumed {
        format!("{source} may have changed (counted as pending, because the ledger was damaged)")
    } else {
        // The source may have failed, or the run may have been killed before it changed anything.
        format!("triggered by {source} (run {run_id}, since {})", display_timestamp(*since, 0))
    }
}

/// Returns the counts that are not zero, in the words of the resource lines.
pub(crate) fn counted(run: &RunSummary) -> String {
    let Counts {
        total: _,
        unchanged,
        changed,
        refreshed,
        pending_changes,
        pending_refreshes,
        failed,
        unmet,
        skipped,
    } = run.counts;
    let (changes, refreshes) =
        if run.noop { ("would change", "would refresh") } else { ("changed", "refreshed") };
    let counts = [
        (unchanged, "stable"),
        (changed, changes),
        (refreshed, refreshes),
        (pending_changes, "would change"),
        (pending_refreshes, "would refresh"),
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use ccm_model::{CancelledCause, RefreshBlocker, SkipCause, UnfinishedRefresh};

    use super::*;

    #[test]
    fn pending_and_cancelled_refreshes_have_their_cause_and_next_step() {
        let id = |text: &str| ResourceId::parse(text).expect("a reference");
        let refresh = || PendingRefresh {
            source: id("file#/etc/a"),
            run_id: "01a1".to_owned(),
            since: UNIX_EPOCH,
            is_assumed: false,
        };
        let unfinished = |cause| UnfinishedRefresh { subscriber: id("exec#b"), refresh: refresh(), cause };
        let cancelled = |cause| CancelledRefresh { subscriber: id("exec#b\n"), refresh: refresh(), cause };
        let refreshes = RefreshSummary {
            pending: vec![
                unfinished(PendingCause::Failed),
                unfinished(PendingCause::from(SkipCause::NotManaged { reason: "`if` is false".to_owned() })),
                unfinished(PendingCause::from(SkipCause::DependencyFailed { culprits: vec![id("exec#c")] })),
                unfinished(PendingCause::from(SkipCause::NotSelected)),
                unfinished(PendingCause::Noop { blocked_by: None }),
                unfinished(PendingCause::Noop { blocked_by: Some(RefreshBlocker::NoopManifest) }),
                unfinished(PendingCause::NoValue),
                unfinished(PendingCause::OtherManifest { manifest: "/m.yaml".to_owned() }),
            ],
            cancelled: vec![
                cancelled(CancelledCause::NoSubscriber),
                cancelled(CancelledCause::NoSource),
                cancelled(CancelledCause::NoSubscription),
            ],
            damage: Some("the ledger /l is damaged: it has no header".to_owned()),
            unwritten: vec!["the ledger /l can't be written".to_owned(), "No space left".to_owned()],
        };
        let run = RunSummary {
            noop: false,
            duration: Duration::from_secs(1),
            counts: Counts::default(),
            stopped: None,
            message: None,
            refreshes,
        };
        let mut text = String::new();
        write(&mut text, &run, &[], false).expect("a string takes everything");
        let expected = "\
Summary: 0 resources in 1s
  exec#b still needs a refresh: triggered by file#/etc/a (run 01a1, since 1970-01-01T00:00:00Z); it failed
  exec#b still needs a refresh: triggered by file#/etc/a (run 01a1, since 1970-01-01T00:00:00Z); not managed: `if` is false; it is refreshed once it is managed
  exec#b still needs a refresh: triggered by file#/etc/a (run 01a1, since 1970-01-01T00:00:00Z); exec#c failed
  exec#b still needs a refresh: triggered by file#/etc/a (run 01a1, since 1970-01-01T00:00:00Z); not selected; a run without `--only` refreshes it
  exec#b still needs a refresh: triggered by file#/etc/a (run 01a1, since 1970-01-01T00:00:00Z)
  exec#b still needs a refresh: triggered by file#/etc/a (run 01a1, since 1970-01-01T00:00:00Z); its manifest is in noop; it is refreshed once noop is removed
  exec#b still needs a refresh: triggered by file#/etc/a (run 01a1, since 1970-01-01T00:00:00Z); a value that it needs is missing
  exec#b still needs a refresh: triggered by file#/etc/a (run 01a1, since 1970-01-01T00:00:00Z); it is for /m.yaml, which has the same name; give each manifest its own `ccm.name`
  the next run of the manifest refreshes exec#b; `ccm status --pending` lists the pending refreshes
  the ledger /l is damaged: it has no header; every refresh of this manifest counted as pending
  no longer pending: the refresh of exec#b\\n that file#/etc/a triggered: exec#b\\n is not in the manifest
  no longer pending: the refresh of exec#b\\n that file#/etc/a triggered: file#/etc/a is not in the manifest
  no longer pending: the refresh of exec#b\\n that file#/etc/a triggered: exec#b\\n does not subscribe to file#/etc/a
  the ledger /l can't be written; the next run may repeat refreshes of this run
    caused by: No space left
";
        assert_eq!(text, expected);
    }
}
