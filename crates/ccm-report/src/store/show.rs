//! Recorded runs as text and as JSON.

use std::fmt::{self, Write as _};
use std::time::{Duration, UNIX_EPOCH};

use ccm_model::{Refreshes, ResourceId, RunSummary, display_timestamp, escape_control};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{History, StoredRun, StoredSummary};
use crate::json::{START, SUMMARY, TRANSACTION, read_stop_cause};
use crate::text::layout::{below, diff};
use crate::text::resource::{Level, Line};
use crate::text::summary;

/// What an event says, as far as it is shown.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Shown {
    #[serde(rename = "type")]
    kind: String,
    name: String,
    provider: Option<String>,
    requested_ensure: String,
    final_ensure: Option<String>,
    duration: u64,
    noop_message: Option<String>,
    error: Vec<String>,
    changed: bool,
    unmet_requirements: Vec<String>,
    outcome: String,
    reason: Option<String>,
    triggered_by: Vec<String>,
    owed: Vec<ShownOwed>,
    warnings: Vec<String>,
    notes: Vec<String>,
    diff: Option<String>,
}

/// What an event says of a refresh that is owed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ShownOwed {
    subscriber: String,
    source: String,
    run_id: String,
    since: String,
    assumed: bool,
    message: String,
}

impl ShownOwed {
    fn origin(&self) -> String {
        summary::origin(&self.source, &self.run_id, &seconds(&self.since), self.assumed)
    }
}

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
            (None, Some(start)) => start["manifest"].as_str().unwrap_or("?"),
            (None, None) => "?",
        }
    }

    /// The moment is in the id as well, for a run of which nothing else can be read.
    fn begin(&self) -> String {
        let start = self.start.as_ref().and_then(|start| start["timestamp"].as_str());
        let known = self.summary.as_ref().map(|summary| &*summary.begin).or(start).map(str::to_owned);
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
    pub fn json_with(&self, events: Vec<Value>) -> Value {
        let transactions = events.into_iter().filter(|event| event["protocol"] == TRANSACTION);
        json!({ "run": self.json(), "events": transactions.collect::<Vec<_>>() })
    }

    /// This run as text, in the form of the report. Level and outcome are coloured by ANSI codes.
    pub fn text_with(&self, events: &[Value]) -> String {
        let mut text = String::new();
        // A `String` takes everything.
        let _ = self.write(&mut text, events);
        text
    }

    fn write(&self, out: &mut String, events: &[Value]) -> fmt::Result {
        writeln!(out, "run {} of {}", self.id, escape_control(self.manifest()))?;
        write!(out, "began {}", escape_control(&self.begin()))?;
        if let Some(summary) = &self.summary {
            let (end, version) = (escape_control(&summary.end), escape_control(&summary.version));
            write!(out, ", ended {end}, exit code {}, ccm {version}", summary.exit_code)?;
        }
        writeln!(out)?;
        let message = |protocol: &str| {
            let event = events.iter().find(|event| event["protocol"] == protocol);
            event.and_then(|event| event["message"].as_str())
        };
        let messages = [message(START), message(SUMMARY)];
        if let Some(message) = messages[0] {
            crate::text::layout::message(out, message)?;
        }
        let mut failed = Vec::new();
        for event in events.iter().filter(|event| event["protocol"] == TRANSACTION) {
            let shown = Shown::deserialize(event).unwrap_or_default();
            shown.write(out)?;
            if shown.outcome == "failed" {
                failed.push(shown.id());
            }
        }
        if let Some(message) = messages[1] {
            crate::text::layout::message(out, message)?;
        }
        match &self.summary {
            Some(stored) => {
                let end = events.iter().find(|event| event["protocol"] == SUMMARY);
                let mut run = summary_of(stored);
                let damage = end.and_then(|end| end["ledger_damage"].as_str());
                run.refreshes.damage = damage.map(str::to_owned);
                summary::write(out, &run, &failed)?;
                let owed = end.and_then(|end| Vec::<ShownOwed>::deserialize(&end["owed"]).ok());
                owed.unwrap_or_default().iter().try_for_each(|owed| {
                    let line = summary::still(&owed.subscriber, &owed.origin());
                    summary::owed(out, &line, &owed.message)
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
        duration: stored.took(),
        counts: stored.counts,
        stopped: stored.stopped.as_ref().and_then(read_stop_cause),
        message: None,
        refreshes: Refreshes::default(),
    }
}

fn counted(stored: &StoredSummary) -> String {
    format!("{}: {}", stored.counts.total, summary::counted(&summary_of(stored)))
}

impl Shown {
    fn id(&self) -> ResourceId {
        ResourceId::new(&*self.kind, &*self.name)
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let unmet = !self.unmet_requirements.is_empty();
        let (level, word) = match &*self.outcome {
            "failed" => (Level::Error, "failed"),
            "skipped" if unmet => (Level::Error, "unmet"),
            "unchanged" => (Level::Info, "stable"),
            "would_change" => (Level::Warn, "would change"),
            "would_refresh" => (Level::Warn, "would refresh"),
            other => (Level::Warn, other),
        };
        let skipped = self.outcome == "skipped";
        let cause = match &*self.outcome {
            "failed" => self.error.first().cloned(),
            "skipped" => self.reason.clone(),
            _ => None,
        };
        let line = Line {
            level,
            name: escape_control(&self.id().to_string()).into_owned(),
            word: &escape_control(word),
            requested_ensure: &self.requested_ensure,
            final_ensure: self.final_ensure.as_deref(),
            runtime: (!skipped).then_some(Duration::from_nanos(self.duration)),
            provider: self.provider.as_deref(),
            cause: &cause.unwrap_or_default(),
        };
        line.write(out)?;
        self.error.iter().skip(1).try_for_each(|layer| below(out, "caused by: ", layer))?;
        self.noop_message.iter().try_for_each(|message| below(out, "", message))?;
        if !self.triggered_by.is_empty() {
            below(out, "triggered by: ", &self.triggered_by.join(", "))?;
        }
        for owed in &self.owed {
            summary::owed_before(out, &owed.origin(), owed.assumed)?;
        }
        if let Some(reason) = self.reason.as_ref().filter(|_| !skipped) {
            below(out, "reason: ", reason)?;
        }
        self.warnings.iter().try_for_each(|warning| below(out, "warning: ", warning))?;
        self.notes.iter().try_for_each(|note| below(out, "", note))?;
        if self.outcome == "failed" {
            below(
                out,
                "",
                if self.changed { "something may have been changed" } else { "nothing was changed" },
            )?;
        }
        self.diff.iter().try_for_each(|text| diff(out, text))
    }
}
