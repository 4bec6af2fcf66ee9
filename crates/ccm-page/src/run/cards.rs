//! Cards of the resources that changed or failed.

use std::collections::HashMap;

use ccm_model::{Action, Change, ResourceId, TransactionLine, display_duration};
use ccm_report::ExecutionTail;
use serde::Serialize;
use serde_json::Value;

use super::{Link, Run};
use crate::outcome::Mark;
use crate::text::anchor;

/// Maximum number of cards. The resources behind them are listed.
const MAX_CARDS: usize = 400;
/// Maximum number of lines of a diff.
const MAX_DIFF_LINES: usize = 120;
/// Number of last lines of an output.
const MAX_OUTPUT_LINES: usize = 20;
/// Maximum number of neighbours that are listed.
const MAX_LINKS: usize = 8;
/// Maximum length of a line or a value in characters.
const MAX_LINE: usize = 400;
/// Number of digits of a digest that are shown.
const DIGEST: usize = 12;
/// Space for diffs and outputs of all cards in bytes, so that a page stays small enough to be sent.
const SPACE: usize = 96 << 10;
/// Further space for each card.
const SPACE_OF_CARD: usize = 256;
/// Number of changed resources from which on their cards are closed.
const MAX_OPEN: usize = 12;

#[derive(Serialize)]
struct ChangeRow {
    aspect: String,
    from: Option<String>,
    to: Option<String>,
    lines: Option<String>,
}

#[derive(Serialize)]
struct DiffLine {
    class: &'static str,
    text: String,
}

#[derive(Serialize)]
struct OutputLines {
    name: &'static str,
    lines: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Card {
    mark: Mark,
    anchor: String,
    type_name: String,
    name: String,
    alias: Option<String>,
    is_open: bool,
    verb: String,
    detail: Option<String>,
    duration: String,
    location: Option<String>,
    reason: Option<String>,
    errors: Vec<String>,
    hints: Vec<String>,
    warnings: Vec<String>,
    notes: Vec<String>,
    changes: Vec<ChangeRow>,
    diff: Vec<DiffLine>,
    /// Number of lines of the diff that are left out.
    diff_rest: usize,
    execution: Vec<(&'static str, String)>,
    outputs: Vec<OutputLines>,
    /// Outputs and diffs of earlier cards have taken the space.
    is_shortened: bool,
    properties: Vec<(String, String)>,
    triggered_by: Vec<Link>,
    needs: Vec<Link>,
    needed_by: Vec<Link>,
    more_links: bool,
    /// Command that shows the rest.
    command: String,
}

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
    let mut space = SPACE + SPACE_OF_CARD * notable.len();
    let mut cards = Vec::with_capacity(notable.len());
    for at in notable {
        let needed_by = dependants.get(&at).map_or(&[][..], |dependants| dependants);
        let mut card = Card::of(run, at, needed_by, &mut space);
        card.is_open = card.mark == Mark::Failed || changed <= MAX_OPEN;
        cards.push(card);
    }
    (cards, rest.into_iter().map(|at| run.link(at)).collect())
}

impl Card {
    fn of(run: &Run<'_>, at: usize, needed_by: &[usize], space: &mut usize) -> Self {
        let node = &run.view.graph.nodes[at];
        let mark = run.mark(at);
        let line = run.lines.get(&at).copied();
        let needs: Vec<usize> = node.edges.iter().map(|edge| edge.on).collect();
        let links = |positions: &[usize]| positions.iter().take(MAX_LINKS).map(|at| run.link(*at)).collect();
        let mut card = Self {
            mark,
            anchor: anchor(&node.id, at),
            type_name: node.id.type_name.to_string(),
            name: node.id.name.to_string(),
            alias: None,
            is_open: false,
            verb: mark.word().to_owned(),
            detail: None,
            duration: node
                .result
                .as_ref()
                .map_or_else(String::new, |result| display_duration(result.duration)),
            location: (node.line > 0).then(|| format!("{}:{}", node.file, node.line)),
            reason: None,
            errors: Vec::new(),
            hints: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            changes: Vec::new(),
            diff: Vec::new(),
            diff_rest: 0,
            execution: Vec::new(),
            outputs: Vec::new(),
            is_shortened: false,
            properties: Vec::new(),
            triggered_by: Vec::new(),
            more_links: needs.len().max(needed_by.len()) > MAX_LINKS,
            needs: links(&needs),
            needed_by: links(needed_by),
            command: format!(
                "ccm history {} {}",
                run.view.short,
                ccm_model::quote_words([&*node.id.to_string()])
            ),
        };
        let execution = execution(run, at, &node.id);
        if let Some(execution) = execution {
            card.execution = execution.rows(line);
            card.outputs = outputs(execution);
        }
        if let Some(line) = line {
            card.describe(run, line);
        }
        card.fit(space);
        card
    }

