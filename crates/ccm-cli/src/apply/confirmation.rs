//! `ccm apply --confirm`: a question before the changes.

use ccm_runtime::process::{ask, can_ask, is_yes};
use ccm_runtime::{Canceller, ExitCode, StopCause};

use crate::arguments::{ApplyArguments, ReportFormat};
use crate::console::Console;
use crate::reactor::signal_code;

const QUESTION: &str = "Apply these changes? [y/N] ";

/// Refuses `--confirm` where nobody can answer.
pub(super) fn refuse_without_person(arguments: &ApplyArguments, console: &Console) -> Result<(), ExitCode> {
    let message = if arguments.output != ReportFormat::Text {
        "--confirm needs the report as text"
    } else if arguments.manifests.iter().any(|path| path.as_os_str() == "-") {
        "--confirm reads the answer from standard input, which `-` reads the manifest from"
    } else if !can_ask() {
        "--confirm needs a terminal for its question"
    } else {
        return Ok(());
    };
    let hint = "use `--noop` to show what would change, and apply the manifest without `--confirm`";
    console.error(&format!("{message}; nothing was run"), &[], &[hint.to_owned()]);
    Err(ExitCode::Usage)
}

/// Asks whether to apply the changes that the report has shown. Returns the exit code if not.
pub(super) async fn confirmed(console: &Console, canceller: &Canceller) -> Result<(), ExitCode> {
    let answer = tokio::select! {
        biased;
        cause = canceller.stopped() => {
            // The cursor stands behind the question.
            console.write("\n");
            return Err(interrupted(console, &cause));
        }
        answer = ask(QUESTION) => answer,
    };
    match answer {
        Ok(answer) if is_yes(&answer) => Ok(()),
        Ok(answer) => {
            if !answer.ends_with('\n') {
                console.write("\n");
            }
            console.note("nothing was run");
            Err(ExitCode::NothingRun)
        }
        Err(error) => {
            console.error("the answer can't be read; nothing was run", &[error.to_string()], &[]);
            Err(ExitCode::NothingRun)
        }
    }
}

/// Reports what ended ccm at the question.
fn interrupted(console: &Console, cause: &StopCause) -> ExitCode {
    let StopCause::Signal { name, number } = cause else { return ExitCode::NothingRun };
    console.error(&format!("{name} ended ccm; nothing was run"), &[], &[]);
    signal_code(*number)
}
