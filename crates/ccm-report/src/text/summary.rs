//! The end of the text report.

use std::fmt::{self, Write as _};

use ccm_model::{
    Counts, OwedCause, OwedRefresh, Refreshes, ResourceId, RunSummary, SettledCause, SettledRefresh,
    SkipCause, StopCause, display_duration, display_timestamp, escape_control,
};

use super::layout::{below, name};
use super::resource::skipped;

/// Writes what a run amounted to, so that the end of a long report is enough to know.
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
        writeln!(out, "  {}", stopped(cause))?;
    }
    failed.iter().try_for_each(|id| writeln!(out, "  failed: {}", name(id)))?;
    refreshes(out, &run.refreshes, run.noop, is_record)
}

/// Writes what became of owed refreshes, and what comes next.
fn refreshes(out: &mut String, refreshes: &Refreshes, noop: bool, is_record: bool) -> fmt::Result {
    for still in &refreshes.owed {
        let (line, why) = (owed_line(&still.subscriber, &still.refresh), owed_cause(&still.cause));
        let separator = if why.is_empty() { "" } else { "; " };
        writeln!(out, "  {}{separator}{}", escape_control(&line), escape_control(&why))?;
    }
    let total = refreshes.owed.len();
    let next = refreshes.owed.iter().filter(|still| still.cause.is_for_next_run()).count();
    // Later runs may have done what is in a record.
    if total > 0 && !is_record {
        let run = if noop { "a run" } else { "the next run of the manifest" };
        match next {
            0 => writeln!(out, "  `ccm status --pending` lists what is owed"),
            _ if next == total => writeln!(out, "  {run} does what is owed; `ccm status --pending` lists it"),
            _ => writeln!(out, "  {run} does {next} of these; `ccm status --pending` lists what is owed"),
        }?;
    }
    if let Some(damage) = &refreshes.damage {
        writeln!(out, "  {}; every refresh of this manifest counted as owed", escape_control(damage))?;
    }
    for settled in &refreshes.settled {
        let SettledRefresh { subscriber, refresh, .. } = settled;
        let why = settled_cause(settled);
        let more = if noop { "owed no more after a run" } else { "owed no more" };
        let (subscriber, source) = (name(subscriber), name(&refresh.source));
        let why = escape_control(&why);
        writeln!(out, "  {more}: the refresh of {subscriber} that {source} asked for: {why}")?;
    }
    if let [first, rest @ ..] = &refreshes.unwritten[..] {
        writeln!(out, "  {}; what was refreshed may be refreshed again", escape_control(first))?;
        rest.iter().try_for_each(|layer| writeln!(out, "    caused by: {}", escape_control(layer)))?;
    }
    Ok(())
}

/// Says that a refresh is owed, and since when.
pub fn owed_line(subscriber: &ResourceId, refresh: &OwedRefresh) -> String {
    format!("{subscriber} has still to be refreshed: {}", origin(refresh))
}

/// Says on the line of a resource that its refresh is owed.
pub(super) fn owed_before(out: &mut String, refresh: &OwedRefresh) -> fmt::Result {
    below(out, if refresh.is_assumed { "" } else { "owed from an earlier run: " }, &origin(refresh))
}

/// From when a refresh is owed.
fn origin(refresh: &OwedRefresh) -> String {
    let OwedRefresh { source, run_id, since, is_assumed } = refresh;
    if *is_assumed {
        format!("{source} may have changed (counted as owed, because the ledger was damaged)")
    } else {
        format!("{source} changed (run {run_id}, since {})", display_timestamp(*since, 0))
    }
}

/// Why a refresh that is owed was not done.
pub(crate) fn owed_cause(cause: &OwedCause) -> String {
    match cause {
        OwedCause::Failed => "it failed".to_owned(),
        OwedCause::Skipped { skip: cause @ SkipCause::NotManaged { .. }, .. } => {
            format!("{}; a run does it once it is managed", skipped(cause))
        }
        OwedCause::Skipped { skip: SkipCause::NotSelected, .. } => {
            "not selected; a run without `--only` does it".to_owned()
        }
        OwedCause::Skipped { skip: SkipCause::Unknown, .. } => "it was skipped".to_owned(),
        OwedCause::Skipped { skip, .. } => skipped(skip),
        // Of a run that does nothing it needs no word for each.
        OwedCause::Noop { kept_by: None } => String::new(),
        OwedCause::Noop { .. } => "its manifest is in noop; a run does it once that is not so".to_owned(),
        OwedCause::NoValue => "a value it needs is not there".to_owned(),
        OwedCause::OtherManifest { manifest } => {
            format!("it is for {manifest}, which has the same name; give each manifest its own `ccm.name`")
        }
    }
}

