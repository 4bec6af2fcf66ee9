//! Lines of a log and their fields.

use std::borrow::Cow;
use std::fmt::Write as _;

use ccm_model::{
    Action, Change, CheckStatus, Failure, HealthCheckResult, Outcome, ResourceId, Transaction, Verb,
    display_duration, escape_control,
};

use crate::text::{Importance, Verbosity};

/// Level of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogLevel {
    Info,
    Notice,
    Warning,
    Error,
}

impl LogLevel {
    fn word(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Notice => "NOTICE",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        }
    }

    /// Returns the priority of syslog(3).
    fn priority(self) -> u8 {
        match self {
            Self::Error => 3,
            Self::Warning => 4,
            Self::Notice => 5,
            Self::Info => 6,
        }
    }
}

/// Line of a log.
#[derive(Debug)]
pub(super) struct LogLine {
    level: LogLevel,
    text: String,
}

impl LogLine {
    /// Begins a line about a resource.
    pub(super) fn of(level: LogLevel, id: &ResourceId, word: &str) -> Self {
        Self { level, text: format!("{} {word}", quoted(&id.to_string())) }
    }

    /// Begins a line about the run.
    pub(super) fn run(level: LogLevel, word: &str) -> Self {
        Self { level, text: format!("run {word}") }
    }

    /// Begins a line about several manifests.
    pub(super) fn manifests(level: LogLevel, word: &str) -> Self {
        Self { level, text: format!("manifests {word}") }
    }

    /// Adds a field.
    pub(super) fn field(mut self, key: &str, value: &str) -> Self {
        // Writing to a `String` can't fail.
        let _ = write!(self.text, " {}={}", key.replace([' ', '='], "_"), quoted(value));
        self
    }

    /// Adds a field if it has a value.
    fn optional(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.field(key, value),
            None => self,
        }
    }

    pub(super) fn write(&self, out: &mut String, has_priority: bool) {
        let Self { level, text } = self;
        if has_priority {
            let _ = write!(out, "<{}>", level.priority());
        }
        let _ = writeln!(out, "{} {text}", level.word());
    }
}

/// Returns a value, in quotes if it would not be one word without them.
fn quoted(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches('\n');
    let escaped = escape_control(text);
    let needs_quotes = |character: char| character.is_whitespace() || matches!(character, '"' | '=');
    if !escaped.is_empty() && !escaped.contains(needs_quotes) {
        return escaped;
    }
    Cow::Owned(format!("\"{}\"", escaped.replace('\\', r"\\").replace('"', r#"\""#)))
}

/// Returns the line of a resource.
pub(super) fn resource_line(transaction: &Transaction, verbosity: Verbosity) -> LogLine {
    let level = match Importance::of(transaction) {
        Importance::Failure => LogLevel::Error,
        _ if transaction.outcome.is_change() => LogLevel::Notice,
        _ => LogLevel::Info,
    };
    let mut line = LogLine::of(level, &transaction.id, &word(transaction));
    match &transaction.outcome {
        Outcome::Failed(failure) => {
            line = line.field("error", &failure.one_line());
            line = action_fields(line, transaction.action.as_ref());
            let changed = match failure.as_ref() {
                Failure { verified: true, .. } => {
                    transaction.action.as_ref().map_or(Verb::Change, |action| action.verb).past()
                }
                Failure { changed: true, .. } => "maybe",
                _ => "no",
            };
            line = line.field("changed", changed);
            let location = failure.location.as_deref().map(ToString::to_string);
            line = line.optional("at", location.as_deref());
            line = failure.hints.iter().fold(line, |line, hint| line.field("hint", hint));
        }
        Outcome::Skipped { cause } => line = line.field("cause", &format!("{cause:#}")),
        outcome => {
            line = action_fields(line, transaction.action.as_ref());
            if let Outcome::WouldChange { message } | Outcome::WouldRefresh { message } = outcome
                && transaction.action.is_none()
            {
                line = line.field("message", message);
            }
        }
    }
    if !transaction.triggered_by.is_empty() {
        let names: Vec<String> = transaction.triggered_by.iter().map(ToString::to_string).collect();
        line = line.field("triggered_by", &names.join(", "));
    }
    if verbosity >= Verbosity::Verbose {
        line = line.optional("reason", transaction.reason_text());
    }
    if matches!(transaction.outcome, Outcome::Skipped { .. }) {
        return line;
    }
    line.field("runtime", &display_duration(transaction.duration))
}

/// Returns the word for what was done, or would be done.
fn word(transaction: &Transaction) -> Cow<'static, str> {
    let verb = transaction.action.as_ref().map(|action| action.verb);
    match &transaction.outcome {
        Outcome::Unchanged => "unchanged".into(),
        Outcome::Failed(_) => "failed".into(),
        Outcome::Skipped { .. } => "skipped".into(),
        Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. } => {
            format!("would_{}", verb.unwrap_or(Verb::Change).infinitive()).into()
        }
        Outcome::Changed => verb.unwrap_or(Verb::Change).past().into(),
        Outcome::Refreshed => verb.map_or("refreshed", Verb::past).into(),
    }
}

fn action_fields(mut line: LogLine, action: Option<&Action>) -> LogLine {
    let Some(action) = action else { return line };
    let key = if action.verb == Verb::Run { "command" } else { "detail" };
    line = line.optional(key, action.detail.as_deref());
    change_fields(line, &action.changes)
}

/// Returns the line of a health check.
pub(super) fn check_line(id: &ResourceId, check: &HealthCheckResult) -> LogLine {
    let level = match check.status {
        CheckStatus::Ok => LogLevel::Info,
        CheckStatus::Warning => LogLevel::Warning,
        CheckStatus::Critical | CheckStatus::Unknown => LogLevel::Error,
    };
    let line = LogLine::of(level, id, "health_check").field("name", &check.name);
    let line = line.field("status", check.status.as_str());
    let line = line.optional("output", Some(&*check.output).filter(|output| !output.is_empty()));
    line.field("tries", &check.tries.to_string()).field("runtime", &display_duration(check.duration))
}

/// Returns the lines of the changed entries of a tree.
pub(super) fn entry_lines(transaction: &Transaction) -> impl Iterator<Item = LogLine> {
    let outcome = &transaction.outcome;
    let is_done = match outcome {
        Outcome::Failed(failure) => failure.verified,
        outcome => outcome.is_change(),
    };
    let action = transaction.action.as_ref().filter(|_| is_done);
    let is_noop = matches!(outcome, Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. });
    action.into_iter().flat_map(|action| &action.entries).map(move |entry| {
        let word =
            if is_noop { format!("would_{}", entry.verb.infinitive()) } else { entry.verb.past().to_owned() };
        let line = LogLine::of(LogLevel::Notice, &transaction.id, &word).field("entry", &entry.path);
        change_fields(line.optional("detail", entry.detail.as_deref()), &entry.changes)
    })
}

fn change_fields(mut line: LogLine, changes: &[Change]) -> LogLine {
    for change in changes {
        let (from, to) = (change.from.as_deref(), change.to.as_deref());
        let value = match (from, to, change.lines) {
            (Some(from), to, _) => format!("{from} -> {}", to.unwrap_or("none")),
            (None, Some(to), _) => to.to_owned(),
            (None, None, Some(lines)) => format!("+{} -{}", lines.added, lines.removed),
            (None, None, None) => "changed".to_owned(),
        };
        line = line.field(&change.aspect, &value);
    }
    line
}
