//! Arguments about the service of governed tools.

use std::path::PathBuf;

use clap::Args;

// Service whose tools are called.
#[derive(Debug, Default, Args)]
pub(crate) struct ServiceArguments {
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "local",
        help = "Call the tools of the service at this socket [default for other users than root: /run/ccm/tool.sock, if \
                it exists]"
    )]
    pub socket: Option<PathBuf>,

    /// Call the tools as this user, even if this machine has a service
    #[arg(long)]
    pub local: bool,
}
