//! Cards of the resources of a run that changed or failed.

use std::collections::HashMap;

use ccm_model::{ResourceId, TransactionLine, quote_words};
use ccm_report::ExecutionTail;
use serde_json::Value;

use super::Run;
use crate::card::{Card, CardSpace, Link, MAX_LISTED, OutputLines};
use crate::outcome::Mark;
use crate::text::{anchor, shortened};

/// Maximum number of cards. The resources behind them are listed.
const MAX_CARDS: usize = 400;
/// Number of digits of a digest that are shown.
const DIGEST: usize = 12;
/// Number of changed resources from which on their cards are closed.
const MAX_OPEN: usize = 12;

/// Returns the cards, failures first, and the links to what has none.
pub(super) fn of(run: &Run<'_>) -> (Vec<Card>, Vec<Link>) {
    let mut notable: Vec<usize> = run.order().into_iter().filter(|at| run.mark(*at).is_notable()).collect();
    // Failures first, each kind in the order of the run.
    notable.sort_by_key(|at| run.mark(*at) != Mark::Failed);
    let changed = notable.iter().filter(|at| run.mark(**at) != Mark::Failed).count();
    let rest = notable.split_off(notable.len().min(MAX_CARDS));
    let mut dependants: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, node) in run.view.graph.nodes.iter().enumerate() {
        for edge in &node.edges {
            dependants.entry(edge.on).or_default().push(at);
        }
    }
    let mut space = CardSpace::of(notable.len());
    let mut cards = Vec::with_capacity(notable.len());
    for at in notable {
        let needed_by = dependants.get(&at).map_or(&[][..], |dependants| dependants);
        let mut card = card(run, at, needed_by);
        card.is_open = card.mark == Mark::Failed || changed <= MAX_OPEN;
        card.fit(&mut space);
        cards.push(card);
    }
    (cards, rest.into_iter().map(|at| run.link(at)).collect())
}

fn card(run: &Run<'_>, at: usize, needed_by: &[usize]) -> Card {
    let node = &run.view.graph.nodes[at];
    let line = run.lines.get(&at).copied();
    let command = format!("ccm history {} {}", run.view.short, quote_words([&*node.id.to_string()]));
    let mut card = Card::new(&node.id, run.mark(at), anchor(&node.id, at), command);
    if let Some(result) = &node.result {
        card.took(result.duration);
    }
    card.location = (node.line > 0).then(|| format!("{}:{}", node.file, node.line));
    if let Some(execution) = execution(run, at, &node.id) {
        card.execution = execution.rows(line);
        card.outputs = outputs(execution);
    }
    let needs: Vec<usize> = node.edges.iter().map(|edge| edge.on).collect();
    let links = |positions: &[usize]| positions.iter().take(MAX_LISTED).map(|at| run.link(*at)).collect();
    card.more_links = needs.len().max(needed_by.len()) > MAX_LISTED;
    card.needs = links(&needs);
    card.needed_by = links(needed_by);
    if let Some(line) = line {
        card.describe(line);
        card.properties = properties(line, !card.execution.is_empty());
        card.triggered_by =
            line.triggered_by.iter().take(MAX_LISTED).filter_map(|id| run.link_to(id)).collect();
        let triggers: Vec<&str> = card.triggered_by.iter().map(|link| &*link.name).collect();
        card.needs.retain(|link| !triggers.contains(&&*link.name));
    }
    card
}

/// Returns the properties with a value. The rows of an execution have the command.
fn properties(line: &TransactionLine<'_>, has_execution: bool) -> Vec<(String, String)> {
    let is_left_out =
        |name: &str, value: &Value| value.is_null() || has_execution && matches!(name, "command" | "args");
    let shown = line.properties.iter().filter(|(name, value)| !is_left_out(name, value));
    shown.map(|(name, value)| (name.clone(), shortened(&one_line(value)))).collect()
}

/// Returns the execution of a resource. Its position tells executions of equal names apart.
fn execution<'v>(run: &Run<'v>, at: usize, id: &ResourceId) -> Option<&'v ExecutionTail> {
    if &*id.type_name != "exec" {
        return None;
    }
    let found = run.view.executions.iter().filter(|execution| *execution.type_name == *id.type_name);
    let found: Vec<&ExecutionTail> = found.filter(|execution| execution.is_of(id)).collect();
    let by_position = found.iter().find(|execution| execution.position == at as u64 + 1);
    by_position.or_else(|| found.first()).copied()
}

fn outputs(execution: &ExecutionTail) -> Vec<OutputLines> {
    let outputs = [("stdout", &execution.stdout), ("stderr", &execution.stderr)];
    let of = |(name, text): (&'static str, &String)| OutputLines::of(name, &text.lines().collect::<Vec<_>>());
    outputs.into_iter().filter_map(of).collect()
}

/// Returns a value as text: a text without quotes, content as size and digest.
fn one_line(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) if map.contains_key("sha256") && map.contains_key("size") => {
            let digest: String = map["sha256"].as_str().unwrap_or_default().chars().take(DIGEST).collect();
            format!("{} bytes, sha256 {digest}…", map["size"])
        }
        other => other.to_string(),
    }
}
