//! `ccm mcp`: governed tools for clients of the Model Context Protocol.

use ccm_runtime::ExitCode;

use crate::arguments::McpArguments;
use crate::console::Console;

#[cfg(feature = "mcp")]
mod relay;
#[cfg(feature = "mcp")]
mod service;
#[cfg(feature = "mcp")]
mod stdio;

/// `ccm mcp`.
#[cfg(feature = "mcp")]
pub(crate) fn run(arguments: McpArguments, console: &Console) -> ExitCode {
    let ran = if arguments.service {
        service::run(arguments, console)
    } else {
        match crate::service::connect(&arguments.of_service, &arguments.state, console) {
            Ok(None) => stdio::run(arguments, console),
            Ok(Some(service)) => relay::run(&arguments, service, console),
            Err(code) => return code,
        }
    };
    ran.unwrap_or_else(|error| crate::state::report_setup_error(console, &error))
}

/// `ccm mcp` in a build without the protocol.
#[cfg(not(feature = "mcp"))]
#[expect(clippy::needless_pass_by_value, reason = "a build with the protocol needs the value")]
pub(crate) fn run(_: McpArguments, console: &Console) -> ExitCode {
    let hint = "install a ccm that was built with the feature `mcp`, or use `ccm tool`".to_owned();
    console.error("this ccm was built without the Model Context Protocol", &[], &[hint]);
    ExitCode::NothingRun
}
