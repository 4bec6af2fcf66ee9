//! The end of the text report.

use std::fmt::{self, Write as _};

use ccm_model::{
    Counts, OwedCause, Refreshes, ResourceId, RunSummary, SettledCause, SettledRefresh, StopCause,
    display_duration, escape_control,
};

use super::layout::name;
use super::resource::skipped;

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
    failed.iter().try_for_each(|id| writeln!(out, "  failed: {}", name(id)))?;
    refreshes(out, &run.refreshes, run.noop)
}

/// Writes what became of owed refreshes, and what comes next.
fn refreshes(out: &mut String, refreshes: &Refreshes, noop: bool) -> fmt::Result {
    for still in &refreshes.owed {
        let (subscriber, source) = (still.subscriber.to_string(), still.refresh.source.to_string());
        owed(out, &subscriber, &source, &owed_cause(&still.cause))?;
    }
    if !refreshes.owed.is_empty() {
        let next = if noop { "a run" } else { "the next run of the manifest" };
        writeln!(out, "  {next} does what is owed; `ccm status --pending` lists it")?;
    }
    for settled in &refreshes.settled {
        let SettledRefresh { subscriber, refresh, .. } = settled;
        let why = settled_cause(settled);
        writeln!(
            out,
            "  owed no more: {} to {}: {}",
            name(subscriber),
            name(&refresh.source),
            escape_control(&why)
        )?;
    }
    if let [first, rest @ ..] = &refreshes.unwritten[..] {
        writeln!(out, "  {}; what was refreshed may be refreshed again", escape_control(first))?;
        rest.iter().try_for_each(|layer| writeln!(out, "    caused by: {}", escape_control(layer)))?;
    }
    Ok(())
}

/// Writes that a refresh is owed, and why.
pub(crate) fn owed(out: &mut String, subscriber: &str, source: &str, why: &str) -> fmt::Result {
    let [subscriber, source, why] = [subscriber, source, why].map(escape_control);
    writeln!(out, "  owed: {subscriber} to {source}: {why}")
}

/// Why a refresh that is owed was not done.
pub(crate) fn owed_cause(cause: &OwedCause) -> String {
    match cause {
        OwedCause::Failed => "it failed".to_owned(),
        OwedCause::Skipped(cause) => skipped(cause),
        OwedCause::Noop => "it is in noop".to_owned(),
        OwedCause::NoValue => "a value it needs is not there".to_owned(),
        OwedCause::OtherManifest(manifest) => {
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use ccm_model::{OwedRefresh, SkipCause, StillOwed};

    use super::*;

    #[test]
    fn what_became_of_owed_refreshes_is_said_with_its_reason_and_what_comes_next() {
        let id = |text: &str| ResourceId::parse(text).expect("a reference");
        let refresh =
            || OwedRefresh { source: id("file#/etc/a"), run_id: "01a1".to_owned(), since: UNIX_EPOCH };
        let still = |cause| StillOwed { subscriber: id("exec#b"), refresh: refresh(), cause };
        let settled = |cause| SettledRefresh { subscriber: id("exec#b\n"), refresh: refresh(), cause };
        let refreshes = Refreshes {
            owed: vec![
                still(OwedCause::Failed),
                still(OwedCause::Skipped(SkipCause::NotManaged { reason: "`if` is false".to_owned() })),
                still(OwedCause::Skipped(SkipCause::Unmet { culprits: vec![id("exec#c")] })),
                still(OwedCause::Noop),
                still(OwedCause::NoValue),
                still(OwedCause::OtherManifest("/m.yaml".to_owned())),
            ],
            settled: vec![
                settled(SettledCause::NoSubscriber),
                settled(SettledCause::NoSource),
                settled(SettledCause::NoSubscription),
            ],
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
        write(&mut text, &run, &[]).expect("a string takes everything");
        let expected = "\
Summary: 0 resources in 1s
  owed: exec#b to file#/etc/a: it failed
  owed: exec#b to file#/etc/a: not managed: `if` is false
  owed: exec#b to file#/etc/a: exec#c failed
  owed: exec#b to file#/etc/a: it is in noop
  owed: exec#b to file#/etc/a: a value it needs is not there
  owed: exec#b to file#/etc/a: it is for /m.yaml, which has the same name; give each manifest its own `ccm.name`
  the next run of the manifest does what is owed; `ccm status --pending` lists it
  owed no more: exec#b\\n to file#/etc/a: exec#b\\n is not in the manifest
  owed no more: exec#b\\n to file#/etc/a: file#/etc/a is not in the manifest
  owed no more: exec#b\\n to file#/etc/a: exec#b\\n does not subscribe to file#/etc/a
  the ledger /l can't be written; what was refreshed may be refreshed again
    caused by: No space left
";
        assert_eq!(text, expected);
    }
}
