//! `ccm history`: the recorded runs.

use std::io::stdout;

use anstream::AutoStream;
use anstream::ColorChoice;
use anstream::adapter::strip_str;
use ccm_report::{ExecutionError, FindError, History, MatchingRun, RunFilter, StoreError, StoredRun};
use ccm_runtime::process::{Clock as _, SystemClock};
use ccm_runtime::{ExitCode, LocalZone, printed};

use crate::arguments::{DocumentFormat, HistoryArguments};
use crate::console::Console;
use crate::listeners::report_screen;
use crate::{session, state};

/// Number of slow resources, and of changes of a resource, that are listed by default.
const LISTED: usize = 10;

/// Lists the recorded runs, shows one, or shows the changes of a resource.
pub(crate) fn run(arguments: &HistoryArguments, console: &Console) -> ExitCode {
    let session = session::open_with(console, &arguments.state);
    let history = session.history().map_err(|error| state::report_state_error(console, &session, &error));
    let shown = history.and_then(|history| {
        let history = history.for_screen(report_screen());
        let view = View { console, history: &history, arguments, zone: LocalZone::of_this_process() };
        view.render()
    });
    match shown {
        Ok(text) => console.print(&coloured_if_supported(text)),
        Err(code) => code,
    }
}

/// What one call shows.
struct View<'v> {
    console: &'v Console,
    history: &'v History,
    arguments: &'v HistoryArguments,
    zone: LocalZone,
}

impl View<'_> {
    fn render(&self) -> Result<String, ExitCode> {
        let HistoryArguments { run, in_run, slowest, resource, .. } = self.arguments;
        if *slowest {
            // Without a run, the newest of those that the filter selects.
            let selected = self.history.select(&RunFilter { limit: Some(1), ..self.filter() });
            return match (run, selected.first()) {
                (None, Some(run)) => self.slowest(run),
                (run, _) => self.slowest(self.find(run.as_deref().unwrap_or("last"))?),
            };
        }
        match (run, in_run) {
            (Some(run), Some(resource)) => self.resource_in(self.find(run)?, resource),
            (Some(run), None) => self.run(self.find(run)?),
            (None, _) if resource.is_some() => Ok(self.changes()),
            (None, _) => Ok(self.list()),
        }
    }

    fn is_json(&self) -> bool {
        self.arguments.output == DocumentFormat::Json
    }

    fn filter(&self) -> RunFilter {
        let HistoryArguments { changed, failed, manifest, since, .. } = self.arguments;
        let now = SystemClock::new().now();
        let since = since.and_then(|since| now.checked_sub(since));
        RunFilter { changed: *changed, failed: *failed, manifest: manifest.clone(), since, limit: None }
    }

    fn list(&self) -> String {
        let runs = self.history.select(&RunFilter { limit: self.arguments.limit, ..self.filter() });
        if self.is_json() {
            return printed::document(&self.history.json(&runs));
        }
        self.history.text(&runs, &self.zone)
    }

    /// Shows the changes of a resource.
    fn changes(&self) -> String {
        let Some(resource) = &self.arguments.resource else { return String::new() };
        let runs = self.history.select(&self.filter());
        let limit = self.arguments.limit.unwrap_or(LISTED).max(1);
        let changes = self.history.changes(&runs, resource, limit);
        for error in &changes.unreadable {
            self.console.warning_of(error);
        }
        if self.is_json() {
            return printed::document(&changes.json());
        }
        changes.text(self.history, &self.zone, SystemClock::new().now())
    }

    fn slowest(&self, run: &StoredRun) -> Result<String, ExitCode> {
        let limit = self.arguments.limit.unwrap_or(LISTED);
        let events = self.history.events(run).map_err(|error| self.unreadable(&error))?;
        Ok(if self.is_json() {
            printed::document(&self.history.slowest_json(run, &events, limit))
        } else {
            self.history.slowest_text(run, &events, limit)
        })
    }

    fn run(&self, run: &StoredRun) -> Result<String, ExitCode> {
        let events = self.history.events(run).map_err(|error| self.unreadable(&error))?;
        Ok(if self.is_json() {
            printed::document(&run.json_with(&events))
        } else {
            self.history.run_text(run, events, &self.zone)
        })
    }

    /// Shows a resource of a run.
    fn resource_in(&self, run: &StoredRun, name: &str) -> Result<String, ExitCode> {
        let resource = self.history.resource(run, name).map_err(|error| self.unreadable(&error))?;
        let resource = resource.map_err(|error| {
            let hint = match &error {
                ExecutionError::Unknown { known, .. } if known.is_empty() => None,
                ExecutionError::Unknown { known, .. } => Some(format!("use one of: {}", known.join(", "))),
                ExecutionError::Ambiguous { .. } => Some("add the position of the resource".to_owned()),
            };
            let is_empty = matches!(&error, ExecutionError::Unknown { known, .. } if known.is_empty());
            let consequence = if is_empty { "the record has no results of any exec" } else { "" };
            self.console.error_of(&error, consequence, hint.as_slice());
            ExitCode::NothingRun
        })?;
        Ok(if self.is_json() { printed::document(&resource.json()) } else { resource.text(report_screen()) })
    }

    fn find(&self, prefix: &str) -> Result<&StoredRun, ExitCode> {
        self.history.find(prefix).map_err(|error| {
            let newest = self.history.runs().first();
            match &error {
                FindError::Ambiguous { runs, .. } => self.report_ambiguous(&error, runs),
                FindError::Unknown { .. } => {
                    let newest = newest.map(|newest| self.history.short(&newest.id));
                    let hint = newest.map(|newest| {
                        format!("use a run that `ccm history` lists, or `last`; the newest is {newest}")
                    });
                    let consequence = if newest.is_none() { "no runs are recorded there" } else { "" };
                    self.console.error_of(&error, consequence, hint.as_slice());
                }
                FindError::Empty { .. } => self.console.error_of(&error, "", &[]),
            }
            ExitCode::NothingRun
        })
    }

    /// Reports the runs that a prefix matches, each with its time and manifest.
    fn report_ambiguous(&self, error: &FindError, runs: &[MatchingRun]) {
        const MAX_LISTED: usize = 10;
        let line = |run: &MatchingRun| {
            let began = run.began.map_or_else(|| "?".to_owned(), |began| self.zone.display(began));
            format!("{}  {began}  {}", run.short_id, run.manifest)
        };
        let mut lines: Vec<String> = runs.iter().take(MAX_LISTED).map(line).collect();
        let more = runs.len().saturating_sub(MAX_LISTED);
        lines.extend((more > 0).then(|| format!("and {more} more")));
        self.console.error_with_list(
            &error.to_string(),
            &lines,
            &["write more characters of the id".to_owned()],
        );
    }

    fn unreadable(&self, error: &StoreError) -> ExitCode {
        self.console.error_of(error, "", &[]);
        ExitCode::NothingRun
    }
}

/// Removes the colours if standard output does not support them.
fn coloured_if_supported(text: String) -> String {
    match AutoStream::choice(&stdout()) {
        ColorChoice::Never => strip_str(&text).to_string(),
        _ => text,
    }
}
