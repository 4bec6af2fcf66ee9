//! Programs that a sandbox may execute.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::launch_protocol::paths;

/// Programs that a sandbox may execute besides its command. Their interpreters (`#!`) and loaders belong to them.
///
/// The kernel refuses to execute every other file, also one that the command wrote. It does not refuse to read files:
/// an interpreter or loader that may be executed runs whatever code it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedPrograms {
    /// Absolute paths, and names, which are looked up in the `PATH` of the command.
    #[serde(with = "paths")]
    pub programs: Vec<PathBuf>,
    /// The programs were found in the text of the command. One that does not exist is left out; otherwise it is an error.
    /// An executor may add the programs that these start in turn, such as `make` of `timeout 5 make`.
    pub are_analysed: bool,
}
