//! Arguments of `ccm mcp`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::parsers::client_timeout;
use super::service::ServiceArguments;
use super::state::StateArguments;

const AFTER_HELP: &str = "\
A client of the Model Context Protocol starts this command, and speaks with it on standard input and output:
  {\"mcpServers\": {\"ccm\": {\"command\": \"ccm\", \"args\": [\"mcp\", \"--set\", \"governed-execute\"]}}}

If this machine has a service of tools (ccm-tool.socket), other users than root speak with that service.

Exit codes: 0 the client has closed its side, 1 nothing could be offered, 64 bad usage, 129/130/131/143 ended by
HUP/INT/QUIT/TERM.

Documentation: /usr/share/doc/ccm/use/mcp.md, or docs/use/mcp.md";

/// Set of tools, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolSetArgument {
    /// Tools that only read
    Read,
    /// Tools that run commands
    GovernedExecute,
    /// The tool that applies manifests
    Apply,
}

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct McpArguments {
    /// Offer these tools besides those that read, if the policy offers them; repeat it for several sets
    #[arg(long = "set", value_name = "SET", value_enum)]
    pub sets: Vec<ToolSetArgument>,

    /// Serve the client that is connected to standard input, as its user; ccm-tool@.service runs this
    #[arg(long, conflicts_with_all = ["socket", "local"])]
    pub service: bool,

    /// Let a client go that begins no session, or leaves an answer unread, for this time
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = client_timeout,
        requires = "service",
        help = "With --service: let a client go that begins no session, or leaves an answer unread, for this time, such as \
                5m [default: 1m]"
    )]
    pub client_timeout: Option<Duration>,

    #[command(flatten)]
    pub of_service: ServiceArguments,

    #[command(flatten)]
    pub state: StateArguments,
}
