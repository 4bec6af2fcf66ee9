//! Page of a run.

mod cards;
mod comparison;
mod head;
mod rest;
mod strip;
mod timeline;

use std::collections::HashMap;

use ccm_host::LocalZone;
use ccm_model::{EventLine, ResourceId, SummaryLine, TransactionLine};
use ccm_report::{RecordedCheck, RunView};
use serde::Serialize;

use crate::card::{Card, Link};
use crate::door::{PageError, render};
use crate::outcome::Mark;
use crate::picture::Drawing;
use crate::text::anchor;
use comparison::Comparison;
use head::Head;
use rest::RestGroup;
use strip::Strip;
use timeline::Timeline;

/// Fact or value of the data.
#[derive(Serialize)]
struct UsedValue<'v> {
    name: &'v str,
    value: &'v str,
    is_secret: bool,
}

#[derive(Serialize)]
struct CheckRow {
    status: &'static str,
    mark: Mark,
    resource: String,
    name: String,
    output: String,
    tries: u64,
    duration: String,
    values: Vec<String>,
}

#[derive(Serialize)]
struct PendingRow {
    resource: String,
    message: String,
}

#[derive(Serialize)]
struct RunPage<'v> {
    title: String,
    head: Head,
    strip: Strip,
    cards: Vec<Card>,
    more_cards: Vec<Link>,
    timeline: Option<Timeline>,
    drawing: Option<Drawing>,
    pending: Vec<PendingRow>,
    checks: Vec<CheckRow>,
    rest: Vec<RestGroup>,
    facts: Vec<UsedValue<'v>>,
    data: Vec<UsedValue<'v>>,
    comparison: Option<Comparison>,
    errors: Vec<&'v str>,
    version: String,
}

/// The run, with positions of what its parts name.
struct Run<'v> {
    view: &'v RunView<'v>,
    zone: &'v LocalZone,
    positions: HashMap<&'v ResourceId, usize>,
    /// Events by the positions of their resources.
    lines: HashMap<usize, &'v TransactionLine<'static>>,
    summary: Option<&'v SummaryLine<'static>>,
}

impl<'v> Run<'v> {
    fn new(view: &'v RunView<'v>, zone: &'v LocalZone) -> Self {
        let mut positions = HashMap::with_capacity(view.graph.nodes.len());
        for (at, node) in view.graph.nodes.iter().enumerate() {
            positions.entry(&node.id).or_insert(at);
        }
        let mut lines = HashMap::new();
        let mut summary = None;
        for event in &view.events {
            match event {
                EventLine::Transaction(line) => {
                    let id = ResourceId::new(&*line.type_name, &*line.name);
                    if let Some(at) = positions.get(&id) {
                        lines.entry(*at).or_insert(&**line);
                    }
                }
                EventLine::Summary(line) => summary = Some(&**line),
                EventLine::Start(_) => {}
            }
        }
        Self { view, zone, positions, lines, summary }
    }

    fn mark(&self, at: usize) -> Mark {
        Mark::at(&self.view.graph, at)
    }

    fn link(&self, at: usize) -> Link {
        let id = &self.view.graph.nodes[at].id;
        Link { mark: self.mark(at), anchor: anchor(id, at), name: id.to_string() }
    }

    fn link_to(&self, id: &ResourceId) -> Option<Link> {
        self.positions.get(id).map(|at| self.link(*at))
    }

    /// Returns the positions of all resources: those of the run in its order, then those that it did not reach.
    fn order(&self) -> Vec<usize> {
        let graph = &self.view.graph;
        let open = (0..graph.nodes.len()).filter(|at| graph.nodes[*at].result.is_none());
        graph.order.iter().copied().chain(open).collect()
    }

    fn checks(&self) -> Vec<CheckRow> {
        let checks = self.view.run.summary.as_ref().map_or(&[][..], |summary| &summary.health_checks);
        let row = |RecordedCheck { resource, result }: &RecordedCheck| CheckRow {
            status: result.status.as_str(),
            mark: match result.status.as_str() {
                "ok" => Mark::Same,
                "warning" => Mark::Unmet,
                _ => Mark::Failed,
            },
            resource: resource.clone(),
            name: result.name.clone(),
            output: result.output.clone(),
            tries: u64::from(result.tries),
            duration: ccm_model::display_duration(result.duration),
            values: result.values.iter().map(measured).collect(),
        };
        checks.iter().map(row).collect()
    }

    fn pending(&self) -> Vec<PendingRow> {
        let pending = self.summary.map_or(&[][..], |summary| &summary.pending);
        let row = |record: &ccm_model::PendingRefreshRecord<'_>| PendingRow {
            resource: record.pending.subscriber.to_string(),
            message: record.message.to_string(),
        };
        pending.iter().map(row).collect()
    }

    fn used(
        &self,
        values: impl Fn(&'v ccm_report::RecordedManifest) -> Vec<(&'v String, &'v String)>,
    ) -> Vec<UsedValue<'v>> {
        let all = self.view.graph.manifests.iter().flat_map(values);
        all.map(|(name, value)| UsedValue { name, value, is_secret: value.contains("[redacted]") }).collect()
    }
}

fn measured(value: &ccm_model::PerformanceValue) -> String {
    let number = value.value.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let limits = match (&value.warning, &value.critical) {
        (None, None) => String::new(),
        (warning, critical) => {
            let limit = |limit: &Option<String>| limit.clone().unwrap_or_else(|| "–".to_owned());
            format!(" (warning {}, critical {})", limit(warning), limit(critical))
        }
    };
    format!("{} {number}{}{limits}", value.label, value.unit)
}

/// Returns the page of a run.
pub fn run_page(view: &RunView<'_>, zone: &LocalZone) -> Result<String, PageError> {
    let run = Run::new(view, zone);
    let head = Head::of(&run);
    let (cards, more_cards) = cards::of(&run);
    let errors = view.run.summary.as_ref().map_or("", |summary| &summary.errors);
    let page = RunPage {
        title: format!("{} – {} – ccm run {}", head.outcome, head.manifest, view.short),
        strip: Strip::of(&run),
        cards,
        more_cards,
        timeline: Timeline::of(&run),
        drawing: Drawing::of_run(view),
        pending: run.pending(),
        checks: run.checks(),
        rest: rest::groups(&run),
        facts: run.used(|manifest| manifest.facts.iter().collect()),
        data: run.used(|manifest| manifest.data.iter().collect()),
        comparison: Comparison::of(&run),
        errors: errors.lines().collect(),
        version: view.run.summary.as_ref().map_or_else(String::new, |summary| summary.version.clone()),
        head,
    };
    render("run.html", &page)
}
