//! Checks of the input of a call.

use std::time::Duration;

use ccm_host::full_signal_name;
use ccm_model::{closest, escape_control};
use serde_json::Value;

use crate::call::{AppliedManifest, ApplyCall, CodeLanguage, CommandCall, CommandText, ToolCall};
use crate::catalog::ToolName;
use crate::fields::InputFields;

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

const EXEC: &[&str] = &["command", "args", "env", "workingDir", "working_dir", "timeoutMs", "reason"];
const BASH: &[&str] = &["script", "workingDir", "working_dir", "timeoutMs", "reason"];
const CODE: &[&str] = &["language", "code", "timeoutMs", "reason"];
const APPLY: &[&str] = &["manifest", "text", "reason"];
const POLICY_EXPLAIN: &[&str] = &["command", "args", "workingDir", "working_dir", "shell"];

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
    let fields = |known| InputFields::new(tool.as_str(), input, known);
    Ok(match tool {
        ToolName::Exec => ToolCall::Command(exec(&fields(EXEC)?, tool)?),
        ToolName::Bash => ToolCall::Command(bash(&fields(BASH)?)?),
        ToolName::CodeExecution => ToolCall::Command(code(&fields(CODE)?)?),
        ToolName::ProcessList => {
            fields(&[])?;
            ToolCall::ProcessList
        }
        ToolName::ProcessInspect => ToolCall::ProcessInspect { pid: pid(&fields(&["pid"])?)? },
        ToolName::ProcessKill => {
            let fields = fields(&["pid", "signal"])?;
            ToolCall::ProcessKill { pid: pid(&fields)?, signal: signal(&fields)? }
        }
        ToolName::Resume => ToolCall::Resume { intent: intent(&fields(&["intent"])?)? },
        ToolName::Cancel => ToolCall::Cancel { intent: intent(&fields(&["intent"])?)? },
        ToolName::ApprovalStatus => ToolCall::ApprovalStatus { intent: intent(&fields(&["intent"])?)? },
        ToolName::Apply => ToolCall::Apply(apply(&fields(APPLY)?)?),
        ToolName::Validate => ToolCall::Validate { manifest: manifest(&fields(&["manifest"])?)? },
        ToolName::Noop => ToolCall::Noop { manifest: manifest(&fields(&["manifest"])?)? },
        ToolName::Graph => {
            let fields = fields(&["manifest", "format"])?;
            let format = fields.word("format", &["text", "dot", "mermaid"])?.unwrap_or("text");
            ToolCall::Graph { manifest: manifest(&fields)?, format }
        }
        ToolName::Facts => ToolCall::Facts { path: fields(&["path"])?.text("path", MAX_NAME)? },
        ToolName::Explain => ToolCall::Explain { name: fields(&["name"])?.text("name", MAX_NAME)? },
        ToolName::History => {
            let fields = fields(&["run", "limit"])?;
            let limit = fields.number("limit", 1, 1000)?.unwrap_or(20);
            ToolCall::History {
                run: fields.text("run", MAX_NAME)?,
                limit: usize::try_from(limit).unwrap_or_default(),
            }
        }
        ToolName::Status => ToolCall::Status { manifest: fields(&["manifest"])?.path("manifest")? },
        ToolName::PolicyExplain => {
            let fields = fields(POLICY_EXPLAIN)?;
            let mut call = exec(&fields, tool)?;
            if fields.word("shell", &["sh", "bash"])? == Some("bash")
                && let CommandText::Shell(text) = call.text
            {
                call.text = CommandText::Bash(text);
            }
            ToolCall::PolicyExplain(call)
        }
    })
}

fn unknown_tool(name: &str) -> ToolInputError {
    let shown: String = name.chars().take(64).collect();
    let names = ToolName::ALL.map(ToolName::as_str);
    let hint = match closest(name, names) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("use one of: {}", names.join(", ")),
    };
    ToolInputError::new(format!("there is no tool `{}`", escape_control(&shown)), hint)
}

fn exec(fields: &InputFields<'_>, tool: ToolName) -> Result<CommandCall, ToolInputError> {
    let command = fields.required("command", MAX_SHELL)?;
    let is_explained = tool == ToolName::PolicyExplain;
    let text = match fields.arguments("args")? {
        Some(arguments) => {
            let words = std::iter::once(command).chain(arguments).collect();
            CommandText::Words(words)
        }
        None => CommandText::Shell(command),
    };
    Ok(CommandCall {
        tool,
        text,
        environment: if is_explained { Vec::new() } else { fields.variables("env")? },
        directory: directory(fields)?,
        timeout: if is_explained { None } else { timeout(fields, tool)? },
        reason: if is_explained { None } else { fields.text("reason", MAX_REASON)? },
    })
}

