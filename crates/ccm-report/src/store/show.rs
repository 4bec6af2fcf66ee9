//! Recorded runs as text and as JSON.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_host::LocalZone;
use ccm_model::{
    CheckCounts, Event, EventLine, RefreshSummary, RunSummary, SourceVersion, StartedBy, TransactionLine,
    display_duration, display_timestamp, escape_control, parse_timestamp,
};
use serde_json::{Value, json};

use super::{History, RunOutcome, StoredRun, StoredSummary};
use crate::screen::Screen;
use crate::table::{Column, table};
use crate::text::{TextOptions, TextReport, Verbosity, summary};

/// Number of columns of a screen from which on a table has room for all counts of a run.
const WIDE: usize = 100;

/// Columns of the list of runs.
const COLUMNS: [Column; 7] = [
    Column::new("BEGIN"),
    Column::new("DURATION").optional(),
    Column::new("RUN"),
    Column::new("EXIT").optional(),
    Column::new("RESOURCES").cut_to(16),
    Column::new("BY").cut_to(8),
    Column::new("MANIFEST").cut_to(12),
];

impl History {
    /// Returns runs as text, a line each.
    pub fn text(&self, runs: &[&StoredRun], zone: &LocalZone) -> String {
        if self.runs().is_empty() {
            return format!("no runs are recorded in {}\n", self.path().display());
        }
        if runs.is_empty() {
            return format!("none of the {} recorded runs matches\n", self.runs().len());
        }
        let rows: Vec<_> = runs.iter().map(|run| self.row(run, zone)).collect();
        table(COLUMNS, &rows, self.screen)
    }

    fn row(&self, run: &StoredRun, zone: &LocalZone) -> [String; 7] {
        let plain = |text: &str| escape_control(text).into_owned();
        let (duration, exit, counts) = match &run.summary {
            Some(stored) => {
                let duration = if stored.outcome() == RunOutcome::Refused {
                    "-".to_owned()
                } else {
                    display_duration(stored.duration)
                };
                (duration, stored.exit_code.to_string(), counted(stored, self.screen))
            }
            None if run.ended => ("-".to_owned(), "?".to_owned(), "no summary".to_owned()),
            None => ("-".to_owned(), "-".to_owned(), "unfinished".to_owned()),
        };
        let by = run.started_by().map_or_else(|| "-".to_owned(), |started| plain(&started.short_label()));
        let short = self.short(&run.id).to_owned();
        [run.begin(zone), duration, short, exit, counts, by, plain(run.manifest())]
    }

    /// Returns runs as JSON.
    pub fn json(&self, runs: &[&StoredRun]) -> Value {
        runs.iter().map(|run| run.json()).collect()
    }

    /// Returns a run as text, in the form of the report. Level and outcome are coloured by ANSI codes.
    pub fn run_text(&self, run: &StoredRun, events: Vec<EventLine>, zone: &LocalZone) -> String {
        let mut text = format!("run {} of {}\n", self.short(&run.id), escape_control(run.manifest()));
        text += &format!("began {}", run.begin(zone));
        if let Some(summary) = &run.summary {
            if summary.outcome() != RunOutcome::Refused {
                text += &format!(", took {}", display_duration(summary.duration));
            }
            let version = escape_control(&summary.version);
            text += &format!(", exit code {}, ccm {version}", summary.exit_code);
            if summary.monitor_only {
                text += ", only health checks";
            }
        }
        text.push('\n');
        if let Some(started_by) = run.started_by() {
            text += &format!("started by {}\n", described(started_by));
        }
        if let Some(SourceVersion { name, version, digest }) = run.source() {
            let (name, version) = (escape_control(name), version.to_string());
            let (version, digest) = (escape_control(&version), escape_control(digest));
            text += &format!("source {name}, {version}, {digest}\n");
        }
        self.screen.folded(&text).into_owned() + &run.result_text(events, self.screen)
    }
}

impl StoredRun {
    /// Returns the path of the manifest, or `?` if no part of the record can be read.
    pub fn manifest(&self) -> &str {
        match (&self.summary, &self.start) {
            (Some(summary), _) => &summary.manifest,
            (None, Some(start)) => &start.manifest,
            (None, None) => "?",
        }
    }

