//! Executors of a manifest, by name: they start the commands of a program.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use ccm_model::{Event, ManifestErrors, Stream, Transaction, closest};
use serde_json::{Value, json};

use crate::begin::BeginError;
use crate::input::Input;
use crate::run::{RecordEnd, RunOptions};
use crate::session::Session;
use crate::sink::Emitted;

/// Executor that a manifest declares below `executors`, from [`Session::executor`].
///
/// A command of it is a run of one `exec` with the settings of the manifest: the environment, the directory, the allowed
/// commands and the container of the executor hold, and so do the lock of the state directory, the policy, the gate of
/// the program and the audit log. It is recorded like every run. Pending refreshes of the manifest are left alone, and a
/// container ends with its command.
pub struct ManifestExecutor<'s> {
    session: &'s Session,
    input: &'s Input,
    name: String,
}

/// Text of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandText {
    /// Words, split by the quoting of a shell and never expanded.
    Words(String),
    /// A program and its arguments, which are not split.
    Program(String, Vec<String>),
    /// A text for `/bin/sh -c`.
    Shell(String),
}

/// Command for an executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorCommand {
    /// The command.
    pub text: CommandText,
    /// Working directory, absolute; that of the executor if it is `None`.
    pub work_dir: Option<PathBuf>,
    /// Variables over those of the executor.
    pub environment: Vec<(String, String)>,
    /// Standard input; nothing if it is `None`.
    pub stdin: Option<String>,
    /// Time limit; one hour if it is `None`.
    pub timeout: Option<Duration>,
}

/// A command of an executor after its end.
#[derive(Debug)]
pub struct ExecutorResult {
    /// Exit code, whatever it is; `None` if the command was not started or did not end by itself.
    pub exit_code: Option<i32>,
    /// The command as a resource, which failed unless the code is 0. The failure says why there is no code.
    pub transaction: Transaction,
    /// End of the record.
    pub record: RecordEnd,
}

/// Error of finding an executor, or of a command that could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// The manifest has errors, or the command can't be one of this executor.
    #[error("the manifest has errors")]
    Manifest(ManifestErrors),
    /// The manifest declares no executor of this name.
    #[error("{manifest} has no executor `{}`", name.escape_debug())]
    Unknown {
        /// The manifest.
        manifest: String,
        /// The name.
        name: String,
        /// The executor with the nearest name.
        nearest: Option<String>,
    },
    /// The run of the command could not begin.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The run ended before the command was reached.
    #[error("the run was ended before the command")]
    Ended(RecordEnd),
}

impl From<CommandText> for ExecutorCommand {
    fn from(text: CommandText) -> Self {
        Self { text, work_dir: None, environment: Vec::new(), stdin: None, timeout: None }
    }
}

impl ExecutorCommand {
    /// Returns the command as the only item of `resources`, in JSON.
    fn resource(&self, executor: &str) -> String {
        let mut exec = json!({"executor": executor, "logoutput": true});
        let mut set = |property: &str, value: Value| exec[property] = value;
        let name = match &self.text {
            CommandText::Words(text) => text.clone(),
            CommandText::Program(program, arguments) => {
                set("command", json!(program));
                set("args", json!(arguments));
                let words = std::iter::once(program).chain(arguments).map(String::as_str);
                shell_words::join(words)
            }
            CommandText::Shell(text) => {
                set("provider", json!("shell"));
                text.clone()
            }
        };
        if let Some(directory) = &self.work_dir {
            set("cwd", json!(directory));
        }
        if !self.environment.is_empty() {
            set("environment", self.environment.iter().cloned().collect::<Value>());
        }
        if let Some(stdin) = &self.stdin {
            set("stdin", json!(stdin));
        }
        if let Some(timeout) = self.timeout {
            set("timeout", json!(format!("{}ms", timeout.as_millis())));
        }
        json!([{"exec": [{name: exec}]}]).to_string()
    }
}

impl Session {
    /// Returns an executor of a manifest, which is loaded and checked. The resources of the manifest are not applied.
    pub fn executor<'s>(
        &'s self,
        input: &'s Input,
        name: &str,
    ) -> Result<ManifestExecutor<'s>, ExecutorError> {
        let manifest = self.load(input).map_err(ExecutorError::Manifest)?;
        let names: Vec<&str> =
            manifest.loaded.late.settings().flat_map(ccm_resources::executor_names).collect();
        if names.contains(&name) {
            return Ok(ManifestExecutor { session: self, input, name: name.to_owned() });
        }
        Err(ExecutorError::Unknown {
            manifest: input.name().to_owned(),
            name: name.to_owned(),
            nearest: closest(name, names.iter().copied()).map(str::to_owned),
        })
    }
}

impl ManifestExecutor<'_> {
    /// Returns the name of the executor.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs a command to its end, and passes each line on when it is printed. Secrets in it are `[redacted]`.
    pub async fn exec(
        &self,
        command: &ExecutorCommand,
        options: RunOptions,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<ExecutorResult, ExecutorError> {
        let resource = command.resource(&self.name);
        let input = self.input.for_executor(self.session, &self.name, resource);
        let manifest = self.session.load(&input).map_err(ExecutorError::Manifest)?;
        let mut ended = None;
        let mut sink = |emitted: Emitted<'_>| match emitted.event {
            Event::OutputReceived(output) => on_line(output.stream, &output.line),
            Event::ResourceFinished(transaction) => ended = Some(transaction),
            _ => {}
        };
        let report = manifest.apply(options, &mut sink).await?;
        let Some(transaction) = ended else { return Err(ExecutorError::Ended(report.record)) };
        let transaction = *transaction;
        let code = transaction.state.as_ref().and_then(|state| state["exitcode"].as_i64());
        let exit_code = code.and_then(|code| i32::try_from(code).ok());
        Ok(ExecutorResult { exit_code, transaction, record: report.record })
    }
}

impl fmt::Debug for ManifestExecutor<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ManifestExecutor").field("name", &self.name).finish_non_exhaustive()
    }
}
