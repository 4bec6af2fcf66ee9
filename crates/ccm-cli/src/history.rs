//! `ccm history`: the runs that were recorded.

use std::io::stdout;
use std::path::Path;

use anstream::AutoStream;
use anstream::ColorChoice;
use anstream::adapter::strip_str;
use ccm_report::{ExecutionError, FindError, History, StoreError, StoredRun};

use crate::arguments::{self, HistoryOutput};
use crate::exit::Code;
use crate::show::print;
use crate::{messages, state};

/// Lists the recorded runs, or shows one.
pub(crate) fn run(arguments: &arguments::History) -> Code {
    let state = match state::path(&arguments.state) {
        Ok(state) => state,
        Err(error) => {
            messages::from_error(&error, "", &[error.hint()]);
            return Code::NothingRun;
        }
    };
    let shown = recorded(&state).and_then(|history| match &arguments.run {
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

/// The runs that were recorded in a state directory, or words about why they can't be read.
pub(crate) fn recorded(state: &Path) -> Result<History, Code> {
    History::open(state).map_err(|error| {
        let hints: Vec<String> = match &error {
            StoreError::Read { path, source } => vec![state::hint(path, source)],
            _ => Vec::new(),
        };
        messages::from_error(&error, "", &hints);
        Code::NothingRun
    })
}

fn list(history: &History, output: HistoryOutput) -> String {
    match output {
        HistoryOutput::Text => history.text(),
        HistoryOutput::Json => format!("{:#}\n", history.json()),
    }
}

fn found<'h>(history: &'h History, prefix: &str) -> Result<&'h StoredRun, Code> {
    history.find(prefix).map_err(|error| {
        let hint = match &error {
            FindError::Ambiguous { .. } => "write more of the id".to_owned(),
            FindError::Unknown { .. } => match history.runs().first() {
                Some(newest) => format!("the newest is {}; `ccm history` lists all", newest.id),
                None => "no runs are recorded there".to_owned(),
            },
        };
        messages::from_error(&error, "", &[hint]);
        Code::NothingRun
    })
}

/// What an exec left in the record of a run.
fn execution(
    history: &History,
    run: &StoredRun,
    wanted: &str,
    output: HistoryOutput,
) -> Result<String, Code> {
    let execution = history.execution(run, wanted).map_err(|error| {
        messages::from_error(&error, "", &[]);
        Code::NothingRun
    })?;
    let execution = execution.map_err(|error| {
        let hint = match &error {
            ExecutionError::Unknown { known, .. } if known.is_empty() => "none of that run did".to_owned(),
            ExecutionError::Unknown { known, .. } => format!("these did: {}", known.join(", ")),
            ExecutionError::Ambiguous { .. } => "write its position as well".to_owned(),
        };
        messages::from_error(&error, "", &[hint]);
        Code::NothingRun
    })?;
    Ok(match output {
        HistoryOutput::Text => execution.text(),
        HistoryOutput::Json => format!("{:#}\n", execution.json()),
    })
}

fn one(history: &History, run: &StoredRun, output: HistoryOutput) -> Result<String, Code> {
    let events = history.events(run).map_err(|error| {
        messages::from_error(&error, "", &[]);
        Code::NothingRun
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
