//! A client on standard input and output.

use std::cell::Cell;
use std::io;

use ccm_mcp::{McpSettings, serve};
use ccm_runtime::ExitCode;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::process::{can_ask, own_process};
use ccm_tool::{CallerKind, ToolCaller, ToolSet};

use crate::arguments::{McpArguments, ToolSetArgument};
use crate::console::Console;
use crate::reactor::signal_code;
use crate::tool;

pub(super) fn run(arguments: McpArguments, console: &Console) -> io::Result<ExitCode> {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if can_ask() {
        console.note("waiting for a client of the Model Context Protocol on standard input");
    }
    let code = runtime.block_on(serve_client(arguments, &signals, console));
    // A read of standard input can't be interrupted.
    runtime.shutdown_background();
    Ok(code)
}

async fn serve_client(arguments: McpArguments, signals: &Signals, console: &Console) -> ExitCode {
    let ended_by = Cell::new(None);
    let signal = async {
        match signals.next().await {
            Ok(signal) => ended_by.set(Some(signal.number)),
            // Without signals, the client ends the connection.
            Err(_) => std::future::pending().await,
        }
    };
    let served = serve(settings(arguments, console), (tokio::io::stdin(), tokio::io::stdout()), signal).await;
    match (ended_by.get(), served) {
        (Some(number), _) => signal_code(number),
        (None, Ok(())) => ExitCode::Success,
        (None, Err(error)) => {
            console.error_of(&error, "", &[]);
            ExitCode::NothingRun
        }
    }
}

fn settings(arguments: McpArguments, console: &Console) -> McpSettings {
    let sets: Vec<ToolSet> = arguments.sets.iter().map(|set| set.tool_set()).collect();
    let (console, state) = (console.clone(), arguments.state.state_dir);
    // A process has one client.
    let (pid, started) = own_process();
    let connection = format!("{pid}-{started}");
    McpSettings {
        broker: Box::new(move |budget| tool::broker_config(&console, state.clone(), sets.clone(), budget)),
        caller: Box::new(move |broker| ToolCaller {
            kind: CallerKind::Mcp,
            connection: Some(connection.clone()),
            ..tool::caller(broker)
        }),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

impl ToolSetArgument {
    fn tool_set(self) -> ToolSet {
        match self {
            Self::Read => ToolSet::Read,
            Self::GovernedExecute => ToolSet::GovernedExecute,
            Self::Apply => ToolSet::Apply,
        }
    }
}