    /// Returns the user, terminal and unit that started the run. Earlier versions did not record them.
    pub fn started_by(&self) -> Option<&StartedBy> {
        self.start.as_ref()?.started_by.as_deref()
    }

    /// Returns the version of the source that the manifest came from.
    pub fn source(&self) -> Option<&SourceVersion> {
        self.start.as_ref()?.source.as_deref()
    }

    /// Returns the time of the beginning. The id also holds the time, for a run without other readable data.
    pub fn began(&self) -> Option<SystemTime> {
        let recorded = self.summary.as_ref().and_then(|summary| parse_timestamp(&summary.begin));
        recorded.or_else(|| self.start.as_ref().map(|start| start.timestamp)).or_else(|| time_of_id(&self.id))
    }

    /// Returns the time of the end; `None` if it is not known.
    pub fn ended_at(&self) -> Option<SystemTime> {
        parse_timestamp(&self.summary.as_ref()?.end)
    }

    fn begin(&self, zone: &LocalZone) -> String {
        self.began().map_or_else(|| "?".to_owned(), |began| zone.display(began))
    }

    /// Returns `true` if nothing but health checks ran.
    pub fn is_monitor_only(&self) -> bool {
        self.summary.as_ref().is_some_and(|summary| summary.monitor_only)
    }

    /// Returns `true` if no end is recorded.
    pub fn is_unfinished(&self) -> bool {
        self.summary.is_none() && !self.ended
    }

    /// Returns the number of resources with each outcome, in words; on a narrow screen the most important of them.
    pub fn counts_text(&self, screen: Screen) -> Option<String> {
        self.summary.as_ref().map(|stored| counted(stored, screen))
    }

    /// Returns the result of the run as JSON.
    pub fn json(&self) -> Value {
        let mut shown = if let Some(summary) = &self.summary {
            let mut shown = json!({ "finished": true });
            if let (Some(shown), Ok(Value::Object(stored))) =
                (shown.as_object_mut(), serde_json::to_value(summary))
            {
                shown.extend(stored);
            }
            shown["outcome"] = json!(summary.outcome());
            shown
        } else {
            let begin = self.began().map_or_else(|| "?".to_owned(), |began| display_timestamp(began, 2));
            json!({
                "finished": self.ended, "run_id": self.id, "manifest": self.manifest(), "begin": begin
            })
        };
        shown["started_by"] = json!(self.started_by());
        if let Some(source) = self.source() {
            shown["source"] = json!(source);
        }
        shown
    }

    /// Returns the run as JSON, with its events.
    pub fn json_with(&self, events: &[EventLine]) -> Value {
        json!({ "run": self.json(), "events": transactions(events).collect::<Vec<_>>() })
    }

    fn result_text(&self, events: Vec<EventLine>, screen: Screen) -> String {
        if let Some(summary) = self.summary.as_ref().filter(|found| found.outcome() == RunOutcome::Refused) {
            // The lines of excerpts, which begin with a blank or a number, stay as they are.
            let is_of_words = |line: &str| line.starts_with(|first: char| first.is_ascii_alphabetic());
            let shown = |line: &str| {
                let shown = format!("{}\n", escape_control(line));
                if is_of_words(line) { screen.folded(&shown).into_owned() } else { shown }
            };
            let errors: String = summary.errors.lines().map(shown).collect();
            let head = screen.folded("the manifest was refused; nothing was run\n");
            return format!("{head}{errors}");
        }
        // The report of a run has no diffs by default; those of a whole run would hide everything else.
        let without_diff = |event: EventLine| match event {
            EventLine::Transaction(line) => {
                EventLine::Transaction(Box::new(TransactionLine { diff: None, ..*line }))
            }
            other => other,
        };
        let mut events: Vec<Event> = events.into_iter().map(without_diff).map(Event::from).collect();
        let has_end = events.iter().any(|event| matches!(event, Event::SessionFinished(_)));
        if let Some(summary) = self.summary.as_ref().filter(|_| !has_end) {
            events.push(Event::SessionFinished(Box::new(summary_of(summary))));
        }
        let end = match &self.summary {
            Some(_) => "",
            None if self.ended => "the run ended, but its summary is missing or damaged\n",
            None => "unfinished: ccm was killed during this run, or the run is still going on\n",
        };
        report_of(events, screen) + end
    }
}