/// Why a refresh need not be done any more.
pub(crate) fn settled_cause(settled: &SettledRefresh) -> String {
    let (subscriber, source) = (&settled.subscriber, &settled.refresh.source);
    match settled.cause {
        SettledCause::NoSubscriber => format!("{subscriber} is not in the manifest"),
        SettledCause::NoSource => format!("{source} is not in the manifest"),
        SettledCause::NoSubscription => format!("{subscriber} does not subscribe to {source}"),
    }
}

/// The counts that are not zero, with the words that the lines above used.
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use ccm_model::{KeptBy, StillOwed};

    use super::*;

    #[test]
    fn what_became_of_owed_refreshes_is_said_with_its_reason_and_what_comes_next() {
        let id = |text: &str| ResourceId::parse(text).expect("a reference");
        let refresh = || OwedRefresh {
            source: id("file#/etc/a"),
            run_id: "01a1".to_owned(),
            since: UNIX_EPOCH,
            is_assumed: false,
        };
        let still = |cause| StillOwed { subscriber: id("exec#b"), refresh: refresh(), cause };
        let settled = |cause| SettledRefresh { subscriber: id("exec#b\n"), refresh: refresh(), cause };
        let refreshes = Refreshes {
            owed: vec![
                still(OwedCause::Failed),
                still(OwedCause::from(SkipCause::NotManaged { reason: "`if` is false".to_owned() })),
                still(OwedCause::from(SkipCause::Unmet { culprits: vec![id("exec#c")] })),
                still(OwedCause::from(SkipCause::NotSelected)),
                still(OwedCause::Noop { kept_by: None }),
                still(OwedCause::Noop { kept_by: Some(KeptBy::NoopManifest) }),
                still(OwedCause::NoValue),
                still(OwedCause::OtherManifest { manifest: "/m.yaml".to_owned() }),
            ],
            settled: vec![
                settled(SettledCause::NoSubscriber),
                settled(SettledCause::NoSource),
                settled(SettledCause::NoSubscription),
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
  exec#b has still to be refreshed: file#/etc/a changed (run 01a1, since 1970-01-01T00:00:00Z); it failed
  exec#b has still to be refreshed: file#/etc/a changed (run 01a1, since 1970-01-01T00:00:00Z); not managed: `if` is false; a run does it once it is managed
  exec#b has still to be refreshed: file#/etc/a changed (run 01a1, since 1970-01-01T00:00:00Z); exec#c failed
  exec#b has still to be refreshed: file#/etc/a changed (run 01a1, since 1970-01-01T00:00:00Z); not selected; a run without `--only` does it
  exec#b has still to be refreshed: file#/etc/a changed (run 01a1, since 1970-01-01T00:00:00Z)
  exec#b has still to be refreshed: file#/etc/a changed (run 01a1, since 1970-01-01T00:00:00Z); its manifest is in noop; a run does it once that is not so
  exec#b has still to be refreshed: file#/etc/a changed (run 01a1, since 1970-01-01T00:00:00Z); a value it needs is not there
  exec#b has still to be refreshed: file#/etc/a changed (run 01a1, since 1970-01-01T00:00:00Z); it is for /m.yaml, which has the same name; give each manifest its own `ccm.name`
  the next run of the manifest does 4 of these; `ccm status --pending` lists what is owed
  the ledger /l is damaged: it has no header; every refresh of this manifest counted as owed
  owed no more: the refresh of exec#b\\n that file#/etc/a asked for: exec#b\\n is not in the manifest
  owed no more: the refresh of exec#b\\n that file#/etc/a asked for: file#/etc/a is not in the manifest
  owed no more: the refresh of exec#b\\n that file#/etc/a asked for: exec#b\\n does not subscribe to file#/etc/a
  the ledger /l can't be written; what was refreshed may be refreshed again
    caused by: No space left
";
        assert_eq!(text, expected);
    }
}
