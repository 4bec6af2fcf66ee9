//! `ccm session`: sessions of `ccm ensure`.

use ccm_runtime::ensure::{
    SessionOutcomes, SessionResource, SessionStoreError, new_session_directory, remove_session,
    session_outcomes,
};
use ccm_runtime::model::{display_duration, escape_control, quote_words};
use ccm_runtime::{ExitCode, LockError, StateError, printed};
use serde_json::{Value, json};
use std::time::Duration;

use crate::arguments::{DocumentFormat, SessionCommand, SessionNewArguments, SessionReportArguments};
use crate::console::Console;
use crate::ensure::{SESSION_VARIABLE, session_of_environment};
use crate::error::{CommandError, CommandResult};
use crate::reactor::block_on;

/// Runs a command about sessions.
pub(crate) fn run(command: &SessionCommand, console: &Console) -> CommandResult {
    match command {
        SessionCommand::New(arguments) => begin(arguments, console),
        SessionCommand::Report(arguments) => report(arguments, console),
    }
}

/// Makes the directory of a session, and prints the command for the shell.
fn begin(arguments: &SessionNewArguments, console: &Console) -> CommandResult {
    let path = new_session_directory(arguments.directory.as_deref()).map_err(|error| store_error(&error))?;
    let Some(path) = path.to_str() else {
        return Err(CommandError::new("the path of the session directory is not UTF-8 text"));
    };
    console.print(&format!("export {SESSION_VARIABLE}={}\n", quote_words([path])))
}

fn report(arguments: &SessionReportArguments, console: &Console) -> CommandResult {
    let Some(path) = arguments.session.clone().or_else(session_of_environment) else {
        let hint = "begin one with `eval \"$(ccm session new)\"`, or name its directory with `--session DIR`";
        return Err(CommandError::usage("there is no session").hint(hint));
    };
    let outcomes = session_outcomes(&path).map_err(|error| store_error(&error))?;
    console.print(&match arguments.output.format {
        DocumentFormat::Text => text(&outcomes),
        DocumentFormat::Json => printed::document(&document(&outcomes)),
    })?;
    if arguments.remove {
        block_on(remove_session(&path))?.map_err(|error| store_error(&error))?;
    }
    Ok(ExitCode::Success)
}

fn text(outcomes: &SessionOutcomes) -> String {
    let SessionOutcomes { resources, pending, .. } = outcomes;
    let mut text = String::new();
    let words = |resource: &SessionResource| resource.outcome.words();
    let width = resources.iter().map(|resource| words(resource).len()).max().unwrap_or_default();
    for resource in resources {
        let calls = if resource.calls > 1 { format!(" ({} calls)", resource.calls) } else { String::new() };
        text +=
            &format!("{:width$}  {}{calls}\n", words(resource), escape_control(&resource.id().to_string()));
    }
    for (subscriber, source) in pending {
        let line = format!("{subscriber} still needs a refresh: {source} changed");
        text += &format!("{}\n", escape_control(&line));
    }
    let duration = resources.iter().map(|resource| resource.duration_ns).fold(0, u64::saturating_add);
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for resource in resources {
        match counts.iter_mut().find(|(word, _)| *word == words(resource)) {
            Some((_, count)) => *count += 1,
            None => counts.push((words(resource), 1)),
        }
    }
    let counts: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let noun = if resources.len() == 1 { "resource" } else { "resources" };
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    let blank = if resources.is_empty() { "" } else { "\n" };
    let duration = display_duration(Duration::from_nanos(duration - duration % 1_000_000));
    text + &format!("{blank}{} {noun} in {duration}{counts}\n", resources.len())
}

fn document(outcomes: &SessionOutcomes) -> Value {
    let resource = |resource: &SessionResource| {
        json!({
            "type": resource.type_name,
            "name": resource.name,
            "alias": resource.alias,
            "outcome": resource.outcome,
            "noop": resource.noop,
            "calls": resource.calls,
            "duration_ns": resource.duration_ns,
        })
    };
    let pending =
        |(subscriber, source): &(String, String)| json!({"subscriber": subscriber, "changed": source});
    json!({
        "resources": outcomes.resources.iter().map(resource).collect::<Value>(),
        "pending_refreshes": outcomes.pending.iter().map(pending).collect::<Value>(),
    })
}

/// Returns the error of the directory of a session.
pub(crate) fn store_error(error: &SessionStoreError) -> CommandError {
    const NEW: &str = "begin another session with `eval \"$(ccm session new)\"`";
    let hint = match error {
        SessionStoreError::Missing(_)
        | SessionStoreError::NotADirectory(_)
        | SessionStoreError::Read { .. }
        | SessionStoreError::Unusable(
            StateError::Foreign { .. }
            | StateError::Exposed { .. }
            | StateError::ForeignParent { .. }
            | StateError::ExposedParent { .. }
            | StateError::UntrustedLink { .. },
        ) => NEW,
        SessionStoreError::Exists(_) => "name a directory that does not exist yet",
        SessionStoreError::Make { .. } => "name a directory that you can write, with `--directory DIR`",
        SessionStoreError::Lock(LockError::Held { .. }) => {
            "wait for that call to end, or raise `--lock-wait`"
        }
        SessionStoreError::Remove { .. } => "remove the directory by hand",
        _ => "",
    };
    CommandError::of(error).hints(Some(hint).filter(|hint| !hint.is_empty()))
}
