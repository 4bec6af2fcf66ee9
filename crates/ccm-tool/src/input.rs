//! Inputs of the tools, each declared once: its fields, their checks, and the call that they make.

mod reading;
mod values;

use std::time::Duration;

use ccm_model::{closest, escape_control};
use ccm_properties::{JsonMap, PropertySet, PropertySpec, aliases, object_schema, section, words};
use serde_json::{Value, json};

pub use self::reading::json_kind;
use self::values::{
    Arguments, FilledText, InputPath, InputText, IntentId, ManifestPath, Milliseconds, ProcessNumber,
    RunCount, SignalName, Variables, Word,
};
use crate::call::{
    AppliedManifest, ApplyCall, CodeLanguage, CommandCall, CommandText, GraphFormat, ToolCall,
};
use crate::catalog::{MAX_CODE_TIME, MAX_EXEC_TIME, ToolName};

/// Maximum size of an input in bytes, as JSON.
pub const MAX_INPUT: u64 = 4 << 20;

/// Maximum length of a text for a shell, that of the analysis.
const MAX_SHELL: usize = 64 << 10;
/// Maximum length of the text of a manifest. Approvers read it whole.
const MAX_MANIFEST: usize = 16 << 10;
/// Maximum length of code.
const MAX_CODE: usize = 1 << 20;
const MAX_REASON: usize = 1000;
const MAX_NAME: usize = 1024;

/// Error in the input of a call. Nothing was run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolInputError {
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub hint: String,
}

impl ToolInputError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

/// Checks the input of a tool.
pub fn normalise(name: &str, input: &Value) -> Result<ToolCall, ToolInputError> {
    let tool = ToolName::parse(name).ok_or_else(|| unknown_tool(name))?;
    read(tool, input)
}

fn unknown_tool(name: &str) -> ToolInputError {
    let shown: String = name.chars().take(64).collect();
    let names = ToolName::ALL.map(ToolName::name);
    let hint = match closest(name, names) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("use one of: {}", names.join(", ")),
    };
    ToolInputError::new(format!("there is no tool `{}`", escape_control(&shown)), hint)
}

/// Declares the input of each tool, and the call that it makes.
macro_rules! inputs {
    ($($tool:ident($input:ty) => $call:expr;)*) => {
        fn read(tool: ToolName, input: &Value) -> Result<ToolCall, ToolInputError> {
            match tool {
                $(ToolName::$tool => {
                    let call: fn($input) -> Result<ToolCall, ToolInputError> = $call;
                    reading::read(tool, input).and_then(call)
                })*
            }
        }

        fn fields(tool: ToolName) -> &'static [PropertySpec] {
            match tool {
                $(ToolName::$tool => <$input>::PROPERTIES,)*
            }
        }
    };
}

inputs! {
    Exec(ExecInput) => |input| Ok(input.call());
    Bash(BashInput) => |input| Ok(input.call());
    CodeExecution(CodeInput) => CodeInput::call;
    ProcessList(NoInput) => |_| Ok(ToolCall::ProcessList);
    ProcessInspect(ProcessInput) => |input| Ok(ToolCall::ProcessInspect { pid: input.pid });
    ProcessKill(KillInput) => |input| Ok(input.call());
    Resume(IntentInput) => |input| Ok(ToolCall::Resume { intent: input.intent });
    Cancel(IntentInput) => |input| Ok(ToolCall::Cancel { intent: input.intent });
    ApprovalStatus(IntentInput) => |input| Ok(ToolCall::ApprovalStatus { intent: input.intent });
    Apply(ApplyInput) => ApplyInput::call;
    Ensure(EnsureInput) => EnsureInput::call;
    Validate(ManifestInput) => |input| Ok(ToolCall::Validate { manifest: input.manifest });
    Noop(ManifestInput) => |input| Ok(ToolCall::Noop { manifest: input.manifest });
    Graph(GraphInput) => |input| Ok(ToolCall::Graph { manifest: input.manifest, format: input.format });
    Facts(FactsInput) => |input| Ok(ToolCall::Facts { path: input.path });
    Explain(ExplainInput) => |input| Ok(ToolCall::Explain { name: input.name });
    History(HistoryInput) => |input| Ok(ToolCall::History { run: input.run, limit: input.limit.unwrap_or(20) });
    Status(StatusInput) => |input| Ok(ToolCall::Status { manifest: input.manifest });
    PolicyExplain(PolicyExplainInput) => |input| Ok(input.call());
}

impl ToolName {
    /// Returns the JSON schema of the input.
    pub fn input_schema(self) -> Value {
        let fields = fields(self);
        let mut schema = object_schema(fields);
        for (alias, name) in aliases(fields) {
            let mut field = schema["properties"][name].clone();
            field["description"] = json!(format!("Other name of `{name}`."));
            schema["properties"][alias] = field;
        }
        schema
    }
}

