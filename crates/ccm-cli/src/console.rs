//! Output of ccm besides the report of a run: results on standard output; messages on standard error, in one form
//! and without secrets.

use std::borrow::Cow;
use std::io::{ErrorKind, Write as _, stderr, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use ccm_runtime::model::escape_control;
use ccm_runtime::report::Screen;
use ccm_runtime::{ExitCode, Findings, Secrets};

use crate::arguments::JsonForm;
use crate::diagnostics;
use crate::error::{CommandError, CommandResult, ErrorText, causes};
use crate::error_output::ErrorOutput;
use crate::listeners::report_screen;

/// Standard output for results, and standard error for messages, from which secrets are redacted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Console {
    secrets: Secrets,
    error_output: ErrorOutput,
    /// Something was written to standard output. The copies of this value share it.
    has_output: Arc<AtomicBool>,
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
    pub(crate) fn print(&self, text: &str) -> CommandResult {
        self.mark_output();
        let mut stdout = stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(CommandError::new("standard output can't be written").caused_by(&error))
            }
            _ => Ok(ExitCode::Success),
        }
    }

    /// Prints lines of words to standard output. On a terminal, they end between words.
    pub(crate) fn print_words(&self, text: &str) -> CommandResult {
        self.print(&report_screen().folded(text))
    }

    /// Records that standard output has a result, or a part of one.
    pub(crate) fn mark_output(&self) {
        self.has_output.store(true, Ordering::Relaxed);
    }

    /// Prints an error to standard output for a program that reads JSON there, unless it has a result already. An
    /// output that can't be written is ignored, because the error has an exit code.
    pub(crate) fn error_document(&self, error: &CommandError, form: JsonForm) {
        if self.has_output.load(Ordering::Relaxed) {
            return;
        }
        let document = error.document().json(&|text| self.secrets.redact(text).into_owned());
        let _ = self.print(&form.text(&document));
    }

    /// Writes located errors and warnings.
    pub(crate) fn findings(&self, findings: &Findings) {
        if !findings.diagnostics.is_empty() {
            self.write(&diagnostics::text(findings, diagnostics::terminal_width()));
        }
    }

    /// Writes an error.
    pub(crate) fn error(&self, error: &CommandError) {
        self.write_parts(error.parts());
    }

    /// Writes a warning with its causes.
    pub(crate) fn warning_of(&self, error: &dyn std::error::Error) {
        let mut text = format!("warning: {}\n", escape_control(&error.to_string()));
        text.extend(causes(error).iter().map(|cause| format!("  caused by: {}\n", escape_control(cause))));
        self.write_words(text);
    }

    /// Writes a warning.
    pub(crate) fn warning(&self, message: &str) {
        self.write_words(format!("warning: {}\n", escape_control(message)));
    }

    /// Writes a note, which is not an error but may explain the result.
    pub(crate) fn note(&self, message: &str) {
        self.write_words(format!("note: {}\n", escape_control(message)));
    }

    /// Writes a hint for a warning or note.
    pub(crate) fn hint(&self, message: &str) {
        self.write_words(format!("hint: {}\n", escape_control(message)));
    }

    /// Writes an explanation, if there is one.
    pub(crate) fn explain(&self, explanation: Option<String>) {
        if let Some(text) = explanation {
            self.write(&text);
        }
    }

    /// Writes a text without secrets, in one piece so that no other output comes in between.
    pub(crate) fn write(&self, text: &str) {
        self.write_redacted(self.secrets.redact(text));
    }

    fn write_words(&self, words: String) {
        self.write_parts(vec![ErrorText::Words(words)]);
    }

    /// Writes a text in one piece. On a terminal, lines of words end between two of them. A secret of several words is
    /// redacted before that.
    fn write_parts(&self, parts: Vec<ErrorText>) {
        let screen = Screen { width: diagnostics::terminal_width(), is_unicode: true };
        let shown = parts.into_iter().map(|part| match part {
            ErrorText::Excerpts(text) => self.secrets.redact(&text).into_owned(),
            ErrorText::Words(text) => screen.folded(&self.secrets.redact(&text)).into_owned(),
        });
        self.write_redacted(Cow::Owned(shown.collect()));
    }

    fn write_redacted(&self, text: Cow<'_, str>) {
        let text = match (text, AutoStream::choice(&stderr())) {
            (text, ColorChoice::Never) => Cow::Owned(strip_str(&text).to_string()),
            (text, _) => text,
        };
        self.error_output.write(text.as_bytes());
    }
}
