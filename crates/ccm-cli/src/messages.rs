//! What ccm says beside a run's report: to standard error, in one form.

use std::io::Write as _;

use anstream::stderr;
use ccm_model::escape_control;

use crate::secrets::secrets;

/// Says why nothing could be done: the error, what caused it, then advice.
pub(crate) fn error(message: &str, causes: &[String], hints: &[String]) {
    let mut text = format!("error: {}\n", escape_control(message));
    for cause in causes {
        text += &format!("  caused by: {}\n", escape_control(cause));
    }
    for hint in hints {
        text += &format!("hint: {}\n", escape_control(hint));
    }
    to_stderr(&text);
}

/// Says an error and what follows from it, then everything that caused it, then advice.
pub(crate) fn from_error(error: &dyn std::error::Error, consequence: &str, hints: &[String]) {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let message = if consequence.is_empty() { error.to_string() } else { format!("{error}; {consequence}") };
    self::error(&message, &causes.map(ToString::to_string).collect::<Vec<_>>(), hints);
}

/// Says what deserves attention, with everything that caused it.
pub(crate) fn warning_of(error: &dyn std::error::Error) {
    let mut text = format!("warning: {}\n", escape_control(&error.to_string()));
    for cause in std::iter::successors(error.source(), |cause| cause.source()) {
        text += &format!("  caused by: {}\n", escape_control(&cause.to_string()));
    }
    to_stderr(&text);
}

/// Says what deserves attention and has no cause.
pub(crate) fn warning(message: &str) {
    to_stderr(&format!("warning: {}\n", escape_control(message)));
}

/// Says what is no error but may explain what happens.
pub(crate) fn note(message: &str) {
    to_stderr(&format!("note: {}\n", escape_control(message)));
}

/// Says it to standard error, without secrets; if that is closed, there is nobody left to tell.
pub(crate) fn to_stderr(text: &str) {
    let mut stderr = stderr().lock();
    let _ = stderr.write_all(secrets().redact(text).as_bytes());
    let _ = stderr.flush();
}
