//! Files of an execution in the record of a run.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::json::is_false;

/// Name of the file that holds [`ExecutionMetadata`].
pub const METADATA_FILE: &str = "metadata.json";

/// Name of the file that holds standard output.
pub const STDOUT_FILE: &str = "stdout.txt";

/// Name of the file that holds standard error.
pub const STDERR_FILE: &str = "stderr.txt";

/// Result of an execution, and the command that was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutionMetadata {
    /// The command, unless the resource is `sensitive`.
    #[serde(flatten)]
    pub command: Option<ExecutedCommand>,
    /// Exit code of a command that ended by itself.
    pub exit_code: Option<i32>,
    /// Duration in milliseconds of a command that was started.
    pub duration_ms: Option<u64>,
    /// `true` if the command was ended at its `timeout`.
    pub timed_out: bool,
    /// `true` if a part of standard output is not kept.
    pub stdout_truncated: bool,
    /// `true` if a part of standard error is not kept.
    pub stderr_truncated: bool,
    /// Kind of the sandbox.
    pub sandbox: Option<Cow<'static, str>>,
    /// `true` if the command had access to the network.
    pub network: bool,
    /// Container that the command ran in; `None` is this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<RecordedContainer>,
    /// `true` if the resource is `sensitive`, so that no output is kept.
    #[serde(skip_serializing_if = "is_false")]
    pub sensitive: bool,
}

/// Container that a command ran in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedContainer {
    /// Name of the container.
    pub name: String,
    /// Image, as the manifest names it.
    pub image: String,
}

/// Command that was executed, and the files with its output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutedCommand {
    /// The program.
    pub command: String,
    /// Number of arguments.
    pub args: usize,
    /// Name of the file that holds standard output.
    pub stdout: Cow<'static, str>,
    /// Name of the file that holds standard error.
    pub stderr: Cow<'static, str>,
    /// Working directory of a command that was started.
    pub workdir: Option<String>,
}
