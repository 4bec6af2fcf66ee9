//! Calls with a checked input.

use std::time::Duration;

use ccm_properties::words;

use crate::catalog::ToolName;

/// Call with a checked input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolCall {
    /// `exec`, `bash` or `code_execution`.
    Command(CommandCall),
    /// `process_list`.
    ProcessList,
    /// `process_inspect`.
    ProcessInspect {
        /// Number of the process.
        pid: i32,
    },
    /// `process_kill`.
    ProcessKill {
        /// Number of the process.
        pid: i32,
        /// Full name of the signal.
        signal: &'static str,
    },
    /// `resume`.
    Resume {
        /// Id or code of the intent.
        intent: String,
    },
    /// `cancel`.
    Cancel {
        /// Id or code of the intent.
        intent: String,
    },
    /// `approval_status`.
    ApprovalStatus {
        /// Id or code of the intent.
        intent: String,
    },
    /// `apply` or `ensure`.
    Apply(ApplyCall),
    /// `validate`.
    Validate {
        /// Path of the manifest.
        manifest: String,
    },
    /// `noop`.
    Noop {
        /// Path of the manifest.
        manifest: String,
    },
    /// `graph`.
    Graph {
        /// Path of the manifest.
        manifest: String,
        /// Format of the graph.
        format: GraphFormat,
    },
    /// `facts`.
    Facts {
        /// Path within the facts.
        path: Option<String>,
    },
    /// `explain`.
    Explain {
        /// Type, or type and property.
        name: Option<String>,
    },
    /// `history`.
    History {
        /// Id of a run, the beginning of one, or `last`.
        run: Option<String>,
        /// Maximum number of runs.
        limit: usize,
    },
    /// `status`.
    Status {
        /// Path of one manifest.
        manifest: Option<String>,
    },
    /// `policy_explain`.
    PolicyExplain(CommandCall),
}

/// Call that applies a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyCall {
    /// The tool.
    pub tool: ToolName,
    /// The manifest.
    pub manifest: AppliedManifest,
    /// Reason of the caller for the call. It is shown to approvers as unchecked text.
    pub reason: Option<String>,
}

/// Manifest of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppliedManifest {
    /// Path of the manifest.
    Path(String),
    /// Text of the manifest.
    Text(String),
}

/// Call that runs a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandCall {
    /// The tool.
    pub tool: ToolName,
    /// The command.
    pub text: CommandText,
    /// Variables that the caller adds to the environment, sorted by name.
    pub environment: Vec<(String, String)>,
    /// Working directory as the caller writes it.
    pub directory: Option<String>,
    /// Time limit that the caller asks for.
    pub timeout: Option<Duration>,
    /// Reason of the caller for the call. It is shown to approvers as unchecked text.
    pub reason: Option<String>,
}

/// Command of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandText {
    /// Program and arguments.
    Words(Vec<String>),
    /// Text for `/bin/sh`.
    Shell(String),
    /// Script for bash.
    Bash(String),
    /// Code in a language other than shell.
    Code(CodeLanguage, String),
}

words! {
    /// Language of code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CodeLanguage {
        /// Python 3.
        Python = "python",
        /// JavaScript.
        JavaScript = "javascript",
        /// TypeScript.
        TypeScript = "typescript",
    }
}

words! {
    /// Format of a graph.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum GraphFormat {
        /// Lines of text.
        #[default]
        Text = "text",
        /// Graphviz.
        Dot = "dot",
        /// Mermaid.
        Mermaid = "mermaid",
    }
}

impl CommandCall {
    /// Builds a call without anything but the command.
    pub(crate) fn new(tool: ToolName, text: CommandText) -> Self {
        Self { tool, text, environment: Vec::new(), directory: None, timeout: None, reason: None }
    }
}

impl ToolCall {
    /// Returns the tool.
    pub fn tool(&self) -> ToolName {
        match self {
            Self::Command(call) => call.tool,
            Self::ProcessList => ToolName::ProcessList,
            Self::ProcessInspect { .. } => ToolName::ProcessInspect,
            Self::ProcessKill { .. } => ToolName::ProcessKill,
            Self::Resume { .. } => ToolName::Resume,
            Self::Cancel { .. } => ToolName::Cancel,
            Self::ApprovalStatus { .. } => ToolName::ApprovalStatus,
            Self::Apply(call) => call.tool,
            Self::Validate { .. } => ToolName::Validate,
            Self::Noop { .. } => ToolName::Noop,
            Self::Graph { .. } => ToolName::Graph,
            Self::Facts { .. } => ToolName::Facts,
            Self::Explain { .. } => ToolName::Explain,
            Self::History { .. } => ToolName::History,
            Self::Status { .. } => ToolName::Status,
            Self::PolicyExplain(_) => ToolName::PolicyExplain,
        }
    }
}