/// Returns the report of recorded events.
pub(super) fn report_of(events: impl IntoIterator<Item = Event>, screen: Screen) -> String {
    let options = TextOptions { verbosity: Verbosity::Verbose, screen, ..TextOptions::default() };
    let events: Vec<Event> = events.into_iter().collect();
    let ids = events.iter().filter_map(|event| match event {
        Event::ResourceFinished(transaction) => Some(&transaction.id),
        _ => None,
    });
    let mut report = TextReport::of_record(Vec::new(), options).with_resources(ids);
    for event in &events {
        report.accept(event);
    }
    // Memory takes everything.
    String::from_utf8_lossy(&report.into_inner().unwrap_or_default()).into_owned()
}

/// Returns the time since a moment, such as `3h ago`.
pub(super) fn age(at: SystemTime, now: SystemTime) -> String {
    match now.duration_since(at) {
        Ok(age) => format!("{} ago", rounded(age)),
        Err(_) => "in the future".to_owned(),
    }
}

/// Returns a duration in its greatest unit: `59s`, `12m`, `3h`, `5d`.
pub fn rounded(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

/// Returns who started a run: user, terminal and unit.
fn described(started_by: &StartedBy) -> String {
    let StartedBy { uid, user, sudo_user, unit, terminal, .. } = started_by;
    let mut text = match user {
        Some(user) => format!("{user} (uid {uid})"),
        None => format!("uid {uid}"),
    };
    for (label, value) in [("sudo by", sudo_user), ("unit", unit), ("terminal", terminal)] {
        if let Some(value) = value {
            text += &format!(", {label} {value}");
        }
    }
    escape_control(&text).into_owned()
}

/// Returns the time at the beginning of the id of a run.
fn time_of_id(id: &str) -> Option<SystemTime> {
    let milliseconds = u64::from_str_radix(&id.get(..13)?.replace('-', ""), 16).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
}

fn summary_of(stored: &StoredSummary) -> RunSummary {
    RunSummary {
        noop: stored.noop,
        duration: stored.duration,
        counts: stored.counts,
        checks: stored.checks,
        monitor_only: stored.monitor_only,
        stopped: stored.stopped.as_ref().map(|stopped| stopped.cause.clone()),
        message: None,
        refreshes: RefreshSummary::default(),
    }
}

fn counted(stored: &StoredSummary, screen: Screen) -> String {
    match stored.outcome() {
        RunOutcome::Refused => "refused".to_owned(),
        _ if stored.monitor_only => checks_counted(&stored.checks),
        _ if screen.width.is_some_and(|width| width < WIDE) => summary::counted_briefly(&summary_of(stored)),
        _ => format!("{}: {}", stored.counts.total, summary::counted(&summary_of(stored))),
    }
}

/// Returns the counts of a run of health checks alone.
fn checks_counted(checks: &CheckCounts) -> String {
    let CheckCounts { ok, warning, critical, unknown, not_run: _ } = *checks;
    let counts = [(critical, "critical"), (unknown, "unknown"), (warning, "warning"), (ok, "ok")];
    let shown = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let shown: Vec<String> = shown.collect();
    format!("only checks: {}", if shown.is_empty() { "none".to_owned() } else { shown.join(", ") })
}

pub(super) fn transactions(events: &[EventLine]) -> impl Iterator<Item = &TransactionLine<'static>> {
    events.iter().filter_map(|event| match event {
        EventLine::Transaction(line) => Some(&**line),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_one_unit() {
        for (seconds, expected) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3599, "59m"),
            (3600, "1h"),
            (86_400, "24h"),
            (172_800, "2d"),
        ] {
            assert_eq!(rounded(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn the_origin_of_a_run_is_described() {
        let text = |text: &str| Some(text.to_owned());
        let timer = StartedBy {
            uid: 0,
            user: text("root"),
            sudo_user: None,
            unit: text("ccm-apply@site.service"),
            invocation_id: text("8f"),
            terminal: None,
        };
        assert_eq!(described(&timer), "root (uid 0), unit ccm-apply@site.service");
        let person = StartedBy { sudo_user: text("ada"), unit: None, terminal: text("/dev/pts/1"), ..timer };
        assert_eq!(described(&person), "root (uid 0), sudo by ada, terminal /dev/pts/1");
    }
}
