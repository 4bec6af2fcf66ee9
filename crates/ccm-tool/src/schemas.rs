//! JSON schemas of inputs and outputs.

use serde_json::{Value, json};

use crate::catalog::ToolName;

#[expect(clippy::needless_pass_by_value, reason = "callers build the properties in place")]
fn object(required: &[&str], properties: Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn timeout(tool: ToolName) -> Value {
    let most = tool.max_timeout().map(|most| u64::try_from(most.as_millis()).unwrap_or_default());
    json!({
        "type": "integer",
        "minimum": 1,
        "maximum": most,
        "description": "Longest running time in milliseconds",
    })
}

fn arguments() -> Value {
    json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Arguments of the program. Without them, `command` is a text for /bin/sh",
    })
}

fn intent() -> Value {
    object(
        &["intent"],
        json!({ "intent": text("Id of the intent, from the answer that asked for an approval") }),
    )
}

fn reason() -> Value {
    text("Why the command is needed; approvers see it as unchecked text")
}

fn apply() -> Value {
    object(
        &[],
        json!({
            "manifest": text("Path of the manifest; or else `text`"),
            "text": text("Text of the manifest, whose paths are absolute; an approver reads and approves it"),
            "reason": reason(),
        }),
    )
}

impl ToolName {
    /// Returns the JSON schema of the input.
    pub fn input_schema(self) -> Value {
        let directory = || text("Working directory: relative to the workspace, or absolute and inside");
        let same = || text("Other name of `workingDir`");
        let manifest = || text("Path of the manifest");
        match self {
            Self::Exec => object(
                &["command"],
                json!({
                    "command": text("Name or path of the program; without `args`, a text for /bin/sh"),
                    "args": arguments(),
                    "env": {
                        "type": "object",
                        "additionalProperties": { "type": "string" },
                        "description": "Further variables of the environment",
                    },
                    "workingDir": directory(),
                    "working_dir": same(),
                    "timeoutMs": timeout(self),
                    "reason": reason(),
                }),
            ),
            Self::Bash => object(
                &["script"],
                json!({
                    "script": text("Script for bash"),
                    "workingDir": directory(),
                    "working_dir": same(),
                    "timeoutMs": timeout(self),
                    "reason": reason(),
                }),
            ),
            Self::CodeExecution => object(
                &["language", "code"],
                json!({
                    "language": {
                        "type": "string",
                        "enum": ["python", "javascript", "typescript", "shell"],
                        "description": "Language of the code",
                    },
                    "code": text("The code"),
                    "timeoutMs": timeout(self),
                    "reason": reason(),
                }),
            ),
            Self::ProcessList => object(&[], json!({})),
            Self::ProcessInspect => object(
                &["pid"],
                json!({ "pid": { "type": "integer", "minimum": 1, "description": "Number of the process" } }),
            ),
            Self::ProcessKill => object(
                &["pid"],
                json!({
                    "pid": { "type": "integer", "minimum": 1, "description": "Number of the process" },
                    "signal": {
                        "type": ["string", "integer"],
                        "description": "Name or number of the signal; TERM by default",
                    },
                }),
            ),
            Self::Resume | Self::Cancel | Self::ApprovalStatus => intent(),
            Self::Apply => apply(),
            Self::Validate | Self::Noop => object(&["manifest"], json!({ "manifest": manifest() })),
            Self::Graph => object(
                &["manifest"],
                json!({
                    "manifest": manifest(),
                    "format": { "type": "string", "enum": ["text", "dot", "mermaid"], "description": "Format; text by default" },
                }),
            ),
            Self::Facts => {
                object(&[], json!({ "path": text("Path within the facts, such as `host.info.os`") }))
            }
            Self::Explain => {
                object(&[], json!({ "name": text("Type such as `file`, or property such as `file.mode`") }))
            }
            Self::History => object(
                &[],
                json!({
                    "run": text("Id of a run, its beginning, or `last`"),
                    "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "description": "Maximum number of runs; 20 by default" },
                }),
            ),
            Self::Status => object(&[], json!({ "manifest": text("Path of one manifest") })),
            Self::PolicyExplain => object(
                &["command"],
                json!({
                    "command": text("Program, or a text for a shell"),
                    "args": arguments(),
                    "workingDir": directory(),
                    "working_dir": same(),
                    "shell": { "type": "string", "enum": ["sh", "bash"], "description": "Shell of a text; sh by default" },
                }),
            ),
        }
    }

    /// Returns the JSON schema of the structured content. Every answer that is not the result itself has `status`, and
    /// mostly `error` and `instead`.
    pub fn output_schema(self) -> Value {
        let result = match self {
            Self::Exec | Self::Bash | Self::CodeExecution | Self::Resume => json!({
                "command": { "type": "string" },
                "args": { "type": "array", "items": { "type": "string" } },
                "exitCode": { "type": "integer", "description": "-1 if a signal or the time limit ended the command" },
                "signal": { "type": ["string", "null"] },
                "stdout": { "type": "string" },
                "stderr": { "type": "string" },
                "timedOut": { "type": "boolean" },
                "durationMs": { "type": "integer" },
                "truncated": { "type": "boolean" },
                "leftRunning": { "type": "array", "items": { "type": "string" } },
                "notes": { "type": "array", "items": { "type": "string" } },
                "trust": { "type": "string", "description": "EXTERNAL_UNTRUSTED: nobody has checked the output" },
            }),
            Self::Apply => json!({
                "exitCode": { "type": "integer", "description": "Exit code of `ccm apply`" },
                "events": { "type": "array", "items": { "type": "object" } },
                "truncated": { "type": "boolean" },
                "trust": { "type": "string", "description": "EXTERNAL_UNTRUSTED: nobody has checked the output" },
            }),
            Self::ProcessList => json!({ "processes": { "type": "array", "items": { "type": "object" } } }),
            Self::ProcessInspect | Self::ProcessKill => json!({
                "pid": { "type": "integer" },
                "name": { "type": "string" },
                "signal": { "type": "string" },
            }),
            _ => json!({}),
        };
        let mut properties = json!({
            "status": {
                "type": "string",
                "enum": ["done", "failed", "denied", "approval_required", "approval_ended", "not_tried", "bad_input"],
            },
            "error": { "type": ["string", "null"] },
            "reason": { "type": ["string", "null"] },
            "instead": { "type": "array", "items": { "type": "string" } },
            "intent": { "type": "string" },
            "code": { "type": "string" },
            "expires": { "type": ["string", "null"] },
            "approve_with": { "type": "string" },
        });
        if let (Some(all), Value::Object(result)) = (properties.as_object_mut(), result) {
            all.extend(result);
        }
        json!({ "type": "object", "properties": properties })
    }
}
