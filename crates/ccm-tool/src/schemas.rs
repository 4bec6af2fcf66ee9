//! JSON schemas of outputs.

use serde_json::{Value, json};

use crate::answer::AnswerKind;
use crate::catalog::ToolName;

impl ToolName {
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
            Self::Apply | Self::Ensure => json!({
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
                "enum": AnswerKind::NAMES,
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
