//! `ccm history`: the recorded runs.

use std::io::stdout;

use anstream::AutoStream;
use anstream::ColorChoice;
use anstream::adapter::strip_str;
use ccm_report::{ExecutionError, FindError, History, StoredRun};
use ccm_runtime::{ExitCode, printed};

use crate::arguments::{self, DocumentFormat};
use crate::console::Console;
use crate::{session, state};

/// Lists the recorded runs, or shows one.
pub(crate) fn run(arguments: &arguments::HistoryArguments, console: &Console) -> ExitCode {
    let session = session::open_with(console, &arguments.state);
    let history = session.history().map_err(|error| state::report_state_error(console, &session, &error));
    let shown = history.and_then(|history| match &arguments.run {
        None => Ok(list(&history, arguments.output)),
        Some(prefix) => find_run(console, &history, prefix).and_then(|run| match &arguments.exec {
            None => show_run(console, &history, run, arguments.output),
            Some(exec) => execution(console, &history, run, exec, arguments.output),
        }),
    });
    match shown {
        Ok(text) => console.print(&coloured_if_supported(text)),
        Err(code) => code,
    }
}

fn list(history: &History, output: DocumentFormat) -> String {
    match output {
        DocumentFormat::Text => history.text(),
        DocumentFormat::Json => printed::document(&history.json()),
    }
}

fn find_run<'h>(console: &Console, history: &'h History, prefix: &str) -> Result<&'h StoredRun, ExitCode> {
    history.find(prefix).map_err(|error| {
        let hint = match (&error, history.runs().first()) {
            (FindError::Ambiguous { .. }, _) => Some("write more characters of the id".to_owned()),
            (FindError::Unknown { .. }, Some(newest)) => {
                Some(format!("use a run that `ccm history` lists; the newest is {}", newest.id))
            }
            (FindError::Unknown { .. }, None) => None,
        };
        let consequence = if history.runs().is_empty() { "no runs are recorded there" } else { "" };
        console.error_of(&error, consequence, hint.as_slice());
        ExitCode::NothingRun
    })
}

/// Shows the files of an exec in the record of a run.
fn execution(
    console: &Console,
    history: &History,
    run: &StoredRun,
    name: &str,
    output: DocumentFormat,
) -> Result<String, ExitCode> {
    let execution = history.execution(run, name).map_err(|error| {
        console.error_of(&error, "", &[]);
        ExitCode::NothingRun
    })?;
    let execution = execution.map_err(|error| {
        let hint = match &error {
            ExecutionError::Unknown { known, .. } if known.is_empty() => None,
            ExecutionError::Unknown { known, .. } => Some(format!("use one of: {}", known.join(", "))),
            ExecutionError::Ambiguous { .. } => Some("add the position of the resource".to_owned()),
        };
        let is_empty = matches!(&error, ExecutionError::Unknown { known, .. } if known.is_empty());
        let consequence = if is_empty { "the record has no results of any exec" } else { "" };
        console.error_of(&error, consequence, hint.as_slice());
        ExitCode::NothingRun
    })?;
    Ok(match output {
        DocumentFormat::Text => execution.text(),
        DocumentFormat::Json => printed::document(&execution.json()),
    })
}

fn show_run(
    console: &Console,
    history: &History,
    run: &StoredRun,
    output: DocumentFormat,
) -> Result<String, ExitCode> {
    let events = history.events(run).map_err(|error| {
        console.error_of(&error, "", &[]);
        ExitCode::NothingRun
    })?;
    Ok(match output {
        DocumentFormat::Text => run.text_with(events),
        DocumentFormat::Json => printed::document(&run.json_with(&events)),
    })
}

/// Removes the colours if standard output does not support them.
fn coloured_if_supported(text: String) -> String {
    match AutoStream::choice(&stdout()) {
        ColorChoice::Never => strip_str(&text).to_string(),
        _ => text,
    }
}
