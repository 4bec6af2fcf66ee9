//! Arguments of the state directory.

use std::path::PathBuf;

use clap::Args;

use super::headings;

// State directory.
#[derive(Debug, Default, Args)]
pub(crate) struct StateArguments {
    /// Directory of the lock and of the recorded runs
    #[arg(
        long,
        value_name = "DIR",
        help_heading = headings::RECORD,
        help = "Directory of the lock and of the recorded runs [default: /var/lib/ccm as root, else \
                $XDG_STATE_HOME/ccm or ~/.local/state/ccm] [env: CCM_STATE_DIR]"
    )]
    pub state_dir: Option<PathBuf>,

    /// The environment names the directory.
    #[arg(skip)]
    pub is_of_environment: bool,
}
