//! Errors of commands: one type, which is printed in one place.

use std::error::Error;
use std::io;

use ccm_runtime::approval::{ApprovalsError, ApproveError, SignError};
use ccm_runtime::model::{StopCause, escape_control};
use ccm_runtime::policy::PolicyError;
use ccm_runtime::{ErrorDocument, ExitCode, Finding, Findings, InputError, ManifestErrors, TextError};
use clap::builder::Styles;

use crate::diagnostics;

/// Exit code of a command, or another result, or the reason why there is none.
pub(crate) type CommandResult<T = ExitCode> = Result<T, CommandError>;

/// Reason why a command did not do what it was called for.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// Text before the message: errors with excerpts of a manifest, or errors that were found before this one.
    before: Vec<ErrorText>,
    /// Empty if the text before says everything.
    message: String,
    /// Causes, or lines that belong to the message.
    details: Vec<String>,
    hints: Vec<String>,
    /// What the text before says, for programs.
    findings: Box<[Finding]>,
    code: ExitCode,
}

/// Part of the text of an error.
#[derive(Clone, Debug)]
pub(crate) enum ErrorText {
    /// Text whose lines have to stay as they are, such as excerpts of a manifest.
    Excerpts(String),
    /// Lines of words, which may be broken.
    Words(String),
}

impl CommandError {
    /// Creates an error before anything was run.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let (before, message) = (Vec::new(), message.into());
        let (details, hints, findings) = (Vec::new(), Vec::new(), Box::default());
        Self { before, message, details, hints, findings, code: ExitCode::NothingRun }
    }

    /// Creates an error in the use of the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(message).with_code(ExitCode::Usage)
    }

    /// Creates an error of a variable whose value is not one of its option.
    pub(crate) fn variable(name: &str, reason: &str) -> Self {
        Self::usage(format!("{name} can't be used")).caused_by(&reason)
    }

    /// Creates an error with the message and the causes of another one.
    pub(crate) fn of(error: &dyn Error) -> Self {
        causes(error).iter().fold(Self::new(error.to_string()), Self::caused_by)
    }

    /// Creates an error of the set-up of ccm itself.
    pub(crate) fn setup(error: &dyn Error) -> Self {
        causes(error).iter().fold(Self::new("ccm can't start a run").caused_by(&error), Self::caused_by)
    }

    /// Creates an error of errors with a location.
    pub(crate) fn located(findings: &Findings) -> Self {
        let text = diagnostics::text(findings, diagnostics::terminal_width());
        let before = vec![ErrorText::Excerpts(text)];
        Self { before, findings: Finding::of_all(findings).into(), ..Self::new("") }
    }

    /// Creates an error of a signal before anything was run. Nothing else stops ccm at that time.
    pub(crate) fn stopped(cause: &StopCause, what: &str) -> Self {
        let StopCause::Signal { name, number } = cause else { return Self::new("") };
        Self::new(format!("{name} ended {what}; nothing was run")).with_code(signal_code(*number))
    }

    /// Creates an error of several ones, with the exit code of the last.
    pub(crate) fn of_several(mut errors: Vec<Self>) -> Self {
        let last = errors.pop().unwrap_or_else(|| Self::new(""));
        let findings = last.diagnostics().into();
        Self { findings, ..last }.after(&errors)
    }

    /// Sets the message of located errors.
    pub(crate) fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// Adds to the message what the error leads to.
    pub(crate) fn therefore(mut self, consequence: &str) -> Self {
        self.message += &format!("; {consequence}");
        self
    }

    pub(crate) fn caused_by(mut self, cause: &impl ToString) -> Self {
        self.details.push(format!("caused by: {}", cause.to_string()));
        self
    }

    /// Adds lines to the message, which is complete.
    pub(crate) fn with_list(mut self, list: Vec<String>) -> Self {
        self.message += if list.is_empty() { "" } else { ":" };
        self.details.extend(list);
        self
    }

    /// Sets what the message and its list say, for programs.
    pub(crate) fn with_findings(self, findings: Vec<Finding>) -> Self {
        Self { findings: findings.into(), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.hints([hint])
    }

    pub(crate) fn hints(mut self, hints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
        self
    }

    pub(crate) fn with_code(self, code: ExitCode) -> Self {
        Self { code, ..self }
    }

    /// Adds errors that were found before.
    pub(crate) fn after(mut self, earlier: &[Self]) -> Self {
        let texts: Vec<ErrorText> = earlier.iter().flat_map(Self::parts).collect();
        let findings = earlier.iter().flat_map(Self::diagnostics).chain(self.findings).collect();
        self.before.splice(0..0, texts);
        Self { findings, ..self }
    }

    /// Returns the errors that the text before describes, or else this error.
    fn diagnostics(&self) -> Vec<Finding> {
        if !self.findings.is_empty() || self.message.is_empty() {
            return self.findings.to_vec();
        }
        let details = self.details.iter().map(|detail| format!("\n{detail}"));
        let message = details.fold(self.message.clone(), |message, detail| message + &detail);
        vec![Finding::of_command(message, self.hints.clone())]
    }

    /// Returns the error for programs.
    pub(crate) fn document(&self) -> ErrorDocument {
        let hints = if self.findings.is_empty() { Vec::new() } else { self.hints.clone() };
        // The list behind the message is that of the findings.
        let message = self.message.strip_suffix(':').unwrap_or(&self.message);
        ErrorDocument::new(message, self.code.number(), hints, self.diagnostics())
    }

    /// Returns the exit code.
    pub(crate) fn code(&self) -> ExitCode {
        self.code
    }

    /// Returns the text for standard error: the message, its causes, then hints.
    pub(crate) fn text(&self) -> String {
        let text_of = |part: ErrorText| match part {
            ErrorText::Excerpts(text) | ErrorText::Words(text) => text,
        };
        self.parts().into_iter().map(text_of).collect()
    }

    /// Returns the parts of the text, in order.
    pub(crate) fn parts(&self) -> Vec<ErrorText> {
        let mut parts = self.before.clone();
        parts.push(ErrorText::Words(self.words()));
        parts
    }

    /// Returns the text behind the text before.
    fn words(&self) -> String {
        let mut text = String::new();
        let mut line = |start: &str, line: &str| text += &format!("{start}{}\n", escape_control(line));
        if !self.message.is_empty() {
            line("error: ", &self.message);
        }
        self.details.iter().for_each(|detail| line("  ", detail));
        self.hints.iter().for_each(|hint| line("hint: ", hint));
        text
    }
}

