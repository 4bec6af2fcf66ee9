//! Running the command of a call.

use std::path::PathBuf;
use std::rc::Rc;

use ccm_host::{
    Cancellation, ClosedPlan, CommandOrigin, Exit, Finished, Launch, LaunchPlan, LocalExecutor,
    PrivateDirectory, StartError, create_file, run_launched,
};
use ccm_model::{Stream, display_duration, error_layers};
use ccm_runtime::{Commands, Files};
use serde_json::json;

use crate::answer::{AnswerKind, ToolAnswer, UNTRUSTED};
use crate::output::{StreamText, combined, without_controls};
use crate::prepared::{CallStart, PreparedCall};

/// Code of a process that a signal ended, as the guarded tool has it.
const NO_CODE: i32 = -1;

/// Command of a call that can start now, with the directory of its code.
pub(crate) struct ReadyCommand {
    program: String,
    arguments: Vec<String>,
    launch: Launch,
    /// Holds the code, which is removed with this value.
    _code: Option<PrivateDirectory>,
}

/// Writes the code of a call, and builds its launch.
pub(crate) fn ready(call: &PreparedCall, commands: &dyn Commands) -> Result<ReadyCommand, StartError> {
    let mut sandbox = call.sandbox.request.clone();
    let mut code = None;
    let (program, arguments) = match &call.start {
        CallStart::Program(program, arguments) => (program.clone(), arguments.clone()),
        CallStart::File { program, arguments, name, content } => {
            let failed = |source| StartError::PrivateDirectory { source };
            // The directory is not the caller's, whose other processes could exchange the file.
            let directory = commands.private_directory(None).map_err(failed)?;
            if let Some(account) = &call.account {
                directory.show_to_group(account.identity.gid).map_err(failed)?;
            }
            let path = directory.path().join(name);
            create_file(&path, content.as_bytes()).map_err(failed)?;
            if let Some(sandbox) = &mut sandbox {
                sandbox.read.push(directory.path().to_owned());
            }
            let file = path.display().to_string();
            code = Some(directory);
            (program.clone(), arguments.iter().cloned().chain([file]).collect())
        }
    };
    let launch = Launch {
        user: call.account.as_ref().map(|account| account.name.clone()),
        cwd: Some(call.directory.clone()),
        environment: call.call.environment.clone(),
        timeout: Some(call.timeout),
        sandbox,
        // The policy has judged where the program lies.
        is_interpreted: true,
        manifest_directory: call.workspace.clone(),
        ..Launch::default()
    };
    Ok(ReadyCommand { program, arguments, launch, _code: code })
}

impl ReadyCommand {
    /// Runs the command to its end.
    pub(crate) async fn run(
        &self,
        call: &PreparedCall,
        (commands, files): (&dyn Commands, &dyn Files),
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> (Result<Finished, StartError>, ClosedPlan) {
        let executor = LocalExecutor::new(commands, commands, files);
        let command = |plan: &dyn LaunchPlan| {
            let mut command = plan.command(&self.program, &self.arguments)?;
            if let Some(sandbox) = &mut command.sandbox {
                sandbox.programs.clone_from(&call.sandbox.programs);
            }
            command.origin = CommandOrigin::Argv;
            Ok(command)
        };
        run_launched(&executor, &self.launch, command, cancellation, on_line).await
    }
}

/// Returns the answer to a call whose command has ended.
pub(crate) fn answer(
    call: &PreparedCall,
    intent: &str,
    result: &Result<Finished, StartError>,
    closed: &ClosedPlan,
    limit: usize,
) -> ToolAnswer {
    let (command, args) = call.shown_command();
    let finished = match result {
        Ok(finished) => finished,
        Err(error) => return not_started(error, (command, args), intent),
    };
    let stdout = StreamText::of(&finished.stdout, limit);
    let stderr = StreamText::of(&finished.stderr, limit);
    let (code, signal, ending) = match &finished.exit {
        Exit::Code(0) => (0, None, None),
        Exit::Code(code) => (*code, None, Some(format!("Exit code: exit status {code}"))),
        Exit::Signal { name, .. } => {
            (NO_CODE, Some(name.clone()), Some(format!("Exit code: signal: {name}")))
        }
        Exit::TimedOut { after } => {
            (NO_CODE, None, Some(format!("Command timed out after {}", display_duration(*after))))
        }
        Exit::Cancelled => (NO_CODE, None, Some("Command cancelled".to_owned())),
    };
    let timed_out = matches!(finished.exit, Exit::TimedOut { .. });
    let text = combined(&stdout, &stderr, ending.as_deref(), limit);
    let is_ok = finished.exit == Exit::Code(0);
    let kind = if is_ok { AnswerKind::Done } else { AnswerKind::CommandFailed };
    let mut notes: Vec<String> = closed.warnings.clone();
    notes.extend(
        finished.reached.iter().map(|limit| format!("the limit `{limit}` of the sandbox was reached")),
    );
    notes.extend(finished.unkillable.iter().map(|process| format!("could not be killed: {process}")));
    let left: Vec<String> = finished.left_running.iter().map(ToString::to_string).collect();
    let error = ending.filter(|_| timed_out || finished.exit == Exit::Cancelled);
    let structured = json!({
        "status": kind.name(),
        "command": command,
        "args": args,
        "exitCode": code,
        "signal": signal,
        "stdout": stdout.text,
        "stderr": stderr.text,
        "timedOut": timed_out,
        "durationMs": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
        "truncated": stdout.omitted + stderr.omitted > 0,
        "intent": intent,
        "error": error,
        "leftRunning": left,
        "notes": notes,
        "trust": UNTRUSTED,
    });
    ToolAnswer { kind, text, structured }
}

fn not_started(error: &StartError, (command, args): (String, Vec<String>), intent: &str) -> ToolAnswer {
    let message = match error {
        StartError::NotFound { name, .. } if !name.contains('/') => {
            format!("failed to start command: exec: \"{name}\": executable file not found in $PATH")
        }
        StartError::NotFound { name, .. } => {
            format!("failed to start command: exec: \"{name}\": no such file or directory")
        }
        error => format!("failed to start command: {}", error_layers(error).join(": ")),
    };
    let message = without_controls(&message);
    let hint = match error {
        StartError::NotFound { .. } => "use a program that is installed; packages can't be installed here",
        StartError::DirectoryOutsideSandbox { .. } | StartError::WorkingDirectory { .. } => {
            "use an existing directory of the workspace as `workingDir`"
        }
        StartError::NotEnforceable { .. } => {
            "an operator has to run this on a kernel that can confine commands"
        }
        _ => "correct the command, or let an operator look at the machine",
    };
    let answer = ToolAnswer::error(AnswerKind::CommandFailed, &message, None, &[hint.to_owned()]);
    let text = message;
    ToolAnswer { text, ..answer }
        .with("command", command)
        .with("args", args)
        .with("intent", intent)
        .with("trust", UNTRUSTED)
}

/// Returns the directory from which relative paths of a call without a workspace start.
pub(crate) fn current_directory() -> Rc<std::path::Path> {
    ccm_host::absolute(std::path::Path::new(".")).unwrap_or_else(|_| PathBuf::from("/")).into()
}
