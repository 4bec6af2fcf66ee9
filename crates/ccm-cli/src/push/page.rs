//! The page of a push.

use std::time::SystemTime;

use ccm_push::EndCause;
use ccm_runtime::LocalZone;
use ccm_runtime::page::{HostOutcome, HostSetView, HostView, HostsView, PageError, hosts_page};

use super::ends::EndDetail;
use super::{PushResult, PushedHost, ends, report};

/// Returns the page. `subject` is what was pushed.
pub(super) fn text(result: &PushResult, subject: &str, began: SystemTime) -> Result<String, PageError> {
    // Sets are shown by their size, and numbered as they came.
    let sets = result.sets.by_size();
    let numbers: Vec<usize> = result
        .sets
        .iter()
        .map(|set| sets.iter().position(|shown| std::ptr::eq(*shown, set)).unwrap_or_default())
        .collect();
    let is_stopped = result.hosts.iter().any(|host| host.end.is_none());
    let view = HostsView {
        subject,
        began,
        sentence: report::totals(result),
        halted: is_stopped.then(|| report::halt_reason(result.halt)),
        is_noop: result.is_noop,
        hosts: result.hosts.iter().map(|host| host_view(host, &numbers, result.is_noop)).collect(),
        sets: sets
            .into_iter()
            .map(|set| HostSetView {
                title: report::changes_in_short(result, set),
                hosts: &set.hosts,
                transactions: &set.changes.transactions,
                output: set
                    .changes
                    .outputs
                    .iter()
                    .flat_map(|output| &output.lines)
                    .map(|line| &**line)
                    .collect(),
            })
            .collect(),
    };
    hosts_page(&view, &LocalZone::of_this_process())
}

fn host_view<'v>(host: &'v PushedHost, numbers: &[usize], is_noop: bool) -> HostView<'v> {
    let mut view = HostView {
        name: &host.name,
        outcome: HostOutcome::NotBegun,
        result: "not begun".to_owned(),
        set: None,
        details: Vec::new(),
        hints: Vec::new(),
        codes: &[],
        version: None,
        run_id: None,
    };
    let Some(end) = &host.end else { return view };
    view.outcome = match &end.cause {
        EndCause::Ran(0) if end.has_changed() => HostOutcome::Changed,
        EndCause::Ran(0) => HostOutcome::Unchanged,
        EndCause::Unreachable => HostOutcome::Unreachable,
        _ => HostOutcome::Failed,
    };
    view.result = ends::in_short(end, is_noop);
    view.set = end.set.and_then(|set| numbers.get(set).copied());
    view.codes = &end.codes;
    view.version = end.version.as_deref();
    view.run_id = end.run_id.as_deref();
    if !matches!(end.cause, EndCause::Ran(_)) {
        view.details.push(ends::without_run(&end.cause));
        for detail in ends::details(end) {
            match detail {
                EndDetail::Line(line) => view.details.push(line),
                EndDetail::Hint(hint) => view.hints.push(hint),
            }
        }
        view.hints.extend(ends::hint(&end.cause, host));
    }
    view
}