section! {
    /// Input of `exec`.
    #[derive(Default)]
    struct ExecInput {
        /// Name or path of the program; without `args`, a text for /bin/sh.
        command: FilledText<MAX_SHELL> as String { required: true },
        /// Arguments of the program. Without them, `command` is a text for /bin/sh.
        args: Arguments as Option<Vec<String>>,
        /// Further variables of the environment.
        env: Variables as Vec<(String, String)>,
        /// Working directory: relative to the workspace, or absolute and inside.
        directory: InputPath as Option<String> { name: "workingDir", aliases: &["working_dir"] },
        /// Longest running time in milliseconds.
        timeout: Milliseconds<MAX_EXEC_TIME> as Option<Duration> { name: "timeoutMs" },
        /// Reason for the command, which approvers see as unchecked text.
        reason: InputText<MAX_REASON> as Option<String>,
    }
}

impl ExecInput {
    fn call(self) -> ToolCall {
        let Self { command, args, env: environment, directory, timeout, reason } = self;
        let text = program_or_shell(command, args);
        ToolCall::Command(CommandCall { tool: ToolName::Exec, text, environment, directory, timeout, reason })
    }
}

fn program_or_shell(command: String, arguments: Option<Vec<String>>) -> CommandText {
    match arguments {
        Some(arguments) => CommandText::Words(std::iter::once(command).chain(arguments).collect()),
        None => CommandText::Shell(command),
    }
}

section! {
    /// Input of `bash`.
    #[derive(Default)]
    struct BashInput {
        /// Script for bash.
        script: FilledText<MAX_SHELL> as String { required: true },
        /// Working directory: relative to the workspace, or absolute and inside.
        directory: InputPath as Option<String> { name: "workingDir", aliases: &["working_dir"] },
        /// Longest running time in milliseconds.
        timeout: Milliseconds<MAX_CODE_TIME> as Option<Duration> { name: "timeoutMs" },
        /// Reason for the command, which approvers see as unchecked text.
        reason: InputText<MAX_REASON> as Option<String>,
    }
}

impl BashInput {
    fn call(self) -> ToolCall {
        let Self { script, directory, timeout, reason } = self;
        let call = CommandCall::new(ToolName::Bash, CommandText::Bash(script));
        ToolCall::Command(CommandCall { directory, timeout, reason, ..call })
    }
}

words! {
    /// Language of code, shell included.
    #[derive(Clone, Copy, Default)]
    enum InputLanguage {
        #[default]
        Python = "python",
        JavaScript = "javascript",
        TypeScript = "typescript",
        Shell = "shell",
    }
}

section! {
    /// Input of `code_execution`.
    #[derive(Default)]
    struct CodeInput {
        /// Language of the code: `python`, `javascript`, `typescript` or `shell`.
        language: Word<InputLanguage> as InputLanguage { required: true },
        /// The code.
        code: FilledText<MAX_CODE> as String { required: true },
        /// Longest running time in milliseconds.
        timeout: Milliseconds<MAX_CODE_TIME> as Option<Duration> { name: "timeoutMs" },
        /// Reason for the command, which approvers see as unchecked text.
        reason: InputText<MAX_REASON> as Option<String>,
    }
}

impl CodeInput {
    fn call(self) -> Result<ToolCall, ToolInputError> {
        let Self { language, code, timeout, reason } = self;
        let text = match CodeLanguage::parse(language.name()) {
            Some(language) => CommandText::Code(language, code),
            None if code.len() < MAX_SHELL => CommandText::Bash(code),
            None => {
                let message =
                    format!("`code` in shell has {} bytes; the limit is {}", code.len(), MAX_SHELL - 1);
                let hint = "write the data to a file of the workspace, and pass its path";
                return Err(ToolInputError::new(message, hint));
            }
        };
        let call = CommandCall::new(ToolName::CodeExecution, text);
        Ok(ToolCall::Command(CommandCall { timeout, reason, ..call }))
    }
}

section! {
    /// Input of a tool without fields.
    #[derive(Default)]
    struct NoInput {}
}

section! {
    /// Input of `process_inspect`.
    #[derive(Default)]
    struct ProcessInput {
        /// Number of the process, as `process_list` shows it.
        pid: ProcessNumber as i32 { required: true },
    }
}

section! {
    /// Input of `process_kill`.
    #[derive(Default)]
    struct KillInput {
        /// Number of the process, as `process_list` shows it.
        pid: ProcessNumber as i32 { required: true },
        /// Name or number of the signal; TERM by default.
        signal: SignalName as Option<&'static str>,
    }
}

impl KillInput {
    fn call(self) -> ToolCall {
        ToolCall::ProcessKill { pid: self.pid, signal: self.signal.unwrap_or("SIGTERM") }
    }
}

section! {
    /// Input of `resume`, `cancel` and `approval_status`.
    #[derive(Default)]
    struct IntentInput {
        /// Id of the intent, from the answer that asked for an approval.
        intent: IntentId as String { required: true },
    }
}

section! {
    /// Input of `apply`.
    #[derive(Default)]
    struct ApplyInput {
        /// Path of the manifest; or else `text`.
        manifest: ManifestPath as Option<String>,
        /// Text of the manifest, whose paths are absolute; an approver reads and approves it.
        text: InputText<MAX_MANIFEST> as Option<String>,
        /// Reason for the command, which approvers see as unchecked text.
        reason: InputText<MAX_REASON> as Option<String>,
    }
}

