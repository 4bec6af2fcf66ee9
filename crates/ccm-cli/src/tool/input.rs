//! Inputs of tools from a command line.

use std::path::Path;
use std::time::Duration;

use ccm_runtime::model::{display_duration, error_layers};
use ccm_runtime::{ExitCode, Session, TextError};
use ccm_tool::{MAX_INPUT, ToolInputError, ToolName};
use serde_json::{Map, Value, json};

use crate::arguments::{
    DocumentFormat, ToolJsonArguments, ToolPlaceArguments, ToolProcessCommand, ToolSubcommand,
};
use crate::error::{CommandError, CommandResult};
use crate::manifest;

/// Call of a command line.
pub(super) struct ToolInput {
    pub(super) tool: ToolName,
    pub(super) input: Value,
    pub(super) is_json: bool,
}

/// Reason why a command line leads to no call.
pub(super) enum NoCall {
    /// The command line is refused.
    Refused(CommandError),
    /// The input has an error, which a broker has to record.
    BadInput { tool: ToolName, error: ToolInputError, is_json: bool },
}

/// Returns the call of a command line.
pub(super) fn of(command: &ToolSubcommand, session: &Session) -> Result<ToolInput, NoCall> {
    let (tool, io) = tool_of(command);
    let json = io.and_then(|io| io.json.as_ref());
    let is_json = io.is_some_and(|io| io.output == DocumentFormat::Json);
    let bad_input = |error| NoCall::BadInput { tool, error, is_json };
    let read = |path: &Path, what| read(path, what, session)?.map_err(bad_input);
    if let Some(path) = json {
        let text = read(path, "input")?;
        let input = serde_json::from_str(&text).map_err(|error| {
            let hint = "pass one JSON object".to_owned();
            bad_input(ToolInputError { message: format!("the input is not JSON: {error}"), hint })
        })?;
        return Ok(ToolInput { tool, input, is_json });
    }
    check_timeout(tool, command).map_err(NoCall::Refused)?;
    let mut input = Map::new();
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            input.insert(name.to_owned(), value);
        }
    };
    match command {
        ToolSubcommand::Exec(exec) => {
            if let [program, arguments @ ..] = &*exec.command {
                set("command", json!(program));
                set("args", if arguments.is_empty() { Value::Null } else { json!(arguments) });
            }
            let variables: Map<String, Value> =
                exec.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            set("env", if variables.is_empty() { Value::Null } else { Value::Object(variables) });
            set_place(&exec.place, &mut set);
        }
        ToolSubcommand::Bash(bash) => {
            if let Some(path) = &bash.script {
                set("script", json!(read(path, "script")?));
            }
            set_place(&bash.place, &mut set);
        }
        ToolSubcommand::Code(code) => {
            set("language", json!(code.language.map(crate::arguments::LanguageArgument::as_str)));
            if let Some(path) = &code.code {
                set("code", json!(read(path, "code")?));
            }
            set("timeoutMs", json!(code.timeout.map(millis)));
            set("reason", json!(code.reason));
        }
        ToolSubcommand::Process(ToolProcessCommand::Inspect(inspect)) => set("pid", json!(inspect.pid)),
        ToolSubcommand::Process(ToolProcessCommand::Kill(kill)) => {
            set("pid", json!(kill.pid));
            set("signal", json!(kill.signal));
        }
        ToolSubcommand::Resume(intent) | ToolSubcommand::Status(intent) | ToolSubcommand::Cancel(intent) => {
            set("intent", json!(intent.intent));
        }
        ToolSubcommand::Process(ToolProcessCommand::List(_))
        | ToolSubcommand::List(_)
        | ToolSubcommand::Read(_) => {}
    }
    Ok(ToolInput { tool, input: Value::Object(input), is_json })
}

fn set_place(place: &ToolPlaceArguments, set: &mut impl FnMut(&str, Value)) {
    set("workingDir", json!(place.cwd));
    set("timeoutMs", json!(place.timeout.map(millis)));
    set("reason", json!(place.reason));
}

/// Checks the time limit, which the tool would name by its field.
fn check_timeout(tool: ToolName, command: &ToolSubcommand) -> CommandResult<()> {
    let given = match command {
        ToolSubcommand::Exec(exec) => exec.place.timeout,
        ToolSubcommand::Bash(bash) => bash.place.timeout,
        ToolSubcommand::Code(code) => code.timeout,
        _ => None,
    };
    let (Some(given), Some(most)) = (given, tool.max_timeout()) else { return Ok(()) };
    if given <= most {
        return Ok(());
    }
    let most = display_duration(most);
    let message = format!("`--timeout` must be at most {most}, found {}", display_duration(given));
    Err(CommandError::usage(message).hint("split longer work into several calls"))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn tool_of(command: &ToolSubcommand) -> (ToolName, Option<&ToolJsonArguments>) {
    let (tool, io) = match command {
        ToolSubcommand::Exec(exec) => (ToolName::Exec, &exec.io),
        ToolSubcommand::Bash(bash) => (ToolName::Bash, &bash.io),
        ToolSubcommand::Code(code) => (ToolName::CodeExecution, &code.io),
        ToolSubcommand::Process(ToolProcessCommand::List(list)) => (ToolName::ProcessList, &list.io),
        ToolSubcommand::Process(ToolProcessCommand::Inspect(inspect)) => {
            (ToolName::ProcessInspect, &inspect.io)
        }
        ToolSubcommand::Process(ToolProcessCommand::Kill(kill)) => (ToolName::ProcessKill, &kill.io),
        ToolSubcommand::Resume(intent) => (ToolName::Resume, &intent.io),
        ToolSubcommand::Status(intent) => (ToolName::ApprovalStatus, &intent.io),
        ToolSubcommand::Cancel(intent) => (ToolName::Cancel, &intent.io),
        // Neither has an input of its own.
        ToolSubcommand::List(_) | ToolSubcommand::Read(_) => return (ToolName::ProcessList, None),
    };
    (tool, Some(io))
}

/// Reads a file, or standard input. A file that can't be read is refused; a text that can't be an input is an error.
fn read(
    path: &Path,
    what: &'static str,
    session: &Session,
) -> Result<Result<String, ToolInputError>, NoCall> {
    let path = Some(path).filter(|path| *path != Path::new("-"));
    match session.read_text(path, MAX_INPUT, what) {
        Ok((_, text)) => Ok(Ok(text)),
        Err(error @ TextError::Read { .. }) => {
            Err(NoCall::Refused(CommandError::from(error).with_code(ExitCode::Usage)))
        }
        Err(error) => {
            let hint = manifest::text_hint(&error).into_owned();
            Ok(Err(ToolInputError { message: error_layers(&error).join(": "), hint }))
        }
    }
}
