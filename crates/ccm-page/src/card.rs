//! Card of a resource: what was done, and how it ended.

use ccm_model::{Action, Change, ResourceId, TransactionLine, display_duration};
use serde::Serialize;

use crate::outcome::Mark;
use crate::text::shortened;

/// Maximum number of lines of a diff.
const MAX_DIFF_LINES: usize = 120;
/// Maximum number of entries of a tree, and of neighbours, that are listed.
pub(crate) const MAX_LISTED: usize = 8;
/// Space for diffs and outputs of all cards in bytes, so that a page stays small enough to be sent.
const SPACE: usize = 96 << 10;
/// Further space for each card.
const SPACE_OF_CARD: usize = 256;

/// Link to the place of a resource.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Link {
    pub(crate) mark: Mark,
    pub(crate) anchor: String,
    pub(crate) name: String,
}

#[derive(Serialize)]
pub(crate) struct ChangeRow {
    aspect: String,
    from: Option<String>,
    to: Option<String>,
    lines: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct DiffLine {
    class: &'static str,
    text: String,
}

/// Last lines of an output.
#[derive(Serialize)]
pub(crate) struct OutputLines {
    name: &'static str,
    lines: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct Card {
    pub(crate) mark: Mark,
    anchor: String,
    type_name: String,
    name: String,
    alias: Option<String>,
    pub(crate) is_open: bool,
    verb: String,
    detail: Option<String>,
    duration: String,
    pub(crate) location: Option<String>,
    reason: Option<String>,
    errors: Vec<String>,
    hints: Vec<String>,
    warnings: Vec<String>,
    notes: Vec<String>,
    changes: Vec<ChangeRow>,
    diff: Vec<DiffLine>,
    /// Number of lines of the diff that are left out.
    diff_rest: usize,
    pub(crate) execution: Vec<(&'static str, String)>,
    pub(crate) outputs: Vec<OutputLines>,
    /// Outputs and diffs of earlier cards have taken the space.
    is_shortened: bool,
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) triggered_by: Vec<Link>,
    pub(crate) needs: Vec<Link>,
    pub(crate) needed_by: Vec<Link>,
    pub(crate) more_links: bool,
    /// Command that shows the rest.
    command: String,
}

/// Space that the cards of a page share for diffs and outputs, in bytes.
pub(crate) struct CardSpace(usize);

impl CardSpace {
    /// Returns the space of a page with a number of cards.
    pub(crate) fn of(cards: usize) -> Self {
        Self(SPACE + SPACE_OF_CARD * cards)
    }
}

impl Card {
    /// Returns a card without a result. `command` shows what a card leaves out.
    pub(crate) fn new(id: &ResourceId, mark: Mark, anchor: String, command: String) -> Self {
        Self {
            mark,
            anchor,
            type_name: id.type_name.to_string(),
            name: id.name.to_string(),
            alias: None,
            is_open: false,
            verb: mark.word().to_owned(),
            detail: None,
            duration: String::new(),
            location: None,
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
            needs: Vec::new(),
            needed_by: Vec::new(),
            more_links: false,
            command,
        }
    }

    pub(crate) fn took(&mut self, duration: std::time::Duration) {
        self.duration = display_duration(duration);
    }

    /// Adds the result of the resource.
    pub(crate) fn describe<P>(&mut self, line: &TransactionLine<'_, P>) {
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
        self.changes = action.changes.iter().map(change_row).chain(entries.take(MAX_LISTED)).collect();
    }

    /// Leaves out what there is no space for.
    pub(crate) fn fit(&mut self, CardSpace(space): &mut CardSpace) {
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

impl OutputLines {
    /// Returns the last lines of an output; `None` if there is none.
    pub(crate) fn of(name: &'static str, lines: &[&str]) -> Option<Self> {
        const MAX_LINES: usize = 20;
        let last = &lines[lines.len().saturating_sub(MAX_LINES)..];
        let lines: Vec<String> = last.iter().map(|line| shortened(line)).collect();
        (!lines.is_empty()).then_some(Self { name, lines })
    }
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
