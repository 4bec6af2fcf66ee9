//! Output of ccm besides the report of a run: results on standard output; messages on standard error, in one form
//! and without secrets.

use std::borrow::Cow;
use std::io::{ErrorKind, Write as _, stderr, stdout};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use ccm_model::escape_control;
use ccm_runtime::{ExitCode, Secrets};

use crate::error_output::ErrorOutput;

/// Standard output for results, and standard error for messages, from which secrets are redacted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Console {
    secrets: Secrets,
    error_output: ErrorOutput,
}

impl Console {
    /// Returns the secrets, which the sessions share.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Returns standard error, which the copies of this value share.
    pub(crate) fn error_output(&self) -> &ErrorOutput {
        &self.error_output
    }

    /// Prints the result of a command to standard output. A closed output is no error, as with `head`.
    pub(crate) fn print(&self, text: &str) -> ExitCode {
        let mut stdout = stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => ExitCode::Success,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::Success,
            Err(error) => {
                self.error("standard output can't be written", &[error.to_string()], &[]);
                ExitCode::NothingRun
            }
        }
    }

    /// Writes an error: the message, its causes, then hints.
    pub(crate) fn error(&self, message: &str, causes: &[String], hints: &[String]) {
        let mut text = format!("error: {}\n{}", escape_control(message), caused_by(causes));
        for hint in hints {
            text += &format!("hint: {}\n", escape_control(hint));
        }
        self.write(&text);
    }

    /// Writes an error, a list that belongs to it, a line each, and hints.
    pub(crate) fn error_with_list(&self, message: &str, list: &[String], hints: &[String]) {
        let mut text = format!("error: {}:\n", escape_control(message));
        text.extend(list.iter().map(|line| format!("  {}\n", escape_control(line))));
        text.extend(hints.iter().map(|hint| format!("hint: {}\n", escape_control(hint))));
        self.write(&text);
    }

    /// Writes an error with its consequence, its causes and hints.
    pub(crate) fn error_of(&self, error: &dyn std::error::Error, consequence: &str, hints: &[String]) {
        let message =
            if consequence.is_empty() { error.to_string() } else { format!("{error}; {consequence}") };
        self.error(&message, &causes(error), hints);
    }

    /// Writes a warning with its causes.
    pub(crate) fn warning_of(&self, error: &dyn std::error::Error) {
        let message = escape_control(&error.to_string()).into_owned();
        self.write(&format!("warning: {message}\n{}", caused_by(&causes(error))));
    }

    /// Writes a warning.
    pub(crate) fn warning(&self, message: &str) {
        self.write(&format!("warning: {}\n", escape_control(message)));
    }

    /// Writes a note, which is not an error but may explain the result.
    pub(crate) fn note(&self, message: &str) {
        self.write(&format!("note: {}\n", escape_control(message)));
    }

    /// Writes a hint for a warning or note.
    pub(crate) fn hint(&self, message: &str) {
        self.write(&format!("hint: {}\n", escape_control(message)));
    }

    /// Writes a text without secrets, in one piece so that no other output comes in between.
    pub(crate) fn write(&self, text: &str) {
        let text = match (self.secrets.redact(text), AutoStream::choice(&stderr())) {
            (text, ColorChoice::Never) => Cow::Owned(strip_str(&text).to_string()),
            (text, _) => text,
        };
        self.error_output.write(text.as_bytes());
    }
}

fn causes(error: &dyn std::error::Error) -> Vec<String> {
    std::iter::successors(error.source(), |cause| cause.source()).map(ToString::to_string).collect()
}

fn caused_by(causes: &[String]) -> String {
    let line = |text: String, cause: &String| text + &format!("  caused by: {}\n", escape_control(cause));
    causes.iter().fold(String::new(), line)
}