fn bash(fields: &InputFields<'_>) -> Result<CommandCall, ToolInputError> {
    Ok(CommandCall {
        tool: ToolName::Bash,
        text: CommandText::Bash(fields.required("script", MAX_SHELL)?),
        environment: Vec::new(),
        directory: directory(fields)?,
        timeout: timeout(fields, ToolName::Bash)?,
        reason: fields.text("reason", MAX_REASON)?,
    })
}

fn code(fields: &InputFields<'_>) -> Result<CommandCall, ToolInputError> {
    let tool = ToolName::CodeExecution;
    let language = fields.word("language", &["python", "javascript", "typescript", "shell"])?;
    let language = language.ok_or_else(|| {
        let hint = "add `language`: `python`, `javascript`, `typescript` or `shell`";
        ToolInputError::new("`code_execution` needs `language`", hint)
    })?;
    let text = match CodeLanguage::ALL.into_iter().find(|known| known.as_str() == language) {
        Some(language) => CommandText::Code(language, fields.required("code", MAX_CODE)?),
        None => CommandText::Bash(fields.required("code", MAX_SHELL)?),
    };
    Ok(CommandCall {
        tool,
        text,
        environment: Vec::new(),
        directory: None,
        timeout: timeout(fields, tool)?,
        reason: fields.text("reason", MAX_REASON)?,
    })
}

/// Returns the working directory, which has two names.
fn directory(fields: &InputFields<'_>) -> Result<Option<String>, ToolInputError> {
    match (fields.path("workingDir")?, fields.path("working_dir")?) {
        (Some(_), Some(_)) => Err(ToolInputError::new(
            "`workingDir` and `working_dir` are the same field, and both are given",
            "keep one of them",
        )),
        (one, other) => Ok(one.or(other)),
    }
}

fn timeout(fields: &InputFields<'_>, tool: ToolName) -> Result<Option<Duration>, ToolInputError> {
    fields.timeout("timeoutMs", tool.max_timeout().unwrap_or_default())
}

fn manifest(fields: &InputFields<'_>) -> Result<String, ToolInputError> {
    let missing = || ToolInputError::new("`manifest` is missing", "add `manifest`: the path of a manifest");
    let path = fields.path("manifest")?.ok_or_else(missing)?;
    if path == "-" {
        return Err(ToolInputError::new(
            "a tool can't read a manifest from standard input",
            "write the manifest to a file, and pass its path",
        ));
    }
    Ok(path)
}

fn apply(fields: &InputFields<'_>) -> Result<ApplyCall, ToolInputError> {
    let text = fields.text("text", MAX_MANIFEST)?.filter(|text| !text.trim().is_empty());
    let manifest = match text {
        None if fields.path("manifest")?.is_none() => {
            return Err(ToolInputError::new(
                "`apply` needs a manifest",
                "add `manifest`, the path of a manifest, or its `text`",
            ));
        }
        None => AppliedManifest::Path(manifest(fields)?),
        Some(_) if fields.path("manifest")?.is_some() => {
            return Err(ToolInputError::new(
                "`manifest` and `text` are both given, and each is a manifest",
                "keep one of them",
            ));
        }
        Some(text) => AppliedManifest::Text(text),
    };
    Ok(ApplyCall { manifest, reason: fields.text("reason", MAX_REASON)? })
}

fn pid(fields: &InputFields<'_>) -> Result<i32, ToolInputError> {
    let number = fields.number("pid", 1, i64::from(i32::MAX))?;
    let number = number
        .ok_or_else(|| ToolInputError::new("`pid` is missing", "add `pid`; `process_list` shows them"))?;
    Ok(i32::try_from(number).unwrap_or(i32::MAX))
}

fn signal(fields: &InputFields<'_>) -> Result<&'static str, ToolInputError> {
    let name = fields.number_or_text("signal")?.unwrap_or_else(|| "TERM".to_owned());
    full_signal_name(&name).ok_or_else(|| {
        let message = format!("there is no signal `{}`", escape_control(&name));
        ToolInputError::new(message, "use a name such as `TERM`, `INT`, `HUP` or `KILL`")
    })
}

fn intent(fields: &InputFields<'_>) -> Result<String, ToolInputError> {
    let id = fields.required("intent", 64)?;
    if id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Ok(id);
    }
    Err(ToolInputError::new(
        "`intent` is not an id",
        "pass the value of `intent` from the answer that asked for an approval",
    ))
}
