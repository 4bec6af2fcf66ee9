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

use crate::arguments::{ToolListArguments, ToolSubcommand};
use crate::console::Console;
use crate::manifest;
use crate::reactor::{SharedRun, signal_code, supervise};
use crate::service;
use crate::session;
use crate::state::report_setup_error;
use input::NoCall;

/// `ccm tool`.
pub(crate) fn run(mut command: ToolSubcommand, console: &Console) -> ExitCode {
    let state = std::mem::take(command.state());
    let service = match command.service() {
        Some(arguments) => service::connect(arguments, &state, console),
        None => Ok(None),
    };
    *command.state() = state;
    let ran = match service {
        Ok(None) => run_on_own_thread(command, console),
        Ok(Some(service)) => remote::run(&command, service, console),
        Err(code) => return code,
    };
    ran.unwrap_or_else(|error| report_setup_error(console, &error))
}

fn run_on_own_thread(mut command: ToolSubcommand, console: &Console) -> std::io::Result<ExitCode> {
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
        Ok(supervise(job, &signals, None, &shared, console).await)
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
    async fn run(self) -> ExitCode {
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
        let call = match input::of(&command, broker.session(), &console) {
            Ok(call) => call,
            Err(NoCall::Reported(code)) => return code,
            Err(NoCall::BadInput { tool, error, is_json }) => {
                return print(&broker.refuse_input(tool.as_str(), &caller, &error), is_json, &console);
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
        let answer = broker.call_and_wait(call.tool.as_str(), &call.input, context, wait).await;
        let code = print(&answer, call.is_json, &console);
        match shared.canceller.cause() {
            Some(StopCause::Signal { number, .. }) => signal_code(*number),
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
) -> ExitCode {
    let text = match broker.session().read_text(None, MAX_INPUT, "input") {
        Ok((_, text)) => text,
        Err(error) => {
            manifest::report_text_error(console, &error);
            return ExitCode::Usage;
        }
    };
    let Ok(input) = serde_json::from_str(&text) else {
        console.error("the input is not JSON", &[], &["pass one JSON object".to_owned()]);
        return ExitCode::Usage;
    };
    let canceller = shared.canceller.clone();
    let context = CallContext { caller, canceller, on_progress: &mut |_| {} };
    let answer = broker.read_only(tool, &input, context).await;
    let printed = console.print(&reader_answer(&answer));
    if printed == ExitCode::Success { answer.kind.exit_code() } else { printed }
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
fn print(answer: &ToolAnswer, is_json: bool, console: &Console) -> ExitCode {
    let code = answer.kind.exit_code();
    let printed = if is_json {
        console.print(&printed::document(&answer.structured))
    } else if answer.kind.has_output() {
        let end = if answer.text.ends_with('\n') { "" } else { "\n" };
        console.print(&format!("{}{end}", answer.text))
    } else {
        console.write(&format!("{}\n", answer.text));
        ExitCode::Success
    };
    if printed == ExitCode::Success { code } else { printed }
}

fn list(
    tools: &[ToolName],
    withheld: Option<ToolAnswer>,
    arguments: &ToolListArguments,
    console: &Console,
) -> ExitCode {
    if arguments.json {
        let document = json!({
            "tools": tools.iter().map(|tool| object(*tool)).collect::<Vec<_>>(),
            "withheld": withheld.map(|answer| answer.structured),
        });
        let printed = console.print(&printed::document(&document));
        return if tools.is_empty() { ExitCode::NothingRun } else { printed };
    }
    let width = tools.iter().map(|tool| tool.as_str().len()).max().unwrap_or_default();
    let line = |tool: &ToolName| {
        let first = tool.description().split(". ").next().unwrap_or_default().trim_end_matches('.');
        format!("{:width$}  {first}\n", tool.as_str())
    };
    let printed = console.print(&tools.iter().map(line).collect::<String>());
    if let Some(answer) = withheld {
        report_withheld(&answer, console);
    }
    if tools.is_empty() { ExitCode::NothingRun } else { printed }
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
        "name": tool.as_str(),
        "set": tool.set().as_str(),
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
