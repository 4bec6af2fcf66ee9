//! Recorded runs as text and as JSON.

use std::time::{Duration, UNIX_EPOCH};

use ccm_model::{
    Event, EventLine, RefreshSummary, RunSummary, TransactionLine, display_timestamp, escape_control,
};
use serde_json::{Value, json};

use super::{History, StoredRun, StoredSummary};
use crate::text::{TextReport, summary};

impl History {
    /// Returns all runs as text, a line each.
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

    /// Returns all runs as JSON.
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

    /// Returns the time of the beginning. The id also holds the time, for a run without other readable data.
    fn begin(&self) -> String {
        let start = || self.start.as_ref().map(|start| display_timestamp(start.timestamp, 2));
        let known = self.summary.as_ref().map(|summary| summary.begin.clone()).or_else(start);
        known.or_else(|| time_of_id(&self.id)).unwrap_or_else(|| "?".to_owned())
    }

    /// Returns `true` if no end is recorded.
    pub fn is_unfinished(&self) -> bool {
        self.summary.is_none() && !self.ended
    }

    /// Returns the run and its result on one line. `is_going_on` is `true` if ccm is running now.
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

    /// Returns the result of the run as JSON.
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

    /// Returns the run as JSON, with its events.
    pub fn json_with(&self, events: &[EventLine]) -> Value {
        json!({ "run": self.json(), "events": transactions(events).collect::<Vec<_>>() })
    }

    /// Returns the run as text, in the form of the report. Level and outcome are coloured by ANSI codes.
    pub fn text_with(&self, events: Vec<EventLine>) -> String {
        let mut text = format!("run {} of {}\n", self.id, escape_control(self.manifest()));
        text += &format!("began {}", escape_control(&self.begin()));
        if let Some(summary) = &self.summary {
            let (end, version) = (escape_control(&summary.end), escape_control(&summary.version));
            text += &format!(", ended {end}, exit code {}, ccm {version}", summary.exit_code);
        }
        text.push('\n');
        let mut report = TextReport::of_record(Vec::new());
        let mut has_end = false;
        for event in events.into_iter().map(Event::from) {
            has_end |= matches!(event, Event::SessionFinished(_));
            report.accept(&event);
        }
        if let Some(summary) = self.summary.as_ref().filter(|_| !has_end) {
            report.accept(&Event::SessionFinished(Box::new(summary_of(summary))));
        }
        // Memory takes everything.
        text += &String::from_utf8_lossy(&report.into_inner().unwrap_or_default());
        text += match &self.summary {
            Some(_) => "",
            None if self.ended => "the run ended, but its summary is missing or damaged\n",
            None => "unfinished: ccm was killed during this run, or the run is still going on\n",
        };
        text
    }
}

/// Returns the time at the beginning of the id of a run.
fn time_of_id(id: &str) -> Option<String> {
    let milliseconds = u64::from_str_radix(&id.get(..13)?.replace('-', ""), 16).ok()?;
    Some(display_timestamp(UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))?, 2))
}

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
        refreshes: RefreshSummary::default(),
    }
}

fn counted(stored: &StoredSummary) -> String {
    format!("{}: {}", stored.counts.total, summary::counted(&summary_of(stored)))
}

fn transactions(events: &[EventLine]) -> impl Iterator<Item = &TransactionLine<'static>> {
    events.iter().filter_map(|event| match event {
        EventLine::Transaction(line) => Some(&**line),
        _ => None,
    })
}
