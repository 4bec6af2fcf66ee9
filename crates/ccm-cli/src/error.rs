//! Errors of commands: one type, which is printed in one place.

use std::error::Error;
use std::io;

use ccm_model::{StopCause, escape_control};
use ccm_runtime::policy::PolicyError;
use ccm_runtime::{
    ApprovalsError, ApproveError, ExitCode, Findings, InputError, ManifestErrors, SignError, TextError,
};

use crate::diagnostics;

/// Exit code of a command, or another result, or the reason why there is none.
pub(crate) type CommandResult<T = ExitCode> = Result<T, CommandError>;

/// Reason why a command did not do what it was called for.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// Errors in a manifest or another text, with excerpts.
    located: String,
    /// Empty if everything is said by the located errors.
    message: String,
    causes: Vec<String>,
    /// Lines that belong to the message.
    list: Vec<String>,
    hints: Vec<String>,
    code: ExitCode,
    /// Errors that were found before this one.
    earlier: Vec<Self>,
}

impl CommandError {
    /// Creates an error before anything was run.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            located: String::new(),
            message: message.into(),
            causes: Vec::new(),
            list: Vec::new(),
            hints: Vec::new(),
            code: ExitCode::NothingRun,
            earlier: Vec::new(),
        }
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
        Self { causes: causes(error), ..Self::new(error.to_string()) }
    }

    /// Creates an error of the set-up of ccm itself.
    pub(crate) fn setup(error: &dyn Error) -> Self {
        let causes = std::iter::once(error.to_string()).chain(causes(error)).collect();
        Self { causes, ..Self::new("ccm can't start a run") }
    }

    /// Creates an error of errors with a location.
    pub(crate) fn located(findings: &Findings) -> Self {
        Self { located: diagnostics::text(findings), ..Self::new("") }
    }

    /// Creates an error of a signal before anything was run. Nothing else stops ccm at that time.
    pub(crate) fn stopped(cause: &StopCause, what: &str) -> Self {
        let StopCause::Signal { name, number } = cause else { return Self::new("") };
        Self::new(format!("{name} ended {what}; nothing was run")).with_code(signal_code(*number))
    }

    /// Creates an error of several ones, with the exit code of the last.
    pub(crate) fn of_several(mut errors: Vec<Self>) -> Self {
        let last = errors.pop().unwrap_or_else(|| Self::new(""));
        last.after(errors)
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
        self.causes.push(cause.to_string());
        self
    }

    pub(crate) fn with_list(self, list: Vec<String>) -> Self {
        Self { list, ..self }
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

    pub(crate) fn after(self, earlier: Vec<Self>) -> Self {
        Self { earlier, ..self }
    }

    /// Returns the exit code.
    pub(crate) fn code(&self) -> ExitCode {
        self.code
    }

    /// Returns the text for standard error: the message, its causes, then hints.
    pub(crate) fn text(&self) -> String {
        let mut text: String = self.earlier.iter().map(Self::text).collect();
        text += &self.located;
        let mut line = |before: &str, line: &str, end: &str| {
            text += &format!("{before}{}{end}\n", escape_control(line));
        };
        if !self.message.is_empty() {
            line("error: ", &self.message, if self.list.is_empty() { "" } else { ":" });
        }
        self.list.iter().for_each(|listed| line("  ", listed, ""));
        self.causes.iter().for_each(|cause| line("  caused by: ", cause, ""));
        self.hints.iter().for_each(|hint| line("hint: ", hint, ""));
        text
    }
}

/// An error of the system that no command expects.
impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::setup(&error)
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
