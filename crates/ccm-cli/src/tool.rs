//! `ccm tool`: governed tools for scripts and people.

mod input;
mod remote;

use std::path::PathBuf;
use std::sync::Arc;

use ccm_runtime::process::signals::Signals;
use ccm_runtime::{ExitCode, StopCause, printed, spawn};
use ccm_tool::{
    BrokerConfig, CallContext, CallProgress, CallerKind, MAX_INPUT, ServedUser, ToolAnswer, ToolBroker,
    ToolCaller, ToolName, ToolSet, reader_answer,
};
use serde_json::{Value, json};

use crate::arguments::{DocumentFormat, ToolListArguments, ToolSubcommand};
use crate::console::Console;
use crate::error::{CommandError, CommandResult, signal_code};
use crate::reactor::{SharedRun, supervise};
use crate::{service, session};
use input::NoCall;

/// `ccm tool`.
pub(crate) fn run(mut command: ToolSubcommand, console: &Console) -> CommandResult {
    let state = std::mem::take(command.state());
    let service =
        command.service().map(|arguments| service::connect(arguments, &state)).transpose()?.flatten();
    *command.state() = state;
    match service {
        None => run_on_own_thread(command, console),
        Some(service) => remote::run(&command, service, console),
    }
}

fn run_on_own_thread(mut command: ToolSubcommand, console: &Console) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(SharedRun::default());
    // A signal ends the command of the call.
    shared.mark_loaded();
    let state = command.state().state_dir.clone();
    let call = ToolRun { command, state, console: console.clone(), shared: Arc::clone(&shared) };
    runtime.block_on(async {
        let config = session::config(console, None);
        let job = spawn(config, async move |_| Box::pin(call.run()).await)?;
        supervise(job, &signals, None, &shared).await
    })
}

/// Call of a tool on its own thread.
struct ToolRun {
    command: ToolSubcommand,
    state: Option<PathBuf>,
    console: Console,
    shared: Arc<SharedRun>,
}

impl ToolRun {
    async fn run(self) -> CommandResult {
        let Self { command, state, console, shared } = self;
        let sets = vec![ToolSet::GovernedExecute];
        let broker = ToolBroker::open(broker_config(&console, state, sets, None));
        let caller = caller(&broker);
        if let ToolSubcommand::List(arguments) = &command {
            let (tools, withheld) = (broker.tools(&caller), broker.withheld(&caller));
            return list(&tools, withheld, arguments, &console);
        }
        if let ToolSubcommand::Read(read) = &command {
            return answer_reading(&broker, &caller, &read.tool, &shared, &console).await;
        }
        let call = match input::of(&command, broker.session()) {
            Ok(call) => call,
            Err(NoCall::Refused(error)) => return Err(error),
            Err(NoCall::BadInput { tool, error, is_json }) => {
                return print(&broker.refuse_input(tool.name(), &caller, &error), is_json, &console);
            }
        };
        let mut on_progress = |step: CallProgress<'_>| {
            if let CallProgress::Waiting { code } = step {
                console.note(&format!("waiting for an approval: `ccm approve {code}`"));
            }
        };
        let canceller = shared.canceller.clone();
        let context = CallContext { caller: &caller, canceller, on_progress: &mut on_progress };
        let wait = command.wait().unwrap_or_default();
        let answer = broker.call_and_wait(call.tool.name(), &call.input, context, wait).await;
        let code = print(&answer, call.is_json, &console);
        match shared.canceller.cause() {
            Some(StopCause::Signal { number, .. }) => code.map(|_| signal_code(*number)),
            _ => code,
        }
    }
}

