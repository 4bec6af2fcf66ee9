//! `ccm history`: the recorded runs.

use std::io::stdout;
use std::path::Path;

use anstream::AutoStream;
use anstream::ColorChoice;
use anstream::adapter::strip_str;
use ccm_runtime::process::{Clock as _, SystemClock};
use ccm_runtime::report::{
    ExecutionError, FindError, History, MatchingRun, RunFilter, RunGraph, StoreError, StoredRun,
};
use ccm_runtime::{ExitCode, LocalZone, RunOutcome, StoredSummary, page, printed};

use crate::arguments::{HistoryArguments, HistoryFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::listeners::report_screen;
use crate::page::write_page;
use crate::{session, state};

/// Number of slow resources, and of changes of a resource, that are listed by default.
const LISTED: usize = 10;

/// Lists the recorded runs, shows one, or shows the changes of a resource.
pub(crate) fn run(arguments: &HistoryArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let history = session.history().map_err(|error| state::state_error(&session, &error))?;
    let history = history.for_screen(report_screen());
    let view = View { console, history: &history, arguments, zone: LocalZone::of_this_process() };
    match &arguments.html {
        Some(path) => view.write_page(path),
        None => console.print(&coloured_if_supported(view.render()?)),
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
    fn render(&self) -> CommandResult<String> {
        let HistoryArguments { run, in_run, slowest, critical, resource, output, .. } = self.arguments;
        if output.format == HistoryFormat::Trace
            && (run.is_none() || in_run.is_some() || *slowest || *critical)
        {
            return Err(CommandError::usage("a trace is that of a run").hint("name a run, or `last`"));
        }
        if *slowest || *critical {
            // Without a run, the newest of those that the filter selects.
            let selected = self.history.select(&RunFilter { limit: Some(1), ..self.filter() });
            let run = match (run, selected.first()) {
                (None, Some(run)) => run,
                (run, _) => self.find(run.as_deref().unwrap_or("last"))?,
            };
            return if *critical { self.critical(run) } else { self.slowest(run) };
        }
        match (run, in_run) {
            (Some(run), Some(resource)) => self.resource_in(self.find(run)?, resource),
            (Some(run), None) => self.run(self.find(run)?),
            (None, _) if resource.is_some() => Ok(self.changes()),
            (None, _) => Ok(self.list()),
        }
    }

    fn is_json(&self) -> bool {
        self.arguments.output.format == HistoryFormat::Json
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

    fn slowest(&self, run: &StoredRun) -> CommandResult<String> {
        let limit = self.arguments.limit.unwrap_or(LISTED);
        let events = self.history.events(run)?;
        Ok(if self.is_json() {
            printed::document(&self.history.slowest_json(run, &events, limit))
        } else {
            self.history.slowest_text(run, &events, limit)
        })
    }

    /// Shows the longest chain of dependencies.
    fn critical(&self, run: &StoredRun) -> CommandResult<String> {
        let graph = self.history.graph(run).ok_or_else(|| no_graph(self.history.short(&run.id)))?;
        Ok(if self.is_json() {
            printed::document(&self.history.critical_json(run, &graph))
        } else {
            self.history.critical_text(run, &graph)
        })
    }

    /// Writes the page of a run, or of the past of the machine.
    fn write_page(&self, path: &Path) -> CommandResult {
        let page = if let Some(run) = &self.arguments.run {
            let view = self.history.view(self.find(run)?)?;
            page::run_page(&view, &self.zone)
        } else {
            let runs = self.history.select(&RunFilter { limit: self.arguments.limit, ..self.filter() });
            let past = self.history.past(&runs);
            for error in &past.unreadable {
                self.console.warning_of(error);
            }
            page::machine_page(&past, &self.zone)
        };
        let page = page.map_err(|error| CommandError::of(&error))?;
        write_page(path, &page, self.console)?;
        Ok(ExitCode::Success)
    }

    fn run(&self, run: &StoredRun) -> CommandResult<String> {
        let events = self.history.events(run)?;
        if self.arguments.output.format == HistoryFormat::Trace {
            let graph = self.history.graph(run).unwrap_or_else(|| RunGraph::of_events(&events));
            return Ok(printed::document(&run.trace(&graph)));
        }
        Ok(if self.is_json() {
            printed::document(&run.json_with(&events))
        } else {
            self.history.run_text(run, events, &self.zone)
        })
    }

    /// Shows a resource of a run.
    fn resource_in(&self, run: &StoredRun, name: &str) -> CommandResult<String> {
        let resource = self.history.resource(run, name)?;
        let resource = resource.map_err(|error| {
            let found = CommandError::of(&error);
            match &error {
                ExecutionError::Unknown { known, .. } if known.is_empty() => {
                    found.therefore(match run.summary.as_ref().map(StoredSummary::outcome) {
                        Some(RunOutcome::Refused) => "its manifest was refused, so that nothing was run",
                        _ => "the record has no results of any exec",
                    })
                }
                ExecutionError::Unknown { known, .. } => {
                    found.hint(format!("use one of: {}", known.join(", ")))
                }
                ExecutionError::Ambiguous { .. } => found.hint("add the position of the resource"),
            }
        })?;
        Ok(if self.is_json() { printed::document(&resource.json()) } else { resource.text(report_screen()) })
    }

    fn find(&self, prefix: &str) -> CommandResult<&StoredRun> {
        self.history.find(prefix).map_err(|error| {
            let found = CommandError::of(&error);
            match (&error, self.history.runs().first()) {
                (FindError::Ambiguous { runs, .. }, _) => {
                    found.with_list(self.listed(runs)).hint("write more characters of the id")
                }
                (FindError::Unknown { .. }, Some(newest)) => found.hint(format!(
                    "use a run that `ccm history` lists, or `last`; the newest is {}",
                    self.history.short(&newest.id)
                )),
                (FindError::Unknown { .. }, None) => found.therefore("no runs are recorded there"),
                (FindError::Empty { .. }, _) => found,
            }
        })
    }

    /// Returns the lines of runs that a prefix matches, each with its time and manifest.
    fn listed(&self, runs: &[MatchingRun]) -> Vec<String> {
        const MAX_LISTED: usize = 10;
        let line = |run: &MatchingRun| {
            let began = run.began.map_or_else(|| "?".to_owned(), |began| self.zone.display(began));
            format!("{}  {began}  {}", run.short_id, run.manifest)
        };
        let mut lines: Vec<String> = runs.iter().take(MAX_LISTED).map(line).collect();
        let more = runs.len().saturating_sub(MAX_LISTED);
        lines.extend((more > 0).then(|| format!("and {more} more")));
        lines
    }
}

fn no_graph(run: &str) -> CommandError {
    CommandError::new(format!("run {run} has no graph in its record"))
        .therefore("a graph is recorded if a run changes something or fails")
        .hint("use `ccm apply --record full` to record it in any case")
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::of(&error)
    }
}

/// Removes the colours if standard output does not support them.
fn coloured_if_supported(text: String) -> String {
    match AutoStream::choice(&stdout()) {
        ColorChoice::Never => strip_str(&text).to_string(),
        _ => text,
    }
}
