//! Resources that neither changed nor failed, by their reasons.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Run;
use crate::card::Link;
use crate::outcome::Mark;
use crate::text::counted;

/// Maximum number of resources of a reason that are listed.
const MAX_LISTED: usize = 2000;

#[derive(Serialize)]
struct RestReason {
    reason: String,
    count: String,
    links: Vec<Link>,
    /// Resources that are not listed.
    more: Option<String>,
}

/// Resources with one outcome.
#[derive(Serialize)]
pub(super) struct RestGroup {
    mark: Mark,
    word: &'static str,
    count: usize,
    is_open: bool,
    reasons: Vec<RestReason>,
}

pub(super) fn groups(run: &Run<'_>) -> Vec<RestGroup> {
    let marks = [Mark::Unmet, Mark::Open, Mark::Skipped, Mark::Same];
    let mut by_mark: BTreeMap<Mark, BTreeMap<String, Vec<usize>>> = BTreeMap::new();
    for at in run.order() {
        let mark = run.mark(at);
        if marks.contains(&mark) {
            by_mark.entry(mark).or_default().entry(reason(run, at, mark)).or_default().push(at);
        }
    }
    let group = |(mark, reasons): (Mark, BTreeMap<String, Vec<usize>>)| RestGroup {
        mark,
        word: mark.word(),
        count: reasons.values().map(Vec::len).sum(),
        is_open: mark == Mark::Unmet,
        reasons: reasons.into_iter().map(|(reason, found)| listed(run, reason, &found)).collect(),
    };
    by_mark.into_iter().map(group).collect()
}

fn listed(run: &Run<'_>, reason: String, found: &[usize]) -> RestReason {
    RestReason {
        reason,
        count: counted(found.len(), "resource"),
        links: found.iter().take(MAX_LISTED).map(|at| run.link(*at)).collect(),
        more: found.len().checked_sub(MAX_LISTED + 1).map(|more| counted(more + 1, "more resource")),
    }
}

fn reason(run: &Run<'_>, at: usize, mark: Mark) -> String {
    if let Some(skip) = run.lines.get(&at).and_then(|line| line.skip.as_deref()) {
        return skip.to_string();
    }
    let rule = run.view.graph.nodes[at].result.as_ref().and_then(|result| result.rule.as_deref());
    match (rule, mark) {
        (Some(rule), _) => rule.replace('_', " "),
        (None, Mark::Open) => "the run ended before".to_owned(),
        (None, Mark::Same) => "in the requested state".to_owned(),
        (None, _) => "no reason is recorded".to_owned(),
    }
}
