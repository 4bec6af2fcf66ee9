//! Lines of the text report about refreshes: pending ones, cancelled ones, and the ledger.

use std::fmt;

use ccm_host::LocalZone;
use ccm_model::{
    CancelledRefresh, PendingCause, PendingRefresh, RefreshSummary, ResourceId, SkipCause, UnfinishedRefresh,
    escape_control,
};

use super::layout::{DIM, FAILURE, PLAIN, Page, WARNING, few, name};
use super::options::short_id;
use super::summary::Remembered;

/// Indentation of a line about the whole run.
const INDENT: usize = 2;

/// Writes the pending and cancelled refreshes, and the next step.
pub(super) fn write(
    page: &mut Page<'_>,
    refreshes: &RefreshSummary,
    remembered: &Remembered,
    (noop, is_record): (bool, bool),
) -> fmt::Result {
    for UnfinishedRefresh { subscriber, refresh, cause } in &refreshes.pending {
        // The report says above that the source changed nothing.
        let mut line = if remembered.is_of_unchanged_failure(refresh) {
            format!("{subscriber} still needs a refresh: {} failed {}", refresh.source, run_and_time(refresh))
        } else if remembered.is_of_change(refresh) {
            format!(
                "{subscriber} still needs a refresh: {} changed {}",
                refresh.source,
                run_and_time(refresh)
            )
        } else {
            pending_line(subscriber, refresh)
        };
        // In noop, all pending refreshes have this cause.
        let is_said = matches!(cause, PendingCause::Noop { blocked_by: None })
            || remembered.is_of_unchanged_failure(refresh) && is_failure_of(cause, &refresh.source);
        if !is_said {
            line += &format!("; {cause}");
        }
        page.text(WARNING, INDENT, &escape_control(&line))?;
    }
    let total = refreshes.pending.len();
    let for_next = refreshes.pending.iter().filter(|unfinished| unfinished.cause.is_for_next_run());
    let next = for_next.clone().count();
    // A later run may have done the refreshes of a recorded run.
    if total > 0 && !is_record {
        let run = if noop { "a run" } else { "the next run of the manifest" };
        let line = match next {
            0 => "`ccm status --pending` lists the pending refreshes".to_owned(),
            _ if next == total => {
                format!("{run} does the pending refreshes; `ccm status --pending` lists them")
            }
            _ => {
                let mut names: Vec<String> =
                    for_next.map(|unfinished| name(&unfinished.subscriber)).collect();
                names.dedup();
                format!("{run} refreshes {}; `ccm status --pending` lists the pending refreshes", few(&names))
            }
        };
        page.text(DIM, INDENT, &line)?;
    }
    if let Some(damage) = &refreshes.damage {
        let damage = escape_control(damage);
        page.text(WARNING, INDENT, &format!("{damage}; every refresh of this manifest counted as pending"))?;
    }
    for cancelled in &refreshes.cancelled {
        let CancelledRefresh { subscriber, refresh, .. } = cancelled;
        let why = cancelled.explanation();
        let more = if noop { "no longer pending after a run" } else { "no longer pending" };
        let (subscriber, source) = (name(subscriber), name(&refresh.source));
        let why = escape_control(&why);
        let line = format!("{more}: the refresh of {subscriber} that {source} triggered: {why}");
        page.text(PLAIN, INDENT, &line)?;
    }
    if let [first, rest @ ..] = &refreshes.unwritten[..] {
        let first = escape_control(first);
        page.text(FAILURE, INDENT, &format!("{first}; the next run may repeat refreshes of this run"))?;
        for layer in rest {
            page.text(PLAIN, INDENT * 2, &format!("caused by: {}", escape_control(layer)))?;
        }
    }
    Ok(())
}

/// Returns a line about a pending refresh.
pub fn pending_line(subscriber: &ResourceId, refresh: &PendingRefresh) -> String {
    format!("{subscriber} still needs a refresh: {}", origin(refresh))
}

/// Writes a detail about the pending refresh that triggered a resource.
pub(super) fn pending_detail(page: &mut Page<'_>, refresh: &PendingRefresh) -> fmt::Result {
    page.below(if refresh.is_assumed { "" } else { "pending from an earlier run: " }, &origin(refresh))
}

/// Returns the source of a pending refresh, and the run that triggered it. The source may have failed, or the
/// run may have been killed before it changed anything.
fn origin(refresh: &PendingRefresh) -> String {
    let PendingRefresh { source, is_assumed, .. } = refresh;
    if *is_assumed {
        format!("{source} may have changed (counted as pending, because the ledger was damaged)")
    } else {
        format!("{source} may have changed {}", run_and_time(refresh))
    }
}