/// An error of the system that no command expects.
impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::setup(&error)
    }
}

/// An error of the command line, as clap words it.
impl From<clap::Error> for CommandError {
    fn from(error: clap::Error) -> Self {
        // A hint has one name in all of ccm. The label is told by its style, so that no word of the caller is changed.
        let style = *Styles::default().get_valid();
        let label = |word: &str| format!("{style}{word}:{style:#}");
        let text = error.render().ansi().to_string().replace(&label("tip"), &label("hint"));
        Self { before: vec![ErrorText::Excerpts(text)], ..Self::usage("") }
    }
}

impl From<ManifestErrors> for CommandError {
    fn from(errors: ManifestErrors) -> Self {
        Self::located(&errors)
    }
}

/// Converts errors that are read by reference elsewhere.
macro_rules! convert_owned {
    ($($error:ty),+) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::from(&error)
            }
        })+
    };
}
convert_owned!(ApprovalsError, ApproveError, InputError, PolicyError, SignError, TextError);

/// Returns the exit code of a process that a signal ended.
pub(crate) fn signal_code(number: i32) -> ExitCode {
    ExitCode::Signal(u8::try_from(number).unwrap_or_default())
}

/// Returns the causes of an error, the nearest first.
pub(crate) fn causes(error: &dyn Error) -> Vec<String> {
    std::iter::successors(error.source(), |cause| (*cause).source()).map(ToString::to_string).collect()
}
