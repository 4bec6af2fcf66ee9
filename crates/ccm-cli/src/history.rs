//! `ccm history`: the runs that were recorded.

use std::io::stdout;

use anstream::AutoStream;
use anstream::ColorChoice;
use anstream::adapter::strip_str;
use ccm_report::{ExecutionError, FindError, History, StoredRun};

use crate::arguments::{self, HistoryOutput};
use crate::show::print;
use crate::{messages, session, state};
use ccm_runtime::ExitCode;

/// Lists the recorded runs, or shows one.
pub(crate) fn run(arguments: &arguments::History) -> ExitCode {
    let history = session::open_with(&arguments.state).history();
    let history = history.map_err(|error| state::not_read(&error));
    let shown = history.and_then(|history| match &arguments.run {
        None => Ok(list(&history, arguments.output)),
        Some(prefix) => found(&history, prefix).and_then(|run| match &arguments.exec {
            None => one(&history, run, arguments.output),
            Some(exec) => execution(&history, run, exec, arguments.output),
        }),
    });
    match shown {
        Ok(text) => print(&coloured(text)),
        Err(code) => code,
    }
}

fn list(history: &History, output: HistoryOutput) -> String {
    match output {
        HistoryOutput::Text => history.text(),
        HistoryOutput::Json => format!("{:#}\n", history.json()),
    }
}

fn found<'h>(history: &'h History, prefix: &str) -> Result<&'h StoredRun, ExitCode> {
    history.find(prefix).map_err(|error| {
        let hint = match &error {
            FindError::Ambiguous { .. } => "write more of the id".to_owned(),
            FindError::Unknown { .. } => match history.runs().first() {
                Some(newest) => format!("the newest is {}; `ccm history` lists all", newest.id),
                None => "no runs are recorded there".to_owned(),
            },
        };
        messages::from_error(&error, "", &[hint]);
        ExitCode::NothingRun
    })
}

/// What an exec left in the record of a run.
fn execution(
    history: &History,
    run: &StoredRun,
    wanted: &str,
    output: HistoryOutput,
) -> Result<String, ExitCode> {
    let execution = history.execution(run, wanted).map_err(|error| {
        messages::from_error(&error, "", &[]);
        ExitCode::NothingRun
    })?;
    let execution = execution.map_err(|error| {
        let hint = match &error {
            ExecutionError::Unknown { known, .. } if known.is_empty() => "none of that run did".to_owned(),
            ExecutionError::Unknown { known, .. } => format!("these did: {}", known.join(", ")),
            ExecutionError::Ambiguous { .. } => "write its position as well".to_owned(),
        };
        messages::from_error(&error, "", &[hint]);
        ExitCode::NothingRun
    })?;
    Ok(match output {
        HistoryOutput::Text => execution.text(),
        HistoryOutput::Json => format!("{:#}\n", execution.json()),
    })
}

fn one(history: &History, run: &StoredRun, output: HistoryOutput) -> Result<String, ExitCode> {
    let events = history.events(run).map_err(|error| {
        messages::from_error(&error, "", &[]);
        ExitCode::NothingRun
    })?;
    Ok(match output {
        HistoryOutput::Text => run.text_with(&events),
        HistoryOutput::Json => format!("{:#}\n", run.json_with(&events)),
    })
}

/// Takes the colours out where they are not wanted.
fn coloured(text: String) -> String {
    match AutoStream::choice(&stdout()) {
        ColorChoice::Never => strip_str(&text).to_string(),
        _ => text,
    }
}