/// Returns the run that triggered a refresh, and the time, in parentheses.
fn run_and_time(refresh: &PendingRefresh) -> String {
    let PendingRefresh { run_id, since, .. } = refresh;
    format!("(run {}, {})", short_id(run_id, &[]), LocalZone::of_this_process().display(*since))
}

/// Returns `true` if a refresh is pending because this resource alone failed.
fn is_failure_of(cause: &PendingCause, source: &ResourceId) -> bool {
    let PendingCause::Skipped { skip: SkipCause::DependencyFailed { culprits }, .. } = cause else {
        return false;
    };
    culprits.iter().all(|culprit| culprit == source)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use ccm_model::{CancelledCause, RefreshBlocker};

    use super::*;
    use crate::screen::Screen;

    #[test]
    fn pending_and_cancelled_refreshes_have_their_cause_and_next_step() {
        let id = |text: &str| ResourceId::parse(text).expect("a reference");
        let refresh = || PendingRefresh {
            source: id("file#/etc/a"),
            run_id: "01a200c1-277e-7000-99d1-4c221e08d6d6".to_owned(),
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
                unfinished(PendingCause::from(SkipCause::Excluded)),
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
        let mut out = String::new();
        let mut page = Page { out: &mut out, screen: Screen::default() };
        write(&mut page, &refreshes, &Remembered::default(), (false, false))
            .expect("a string takes everything");
        let since = LocalZone::of_this_process().display(UNIX_EPOCH);
        let text =
            crate::text::without_colours(&out).replace(&format!("(run 01a200c1-277e, {since})"), "(…)");
        let expected = "  \
exec#b still needs a refresh: file#/etc/a may have changed (…); it failed
  exec#b still needs a refresh: file#/etc/a may have changed (…); not managed: `if` is false; it is refreshed once it is managed
  exec#b still needs a refresh: file#/etc/a may have changed (…); exec#c failed
  exec#b still needs a refresh: file#/etc/a may have changed (…); not selected; a run without `--only` refreshes it
  exec#b still needs a refresh: file#/etc/a may have changed (…); excluded by `--skip`; a run without that option refreshes it
  exec#b still needs a refresh: file#/etc/a may have changed (…)
  exec#b still needs a refresh: file#/etc/a may have changed (…); its manifest is in noop; it is refreshed once noop is removed
  exec#b still needs a refresh: file#/etc/a may have changed (…); a value that it needs is missing
  exec#b still needs a refresh: file#/etc/a may have changed (…); it is for /m.yaml, which has the same name; give each manifest its own `ccm.name`
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

    #[test]
    fn a_source_of_this_run_has_changed_or_failed() {
        let id = |text: &str| ResourceId::parse(text).expect("a reference");
        let failed = Remembered {
            failed_unchanged: vec![id("exec#source")],
            run_id: "01a200c1-277e-7000-99d1-4c221e08d6d6".to_owned(),
            ..Remembered::default()
        };
        let mut remembered = failed.clone();
        let line = |remembered: &Remembered, run_id: &str, culprit: &str| {
            let refresh = PendingRefresh {
                source: id("exec#source"),
                run_id: run_id.to_owned(),
                since: UNIX_EPOCH,
                is_assumed: false,
            };
            let cause = PendingCause::from(SkipCause::DependencyFailed { culprits: vec![id(culprit)] });
            let pending = vec![UnfinishedRefresh { subscriber: id("exec#b"), refresh, cause }];
            let refreshes = RefreshSummary { pending, ..RefreshSummary::default() };
            let mut out = String::new();
            let mut page = Page { out: &mut out, screen: Screen::default() };
            write(&mut page, &refreshes, remembered, (false, true)).expect("a string takes everything");
            let text = crate::text::without_colours(&out);
            let since = LocalZone::of_this_process().display(UNIX_EPOCH);
            text.trim().replace(&format!(", {since})"), ")").replace("exec#b still needs a refresh: ", "")
        };
        let (this, earlier) = (&*failed.run_id, "01a1f722-7c2e-7000-99d1-4c221e08d6d6");
        remembered.changed.insert(id("exec#source"));
        remembered.failed_unchanged.clear();
        assert_eq!(
            line(&remembered, this, "exec#other"),
            "exec#source changed (run 01a200c1-277e); exec#other failed"
        );
        let line = |run_id: &str, culprit: &str| line(&failed, run_id, culprit);
        assert_eq!(line(this, "exec#source"), "exec#source failed (run 01a200c1-277e)");
        assert_eq!(line(this, "exec#other"), "exec#source failed (run 01a200c1-277e); exec#other failed");
        assert_eq!(
            line(earlier, "exec#source"),
            "exec#source may have changed (run 01a1f722-7c2e); exec#source failed"
        );
    }
}
