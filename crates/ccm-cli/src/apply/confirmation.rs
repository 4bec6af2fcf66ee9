//! `ccm apply --confirm`: a question before the changes.

use ccm_runtime::Canceller;
use ccm_runtime::process::{ask, can_ask, is_yes};

use crate::arguments::{ApplyArguments, ReportFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};

const QUESTION: &str = "Apply these changes? [y/N] ";

/// Refuses `--confirm` where nobody can answer.
pub(super) fn refuse_without_person(arguments: &ApplyArguments) -> CommandResult<()> {
    let message = if arguments.run.output.format != ReportFormat::Text {
        "--confirm needs the report as text"
    } else if arguments.manifests.iter().any(|path| path.as_os_str() == "-") {
        "--confirm reads the answer from standard input, which `-` reads the manifest from"
    } else if !can_ask() {
        "--confirm needs a terminal for its question"
    } else {
        return Ok(());
    };
    let hint = "use `--noop` to show what would change, and apply the manifest without `--confirm`";
    Err(CommandError::usage(message).therefore("nothing was run").hint(hint))
}

/// Asks whether to apply the changes that the report has shown.
pub(super) async fn is_confirmed(console: &Console, canceller: &Canceller) -> CommandResult<bool> {
    let answer = tokio::select! {
        biased;
        cause = canceller.stopped() => {
            // The cursor stands behind the question.
            console.write("\n");
            return Err(CommandError::stopped(&cause, "ccm"));
        }
        answer = ask(QUESTION) => answer,
    };
    let answer = answer
        .map_err(|error| CommandError::new("the answer can't be read; nothing was run").caused_by(&error))?;
    if !is_yes(&answer) {
        if !answer.ends_with('\n') {
            console.write("\n");
        }
        console.note("nothing was run");
    }
    Ok(is_yes(&answer))
}
