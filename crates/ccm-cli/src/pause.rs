//! `ccm pause`: a pause of the runs of timers.

use ccm_runtime::model::escape_control;
use ccm_runtime::{EndedPause, ExitCode, LocalZone, Pause, PauseError, Session, printed};
use serde_json::{Value, json};

use crate::arguments::{DocumentFormat, PauseArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::{session, state};

/// Begins, ends or shows the pause.
pub(crate) fn run(arguments: &PauseArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    console.print_words(&change(arguments, &session).map_err(|error| pause_error(&session, &error))?)
}

fn change(arguments: &PauseArguments, session: &Session) -> Result<String, PauseError> {
    let is_json = arguments.output.format == DocumentFormat::Json;
    if arguments.end {
        let ended = session.end_pause()?;
        return Ok(match ended {
            _ if is_json => document(None),
            EndedPause::Ended(pause) => format!("ended: {}\n", described(&pause)),
            EndedPause::Unreadable => {
                "ended: a pause whose file was damaged; the file is removed\n".to_owned()
            }
            EndedPause::None => "not paused\n".to_owned(),
        });
    }
    let pause = match (arguments.duration, &arguments.reason) {
        (Some(duration), Some(reason)) => Some(session.begin_pause(duration, reason)?),
        _ => session.pause()?,
    };
    Ok(if is_json { document(pause.as_ref()) } else { text(pause.as_ref()) })
}

fn document(pause: Option<&Pause>) -> String {
    printed::document(&json!({ "paused": pause.map(Pause::json) }))
}

/// Returns the document of a run that honours a pause.
pub(crate) fn run_document(pause: &Pause) -> Value {
    json!({ "protocol": "io.choria.ccm.v1.session.paused", "paused": pause.json() })
}

/// Returns the pause as text, with how to end it.
fn text(pause: Option<&Pause>) -> String {
    let Some(pause) = pause else { return "not paused\n".to_owned() };
    format!(
        "{}\nuntil then, runs with `--honour-pause`, such as those of the timer, do nothing; `ccm pause --end` ends the pause\n",
        described(pause)
    )
}

/// Returns a pause on one line: its end, who began it, and why.
pub(crate) fn described(pause: &Pause) -> String {
    let until = LocalZone::of_this_process().display(pause.until);
    let text = format!("paused until {until} by {}: {}", pause.by.label(), pause.reason);
    escape_control(&text).into_owned()
}

/// Returns the reason why a pause can't be read or changed.
pub(crate) fn pause_error(session: &Session, error: &PauseError) -> CommandError {
    let found = CommandError::of(error);
    match error {
        PauseError::Duration | PauseError::Reason => found.with_code(ExitCode::Usage),
        PauseError::State(error) => found.hint(state::state_hint(session, error)),
        PauseError::Write { path, source } => found.hint(session.state_advice(path, source).to_string()),
        PauseError::Read { .. } => found.hint("end the pause with `ccm pause --end`, or begin it again"),
        _ => CommandError::setup(error),
    }
}