    fn describe(&mut self, run: &Run<'_>, line: &TransactionLine<'_>) {
        let short = |texts: &[String]| texts.iter().map(|text| shortened(text)).collect();
        self.alias = line.alias.as_deref().map(str::to_owned);
        self.reason = line.reason.as_deref().map(shortened);
        self.errors = short(&line.error);
        self.hints = short(&line.hints);
        self.warnings = short(&line.warnings);
        self.notes = short(&line.notes);
        self.location = line.location.as_deref().map(ToString::to_string).or_else(|| self.location.take());
        if let Some(action) = line.action.as_deref() {
            self.describe_action(action);
        }
        if let Some(diff) = &line.diff {
            let mut lines = diff.lines();
            self.diff = lines.by_ref().take(MAX_DIFF_LINES).map(diff_line).collect();
            self.diff_rest = lines.count();
        }
        let properties = line.properties.iter().filter(|(_, value)| !value.is_null());
        // The rows of the execution have the command.
        let is_shown = |name: &str| self.execution.is_empty() || !matches!(name, "command" | "args");
        let properties = properties.filter(|(name, _)| is_shown(name));
        self.properties =
            properties.map(|(name, value)| (name.clone(), shortened(&one_line(value)))).collect();
        self.triggered_by =
            line.triggered_by.iter().take(MAX_LINKS).filter_map(|id| run.link_to(id)).collect();
        let triggers: Vec<&str> = self.triggered_by.iter().map(|link| &*link.name).collect();
        self.needs.retain(|link| !triggers.contains(&&*link.name));
    }

    fn describe_action(&mut self, action: &Action) {
        self.verb = match self.mark {
            Mark::Failed => format!("failed to {}", action.verb.infinitive()),
            Mark::Would => format!("would {}", action.verb.infinitive()),
            _ => action.verb.past().to_owned(),
        };
        self.detail = action.detail.as_deref().map(shortened);
        let entries = action.entries.iter().map(|entry| ChangeRow {
            aspect: entry.path.clone(),
            from: None,
            to: Some(entry.detail.clone().unwrap_or_else(|| entry.verb.past().to_owned())),
            lines: None,
        });
        self.changes = action.changes.iter().map(change_row).chain(entries.take(MAX_LINKS)).collect();
    }

    /// Leaves out what there is no space for.
    fn fit(&mut self, space: &mut usize) {
        let of_diff: usize = self.diff.iter().map(|line| line.text.len() + 24).sum();
        let of_outputs: usize =
            self.outputs.iter().flat_map(|output| &output.lines).map(|line| line.len() + 8).sum();
        if let Some(left) = space.checked_sub(of_diff + of_outputs) {
            *space = left;
        } else {
            self.diff.clear();
            self.outputs.clear();
            self.is_shortened = true;
        }
    }
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
    let outputs = outputs.map(|(name, text)| {
        let lines: Vec<&str> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(MAX_OUTPUT_LINES)..];
        OutputLines { name, lines: last.iter().map(|line| shortened(line)).collect() }
    });
    outputs.into_iter().filter(|output| !output.lines.is_empty()).collect()
}

fn diff_line(line: &str) -> DiffLine {
    let class = match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
        [b'+', ..] => "add",
        [b'-', ..] => "del",
        [b'@', ..] => "hunk",
        _ => "ctx",
    };
    DiffLine { class, text: shortened(line) }
}

fn change_row(change: &Change) -> ChangeRow {
    let Change { aspect, from, to, lines } = change;
    let short = |text: &Option<String>| {
        text.as_deref().map(|text| if text.is_empty() { "(empty)".to_owned() } else { shortened(text) })
    };
    ChangeRow {
        aspect: aspect.to_string(),
        from: short(from),
        to: short(to),
        lines: lines.map(|lines| format!("+{} −{}", lines.added, lines.removed)),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
