//! `ccm mcp`: governed tools for clients of the Model Context Protocol.

use crate::arguments::McpArguments;
use crate::console::Console;
#[cfg(not(feature = "mcp"))]
use crate::error::CommandError;
use crate::error::CommandResult;

#[cfg(feature = "mcp")]
mod relay;
#[cfg(feature = "mcp")]
mod service;
#[cfg(feature = "mcp")]
mod stdio;

/// `ccm mcp`.
#[cfg(feature = "mcp")]
pub(crate) fn run(arguments: McpArguments, console: &Console) -> CommandResult {
    if arguments.service {
        return service::run(arguments, console);
    }
    match crate::service::connect(&arguments.of_service, &arguments.state)? {
        None => stdio::run(arguments, console),
        Some(service) => relay::run(&arguments, service),
    }
}

/// `ccm mcp` in a build without the protocol.
#[cfg(not(feature = "mcp"))]
pub(crate) fn run(_: McpArguments, _: &Console) -> CommandResult {
    let hint = "install a ccm that was built with the feature `mcp`, or use `ccm tool`";
    Err(CommandError::new("this ccm was built without the Model Context Protocol").hint(hint))
}
