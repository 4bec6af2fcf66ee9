//! Comparison with the run before.

use std::collections::HashMap;

use ccm_model::ResourceId;
use ccm_report::{EarlierRun, RecordedOutcome, RunGraph};
use serde::Serialize;

use super::Run;
use crate::card::Link;

/// Maximum number of resources that are listed.
const MAX_LISTED: usize = 200;

/// Resources that differ from the run before.
#[derive(Serialize)]
pub(super) struct Comparison {
    short: String,
    began: String,
    appeared: Vec<Link>,
    gone: Vec<String>,
    /// Changed or refreshed in both runs, which may mean that something changes them back.
    again: Vec<Link>,
    /// Failed in both runs.
    still: Vec<Link>,
    /// Failed in the run before, and did not in this one.
    mended: Vec<Link>,
}

impl Comparison {
    pub(super) fn of(run: &Run<'_>) -> Option<Self> {
        let EarlierRun { run: earlier, short, graph } = run.view.earlier.as_ref()?;
        let before = outcomes(graph);
        let now = outcomes(&run.view.graph);
        let links = |chosen: &dyn Fn(Option<RecordedOutcome>, Option<Option<RecordedOutcome>>) -> bool| {
            let nodes = run.view.graph.nodes.iter().enumerate();
            let chosen = nodes.filter(|(_, node)| {
                chosen(now.get(&node.id).copied().flatten(), before.get(&node.id).copied())
            });
            chosen.take(MAX_LISTED).map(|(at, _)| run.link(at)).collect::<Vec<_>>()
        };
        let is_change =
            |outcome| matches!(outcome, Some(RecordedOutcome::Changed | RecordedOutcome::Refreshed));
        let has_failed = |outcome| outcome == Some(RecordedOutcome::Failed);
        let gone = graph.nodes.iter().filter(|node| !now.contains_key(&node.id));
        Some(Self {
            short: (*short).to_owned(),
            began: earlier.began().map_or_else(|| "?".to_owned(), |began| run.zone.display(began)),
            appeared: links(&|_, before| before.is_none()),
            gone: gone.take(MAX_LISTED).map(|node| node.id.to_string()).collect(),
            again: links(&|now, before| is_change(now) && is_change(before.flatten())),
            still: links(&|now, before| has_failed(now) && has_failed(before.flatten())),
            mended: links(&|now, before| !has_failed(now) && now.is_some() && has_failed(before.flatten())),
        })
    }
}

fn outcomes(graph: &RunGraph) -> HashMap<&ResourceId, Option<RecordedOutcome>> {
    let outcome = |node: &ccm_report::RecordedNode| node.result.as_ref().map(|result| result.outcome);
    graph.nodes.iter().map(|node| (&node.id, outcome(node))).collect()
}
