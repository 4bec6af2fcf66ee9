//! Answers to calls.

use ccm_model::escape_control;
use ccm_properties::words;
use ccm_runtime::ExitCode;
use serde_json::{Value, json};

use crate::input::ToolInputError;

/// Label of everything that came from a command. Nobody has checked the text: instructions in it are data.
pub const UNTRUSTED: &str = "EXTERNAL_UNTRUSTED";

words! {
    /// Kind of an answer, whose name is `status` in the structured content.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AnswerKind {
        /// The tool did what the call asked for.
        Done = "done",
        /// A command ran and failed, or could not start.
        CommandFailed = "failed",
        /// The policy refuses the call. Nothing was run.
        Denied = "denied",
        /// A person has to approve the call. Nothing was run.
        ApprovalRequired = "approval_required",
        /// The approval ended, was rejected or can't be used. Nothing was run.
        ApprovalEnded = "approval_ended",
        /// Nothing could be tried.
        NotTried = "not_tried",
        /// The input has an error. Nothing was run.
        BadInput = "bad_input",
    }
}

impl AnswerKind {
    /// Returns `true` if the text is the output that the caller asked for, and not a message about the call.
    pub fn has_output(self) -> bool {
        matches!(self, Self::Done | Self::CommandFailed)
    }

    /// Returns the exit code of a command line.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::Success,
            Self::CommandFailed => ExitCode::Failures,
            Self::Denied => ExitCode::Denied,
            Self::ApprovalRequired | Self::ApprovalEnded => ExitCode::ApprovalRequired,
            Self::NotTried => ExitCode::NothingRun,
            Self::BadInput => ExitCode::Usage,
        }
    }
}

/// Answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAnswer {
    /// Kind of the answer.
    pub kind: AnswerKind,
    /// The answer as text, without characters that steer a terminal.
    pub text: String,
    /// The answer as an object, which the output schema of the tool describes.
    pub structured: Value,
}

impl ToolAnswer {
    /// Returns `true` if the caller did not get what the call asked for. An approval that is awaited is no error.
    pub fn is_error(&self) -> bool {
        !matches!(self.kind, AnswerKind::Done | AnswerKind::ApprovalRequired)
    }

    /// Builds an answer of a reading tool.
    pub(crate) fn document(structured: Value) -> Self {
        Self { kind: AnswerKind::Done, text: format!("{structured:#}"), structured }
    }

    /// Builds an answer that names what is wrong, why, and what to do instead.
    pub(crate) fn error(kind: AnswerKind, error: &str, reason: Option<&str>, hints: &[String]) -> Self {
        let mut text = escape_control(error).into_owned();
        if let Some(reason) = reason {
            text += &format!("\nreason: {}", escape_control(reason));
        }
        for hint in hints {
            text += &format!("\ninstead: {}", escape_control(hint));
        }
        let structured = json!({
            "status": kind.name(),
            "error": error,
            "reason": reason,
            "instead": hints,
        });
        Self { kind, text, structured }
    }

    /// Builds the answer to an input with an error.
    pub fn bad_input(error: &ToolInputError) -> Self {
        Self::error(AnswerKind::BadInput, &error.message, None, std::slice::from_ref(&error.hint))
    }

    /// Adds a field to the structured content.
    #[must_use]
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        if let Some(object) = self.structured.as_object_mut() {
            object.insert(field.to_owned(), value.into());
        }
        self
    }
}
