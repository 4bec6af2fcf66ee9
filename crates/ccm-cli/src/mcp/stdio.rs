//! A client on standard input and output.

use std::cell::Cell;
use std::time::Duration;

use ccm_mcp::{ConnectionLimits, McpError, McpSettings, serve};
use ccm_runtime::ExitCode;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::process::{can_ask, own_process};
use ccm_tool::{CallerKind, ToolCaller, ToolSet};

use crate::arguments::{McpArguments, ToolSetArgument};
use crate::console::Console;
use crate::error::{CommandError, CommandResult, signal_code};
use crate::tool;

pub(super) fn run(arguments: McpArguments, console: &Console) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if can_ask() {
        console.note("waiting for a client of the Model Context Protocol on standard input");
    }
    let code = runtime.block_on(serve_client(arguments, &signals, console));
    // A read of standard input can't be interrupted.
    runtime.shutdown_background();
    code
}

async fn serve_client(arguments: McpArguments, signals: &Signals, console: &Console) -> CommandResult {
    let signal = Cell::new(None);
    let end = first_signal(signals, &signal);
    let served = serve(settings(arguments, console), (tokio::io::stdin(), tokio::io::stdout()), end).await;
    ended_by(signal.get(), served)
}

/// Waits for a signal, and keeps its number.
pub(super) async fn first_signal(signals: &Signals, number: &Cell<Option<i32>>) {
    match signals.next().await {
        Ok(signal) => number.set(Some(signal.number)),
        // Without signals, the client ends the connection.
        Err(_) => std::future::pending().await,
    }
}

/// Returns the exit code of a connection that has ended.
pub(super) fn ended_by(signal: Option<i32>, served: Result<(), McpError>) -> CommandResult {
    match (signal, served) {
        (Some(number), _) => Ok(signal_code(number)),
        (None, Ok(())) => Ok(ExitCode::Success),
        (None, Err(error)) => Err(CommandError::of(&error)),
    }
}

fn settings(arguments: McpArguments, console: &Console) -> McpSettings {
    let sets: Vec<ToolSet> = arguments.sets.iter().map(|set| set.tool_set()).collect();
    let (console, state) = (console.clone(), arguments.state.state_dir);
    // A process has one client.
    let (pid, started) = own_process();
    let connection = format!("{pid}-{started}");
    McpSettings {
        broker: Box::new(move || tool::broker_config(&console, state.clone(), sets.clone(), None)),
        caller: Box::new(move |broker| ToolCaller {
            kind: CallerKind::Mcp,
            connection: Some(connection.clone()),
            ..tool::caller(broker)
        }),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        // The client has started ccm.
        limits: ConnectionLimits::default(),
        wait: Duration::ZERO,
    }
}

impl ToolSetArgument {
    pub(super) fn tool_set(self) -> ToolSet {
        match self {
            Self::Read => ToolSet::Read,
            Self::GovernedExecute => ToolSet::GovernedExecute,
            Self::Apply => ToolSet::Apply,
        }
    }
}
