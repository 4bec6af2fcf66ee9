//! Recorded runs as text and as JSON.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::time::{Duration, UNIX_EPOCH};

use ccm_model::{
    EventLine, OutcomeName, Refreshes, ResourceId, RunSummary, TransactionLine, display_timestamp,
    escape_control,
};
use serde_json::{Value, json};

use super::{History, StoredRun, StoredSummary};
use crate::text::layout::{self, below, diff, names};
use crate::text::resource::{Level, Line};
use crate::text::{owed_line, summary};

impl History {
    /// All runs as text, a line each.
    pub fn text(&self) -> String {
        if self.runs().is_empty() {
            return format!("no runs are recorded in {}\n", self.path().display());
        }
        let rows: Vec<[String; 5]> = self.runs().iter().map(|run| self.row(run)).collect();
        let heads = ["BEGIN", "RUN", "EXIT", "RESOURCES", "MANIFEST"].map(str::to_owned);
        let width = |column: usize| {
            let cells = rows.iter().chain([&heads]).map(|row| row[column].chars().count());
            cells.max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..5).map(width).collect();
        let mut text = String::new();
        for row in [&heads].into_iter().chain(&rows) {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        text
    }

    fn row(&self, run: &StoredRun) -> [String; 5] {
        let short = run.id[..self.short_length().min(run.id.len())].to_owned();
        let begin = escape_control(&seconds(&run.begin())).into_owned();
        let manifest = escape_control(run.manifest()).into_owned();
        let (exit, counts) = match &run.summary {
            Some(stored) => (stored.exit_code.to_string(), counted(stored)),
            None if run.ended => ("?".to_owned(), "no summary".to_owned()),
            None => ("-".to_owned(), "unfinished".to_owned()),
        };
        [begin, short, exit, counts, manifest]
    }

    /// All runs as JSON.
    pub fn json(&self) -> Value {
        self.runs().iter().map(StoredRun::json).collect()
    }
}

impl StoredRun {
    fn manifest(&self) -> &str {
        match (&self.summary, &self.start) {
            (Some(summary), _) => &summary.manifest,
            (None, Some(start)) => &start.manifest,
            (None, None) => "?",
        }
    }

    /// The moment is in the id as well, for a run of which nothing else can be read.
    fn begin(&self) -> String {
        let start = || self.start.as_ref().map(|start| display_timestamp(start.timestamp, 2));
        let known = self.summary.as_ref().map(|summary| summary.begin.clone()).or_else(start);
        known.or_else(|| moment_of(&self.id)).unwrap_or_else(|| "?".to_owned())
    }

    /// Tells whether nothing says that it came to its end.
    pub fn is_unfinished(&self) -> bool {
        self.summary.is_none() && !self.ended
    }

    /// What it came to, on one line. A run that is not finished may be going on.
    pub fn line(&self, is_going_on: bool) -> String {
        let came_to = match &self.summary {
            Some(stored) => format!("exit code {}, {}", stored.exit_code, counted(stored)),
            None if self.ended => "no summary".to_owned(),
            None if is_going_on => "is going on".to_owned(),
            None => "unfinished: it was killed".to_owned(),
        };
        let manifest = escape_control(self.manifest());
        format!("{} of {manifest}, began {}, {came_to}", self.id, escape_control(&seconds(&self.begin())))
    }

    /// What it came to, as JSON.
    pub fn json(&self) -> Value {
        match &self.summary {
            Some(summary) => {
                let mut shown = json!({ "finished": true });
                if let (Some(shown), Ok(Value::Object(stored))) =
                    (shown.as_object_mut(), serde_json::to_value(summary))
                {
                    shown.extend(stored);
                }
                shown
            }
            None => json!({
                "finished": self.ended, "run_id": self.id, "manifest": self.manifest(), "begin": self.begin()
            }),
        }
    }

    /// This run as JSON, with its events.
    pub fn json_with(&self, events: &[EventLine]) -> Value {
        json!({ "run": self.json(), "events": transactions(events).collect::<Vec<_>>() })
    }

    /// This run as text, in the form of the report. Level and outcome are coloured by ANSI codes.
    pub fn text_with(&self, events: &[EventLine]) -> String {
        let mut text = String::new();
        // A `String` takes everything.
        let _ = self.write(&mut text, events);
        text
    }

