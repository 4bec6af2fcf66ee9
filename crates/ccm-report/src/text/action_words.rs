//! Words of the report for what was done to a resource.

use std::fmt::Write as _;

use ccm_model::{
    Change, EntryAction, Outcome, ResourceId, Transaction, Verb, display_duration, escape_control,
};
use std::time::Duration;

use super::layout::{few, name};
use crate::screen::Screen;

/// Duration from which on every action shows how long it took.
const SLOW: Duration = Duration::from_secs(1);

/// Words for what was done, or would be done, to a resource.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// The verb, such as `would create`.
    pub verb: String,
    /// What was made, run or changed.
    pub what: String,
    /// `true` if `what` is a command, whose middle can be cut.
    pub is_command: bool,
    /// Time that it took. Empty if that does not matter.
    pub time: String,
    /// Reason. Empty if `what` says so, or if only the details do.
    pub why: String,
    /// `true` if `what` is the reason.
    pub is_why: bool,
}

impl Words {
    /// Returns the words for a change, in noop the change that a run would make.
    pub(super) fn of_change(transaction: &Transaction, screen: Screen) -> Self {
        let message = match &transaction.outcome {
            Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => Some(message),
            _ => None,
        };
        let triggers = triggers(transaction, message.is_some());
        let Some(action) = &transaction.action else {
            let verb = match (message, &transaction.outcome) {
                (Some(message), _) => {
                    return Self {
                        verb: escape_control(message).into_owned(),
                        why: triggers,
                        ..Self::default()
                    };
                }
                (None, Outcome::Refreshed) => "refreshed",
                (None, _) => "changed",
            };
            let is_why = !triggers.is_empty();
            return Self { verb: verb.to_owned(), what: triggers, is_why, ..Self::default() };
        };
        let verb = match message {
            Some(_) => format!("would {}", action.verb.infinitive()),
            None => action.verb.past().to_owned(),
        };
        let is_command = action.verb == Verb::Run;
        let mut words = Self {
            verb,
            what: objects(action.detail.as_deref(), &action.changes, screen),
            is_command,
            ..Self::default()
        };
        let work = time_of_work(transaction);
        if message.is_none() && (action.verb == Verb::Run || work >= SLOW) {
            words.time = display_duration(work);
        }
        if triggers.is_empty() {
            let reason = transaction.reason_text().filter(|_| message.is_some() && action.verb == Verb::Run);
            words.why = reason.map(escape_control).unwrap_or_default().into_owned();
        } else if words.what.is_empty() {
            words.what = triggers;
            words.is_why = true;
        } else {
            words.why = triggers;
        }
        words
    }

    /// Returns the text in parentheses: the time, and why it was done if there is room for that.
    pub(super) fn in_parentheses(&self, with_why: bool) -> String {
        let parts = [&*self.time, if with_why { &*self.why } else { "" }];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the time that a change took, without that of the health checks after it.
fn time_of_work(transaction: &Transaction) -> Duration {
    let checks = transaction.health_checks.iter().map(|check| check.duration).sum();
    transaction.duration.saturating_sub(checks)
}

/// Returns the resources whose change triggered this one.
fn triggers(transaction: &Transaction, noop: bool) -> String {
    let is_pending =
        |id: &ResourceId| transaction.pending_refreshes.iter().any(|pending| pending.source == *id);
    let changed: Vec<String> =
        transaction.triggered_by.iter().filter(|id| !is_pending(id)).map(name).collect();
    let verb = if noop { "would change" } else { "changed" };
    match (&*changed, &*transaction.pending_refreshes) {
        ([], []) => String::new(),
        ([], _) => "pending refresh".to_owned(),
        _ => format!("{} {verb}", few(&changed)),
    }
}

/// Returns the line for an entry of a tree: its path and what was done.
pub(super) fn entry(entry: &EntryAction, is_noop: bool, screen: Screen) -> String {
    let verb =
        if is_noop { format!("would {}", entry.verb.infinitive()) } else { entry.verb.past().to_owned() };
    let what = objects(entry.detail.as_deref(), &entry.changes, screen);
    let colon = if what.is_empty() { "" } else { ": " };
    format!("{}   {verb}{colon}{what}", escape_control(&entry.path))
}

/// Returns the detail of an action and its changes.
fn objects(detail: Option<&str>, changes: &[Change], screen: Screen) -> String {
    let detail = detail.map(|detail| escape_control(detail.trim()));
    let mut text = detail.unwrap_or_default().into_owned();
    for change in changes {
        if !text.is_empty() {
            text.push_str(", ");
        }
        // Writing to a `String` can't fail.
        let _ = write_change(&mut text, change, screen);
    }
    text
}

fn write_change(out: &mut String, change: &Change, screen: Screen) -> std::fmt::Result {
    let Change { aspect, from, to, lines } = change;
    let escaped = |text: &Option<String>| text.as_deref().map(|text| escape_control(text).into_owned());
    // The verb names this aspect.
    if aspect != "version" {
        write!(out, "{}", escape_control(aspect))?;
        if from.is_some() || to.is_some() {
            out.push(' ');
        }
    }
    match (escaped(from), escaped(to)) {
        (Some(from), Some(to)) => write!(out, "{from} {} {to}", screen.arrow())?,
        (Some(from), None) => write!(out, "{from} {} none", screen.arrow())?,
        (None, Some(to)) => out.push_str(&to),
        (None, None) => {}
    }
    match lines {
        Some(lines) => write!(out, " (+{} {}{})", lines.added, screen.minus(), lines.removed),
        None => Ok(()),
    }
}