impl ApplyInput {
    fn call(self) -> Result<ToolCall, ToolInputError> {
        let manifest = match (self.manifest, self.text.filter(|text| !text.trim().is_empty())) {
            (Some(path), None) => AppliedManifest::Path(path),
            (None, Some(text)) => AppliedManifest::Text(text),
            (None, None) => {
                let hint = "add `manifest`, the path of a manifest, or its `text`";
                return Err(ToolInputError::new("`apply` needs a manifest", hint));
            }
            (Some(_), Some(_)) => {
                let message = "`manifest` and `text` are both given, and each is a manifest";
                return Err(ToolInputError::new(message, "keep one of them"));
            }
        };
        Ok(ToolCall::Apply(ApplyCall { tool: ToolName::Apply, manifest, reason: self.reason }))
    }
}

section! {
    /// Input of `ensure`.
    #[derive(Default)]
    struct EnsureInput {
        /// Type of the resource, such as `file`; `explain` lists them.
        resource_type: FilledText<MAX_NAME> as String { name: "type", required: true },
        /// Name of the resource, as `name`, and its properties. Paths are absolute.
        properties: JsonMap { required: true },
        /// Reason for the command, which approvers see as unchecked text.
        reason: InputText<MAX_REASON> as Option<String>,
    }
}

impl EnsureInput {
    /// Returns the call that applies a manifest with the resource, which an approver reads.
    fn call(self) -> Result<ToolCall, ToolInputError> {
        let JsonMap(mut properties) = self.properties;
        let name = properties.remove("name");
        let Some(Value::String(name)) =
            name.filter(|name| name.as_str().is_some_and(|name| !name.is_empty()))
        else {
            let hint = "add `name` to the properties, such as the path of a file";
            return Err(ToolInputError::new("`ensure` needs the name of the resource", hint));
        };
        let resource = json!({ name: properties });
        let manifest = json!({ "ccm": { "resources": [{ self.resource_type: [resource] }] } });
        let text = format!("{manifest:#}\n");
        if text.len() > MAX_MANIFEST {
            let message = format!("the resource has more than {MAX_MANIFEST} bytes");
            return Err(ToolInputError::new(
                message,
                "write long content to a file, and name it as `source`",
            ));
        }
        let (tool, manifest) = (ToolName::Ensure, AppliedManifest::Text(text));
        Ok(ToolCall::Apply(ApplyCall { tool, manifest, reason: self.reason }))
    }
}

section! {
    /// Input of `validate` and `noop`.
    #[derive(Default)]
    struct ManifestInput {
        /// Path of the manifest.
        manifest: ManifestPath as String { required: true },
    }
}

section! {
    /// Input of `graph`.
    #[derive(Default)]
    struct GraphInput {
        /// Path of the manifest.
        manifest: ManifestPath as String { required: true },
        /// Format; text by default.
        format: Word<GraphFormat> as GraphFormat,
    }
}

section! {
    /// Input of `facts`.
    #[derive(Default)]
    struct FactsInput {
        /// Path within the facts, such as `host.info.os`.
        path: InputText<MAX_NAME> as Option<String>,
    }
}

section! {
    /// Input of `explain`.
    #[derive(Default)]
    struct ExplainInput {
        /// Type such as `file`, or property such as `file.mode`.
        name: InputText<MAX_NAME> as Option<String>,
    }
}

section! {
    /// Input of `history`.
    #[derive(Default)]
    struct HistoryInput {
        /// Id of a run, its beginning, or `last`.
        run: InputText<MAX_NAME> as Option<String>,
        /// Maximum number of runs; 20 by default.
        limit: RunCount as Option<usize>,
    }
}

section! {
    /// Input of `status`.
    #[derive(Default)]
    struct StatusInput {
        /// Path of one manifest.
        manifest: InputPath as Option<String>,
    }
}

words! {
    /// Shell of a text.
    #[derive(Clone, Copy, Default)]
    enum InputShell {
        #[default]
        Sh = "sh",
        Bash = "bash",
    }
}

section! {
    /// Input of `policy_explain`.
    #[derive(Default)]
    struct PolicyExplainInput {
        /// Program, or a text for a shell.
        command: FilledText<MAX_SHELL> as String { required: true },
        /// Arguments of the program. Without them, `command` is a text for /bin/sh.
        args: Arguments as Option<Vec<String>>,
        /// Working directory: relative to the workspace, or absolute and inside.
        directory: InputPath as Option<String> { name: "workingDir", aliases: &["working_dir"] },
        /// Shell of a text; sh by default.
        shell: Word<InputShell> as InputShell,
    }
}

impl PolicyExplainInput {
    fn call(self) -> ToolCall {
        let text = match (program_or_shell(self.command, self.args), self.shell) {
            (CommandText::Shell(text), InputShell::Bash) => CommandText::Bash(text),
            (text, _) => text,
        };
        let directory = self.directory;
        ToolCall::PolicyExplain(CommandCall { directory, ..CommandCall::new(ToolName::PolicyExplain, text) })
    }
}