    fn write(&self, out: &mut String, events: &[EventLine]) -> fmt::Result {
        writeln!(out, "run {} of {}", self.id, escape_control(self.manifest()))?;
        write!(out, "began {}", escape_control(&self.begin()))?;
        if let Some(summary) = &self.summary {
            let (end, version) = (escape_control(&summary.end), escape_control(&summary.version));
            write!(out, ", ended {end}, exit code {}, ccm {version}", summary.exit_code)?;
        }
        writeln!(out)?;
        let start = events.iter().find_map(|event| match event {
            EventLine::Start(line) => Some(line),
            _ => None,
        });
        let end = events.iter().find_map(|event| match event {
            EventLine::Summary(line) => Some(line),
            _ => None,
        });
        let message = |out: &mut String, message: Option<&Option<Cow<'_, str>>>| {
            message.into_iter().flatten().try_for_each(|message| layout::message(out, message))
        };
        message(out, start.map(|line| &line.message))?;
        transactions(events).try_for_each(|line| resource(out, line))?;
        message(out, end.map(|line| &line.message))?;
        let failed = transactions(events).filter(|line| line.failed).map(id).collect::<Vec<_>>();
        match &self.summary {
            Some(stored) => {
                let mut run = summary_of(stored);
                run.refreshes.damage = end.and_then(|end| Some(end.ledger_damage.as_deref()?.to_owned()));
                summary::write(out, &run, &failed)?;
                end.iter().flat_map(|end| &end.owed).try_for_each(|owed| {
                    summary::owed(out, &owed_line(&owed.subscriber, &owed.refresh), &owed.message)
                })
            }
            None if self.ended => {
                writeln!(out, "the run came to its end, and its summary is missing or damaged")
            }
            None => writeln!(out, "unfinished: ccm was killed during this run, or is still at it"),
        }
    }
}

/// The moment that the id of a run begins with, in milliseconds.
fn moment_of(id: &str) -> Option<String> {
    let milliseconds = u64::from_str_radix(&id.get(..13)?.replace('-', ""), 16).ok()?;
    Some(display_timestamp(UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))?, 2))
}

/// A timestamp without its decimals.
fn seconds(timestamp: &str) -> String {
    timestamp.split_once('.').map_or_else(|| timestamp.to_owned(), |(seconds, _)| format!("{seconds}Z"))
}

fn summary_of(stored: &StoredSummary) -> RunSummary {
    RunSummary {
        noop: stored.noop,
        duration: stored.duration,
        counts: stored.counts,
        stopped: stored.stopped.as_ref().map(|stopped| stopped.cause.clone()),
        message: None,
        refreshes: Refreshes::default(),
    }
}

fn counted(stored: &StoredSummary) -> String {
    format!("{}: {}", stored.counts.total, summary::counted(&summary_of(stored)))
}

/// Returns the lines of the resources.
fn transactions(events: &[EventLine]) -> impl Iterator<Item = &TransactionLine<'static>> {
    events.iter().filter_map(|event| match event {
        EventLine::Transaction(line) => Some(&**line),
        _ => None,
    })
}

fn id(line: &TransactionLine<'_>) -> ResourceId {
    ResourceId::new(&*line.type_name, &*line.name)
}

fn resource(out: &mut String, line: &TransactionLine<'_>) -> fmt::Result {
    let unmet = !line.unmet_requirements.is_empty();
    let (level, word) = match line.outcome {
        OutcomeName::Failed => (Level::Error, "failed"),
        OutcomeName::Skipped if unmet => (Level::Error, "unmet"),
        OutcomeName::Skipped => (Level::Warn, "skipped"),
        OutcomeName::Unchanged => (Level::Info, "stable"),
        OutcomeName::Changed => (Level::Warn, "changed"),
        OutcomeName::Refreshed => (Level::Warn, "refreshed"),
        OutcomeName::WouldChange => (Level::Warn, "would change"),
        OutcomeName::WouldRefresh => (Level::Warn, "would refresh"),
    };
    let cause = match line.outcome {
        OutcomeName::Failed => line.error.first().map(String::as_str),
        OutcomeName::Skipped => line.reason.as_deref(),
        _ => None,
    };
    let head = Line {
        level,
        name: layout::name(&id(line)),
        word,
        requested_ensure: &line.requested_ensure,
        final_ensure: line.final_ensure.as_deref(),
        runtime: (!line.skipped).then_some(line.duration),
        provider: line.provider.as_deref(),
        cause: cause.unwrap_or_default(),
    };
    head.write(out)?;
    line.error.iter().skip(1).try_for_each(|layer| below(out, "caused by: ", layer))?;
    line.noop_message.iter().try_for_each(|message| below(out, "", message))?;
    if !line.triggered_by.is_empty() {
        below(out, "triggered by: ", &names(&line.triggered_by))?;
    }
    line.owed.iter().try_for_each(|owed| summary::owed_before(out, owed))?;
    if let Some(reason) = line.reason.as_ref().filter(|_| !line.skipped) {
        below(out, "reason: ", reason)?;
    }
    line.warnings.iter().try_for_each(|warning| below(out, "warning: ", warning))?;
    line.notes.iter().try_for_each(|note| below(out, "", note))?;
    if line.failed {
        below(out, "", if line.changed { "something may have been changed" } else { "nothing was changed" })?;
    }
    line.diff.iter().try_for_each(|text| diff(out, text))
}