/// Answers a tool that reads, for a service that has started this as its caller.
async fn answer_reading(
    broker: &ToolBroker,
    caller: &ToolCaller,
    tool: &str,
    shared: &SharedRun,
    console: &Console,
) -> CommandResult {
    let text = broker.session().read_text(None, MAX_INPUT, "input");
    let (_, text) = text.map_err(|error| CommandError::from(error).with_code(ExitCode::Usage))?;
    let Ok(input) = serde_json::from_str(&text) else {
        return Err(CommandError::usage("the input is not JSON").hint("pass one JSON object"));
    };
    let canceller = shared.canceller.clone();
    let context = CallContext { caller, canceller, on_progress: &mut |_| {} };
    let answer = broker.read_only(tool, &input, context).await;
    console.print(&reader_answer(&answer))?;
    Ok(answer.kind.exit_code())
}

/// Returns the settings of a broker on this machine.
pub(crate) fn broker_config(
    console: &Console,
    state: Option<PathBuf>,
    sets: Vec<ToolSet>,
    served: Option<ServedUser>,
) -> BrokerConfig {
    let (of_runs, directory) = (console.clone(), state.clone());
    BrokerConfig {
        session: session::config(console, state),
        approvals: None,
        recorder: None,
        apply: Some(Box::new(move || session::config(&of_runs, directory.clone()))),
        sets,
        served,
    }
}

/// Returns the user of this process as a caller.
pub(crate) fn caller(broker: &ToolBroker) -> ToolCaller {
    let uid = ccm_runtime::process::current_user();
    let account = broker.session().commands().ok().and_then(|found| found.account(&uid.to_string()).ok());
    ToolCaller {
        kind: CallerKind::Cli,
        user: account.map_or_else(|| uid.to_string(), |account| account.name),
        uid,
        pid: ccm_runtime::process::own_process().0,
        client: None,
        connection: None,
    }
}

/// Prints an answer, and returns its exit code.
fn print(answer: &ToolAnswer, is_json: bool, console: &Console) -> CommandResult {
    if is_json {
        console.print(&printed::document(&answer.structured))?;
    } else if answer.kind.has_output() {
        let end = if answer.text.ends_with('\n') { "" } else { "\n" };
        console.print(&format!("{}{end}", answer.text))?;
    } else {
        console.write(&format!("{}\n", answer.text));
    }
    Ok(answer.kind.exit_code())
}

fn list(
    tools: &[ToolName],
    withheld: Option<ToolAnswer>,
    arguments: &ToolListArguments,
    console: &Console,
) -> CommandResult {
    let code = if tools.is_empty() { ExitCode::NothingRun } else { ExitCode::Success };
    if arguments.output.format == DocumentFormat::Json {
        let document = json!({
            "tools": tools.iter().map(|tool| object(*tool)).collect::<Vec<_>>(),
            "withheld": withheld.map(|answer| answer.structured),
        });
        return console.print(&printed::document(&document)).map(|_| code);
    }
    let width = tools.iter().map(|tool| tool.name().len()).max().unwrap_or_default();
    let line = |tool: &ToolName| {
        let first = tool.description().split(". ").next().unwrap_or_default().trim_end_matches('.');
        format!("{:width$}  {first}\n", tool.name())
    };
    console.print_words(&tools.iter().map(line).collect::<String>())?;
    if let Some(answer) = withheld {
        report_withheld(&answer, console);
    }
    Ok(code)
}

/// Reports why tools are not offered, with the cause and what to do.
fn report_withheld(answer: &ToolAnswer, console: &Console) {
    let text = |field: &str| answer.structured.get(field).and_then(Value::as_str);
    let error = text("error").unwrap_or_default();
    match text("reason") {
        Some(reason) => console.note(&format!("{error}: {reason}")),
        None => console.note(error),
    }
    let hints = answer.structured.get("instead").and_then(Value::as_array);
    hints.into_iter().flatten().filter_map(Value::as_str).for_each(|hint| console.hint(hint));
}

/// Returns a tool with its schemas.
fn object(tool: ToolName) -> Value {
    let hints = tool.hints();
    json!({
        "name": tool.name(),
        "set": tool.set().name(),
        "description": tool.description(),
        "annotations": {
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
        "inputSchema": tool.input_schema(),
        "outputSchema": tool.output_schema(),
    })
}
