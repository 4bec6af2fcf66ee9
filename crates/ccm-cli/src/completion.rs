//! Completion of command lines: scripts for shells, and the hidden command that they call.
//!
//! The scripts only pass words on. What may stand at the cursor comes from the definition of the command line, and
//! from manifests and records. A completion runs no command, writes nothing, and prints no error: if something can't
//! be read, there is nothing to choose from.

mod bash_line;
mod candidates;
mod cursor;
mod values;

use std::path::PathBuf;

use ccm_runtime::process::variable;

use crate::arguments::{CompleteArguments, CompletionShell, CompletionsArguments, whole_command};
use crate::console::Console;
use crate::error::CommandResult;
use bash_line::BashLine;
use candidates::{Candidate, Candidates};
use cursor::LineCursor;
use values::ValueContext;

/// Scripts, each with the name of the file that its shell looks for.
pub const SCRIPTS: [(&str, &str); 3] = [
    ("ccm.bash", include_str!("completion/ccm.bash")),
    ("_ccm", include_str!("completion/ccm.zsh")),
    ("ccm.fish", include_str!("completion/ccm.fish")),
];

/// Prints the script for a shell.
pub(crate) fn print_script(arguments: &CompletionsArguments, console: &Console) -> CommandResult {
    let [(_, bash), (_, zsh), (_, fish)] = SCRIPTS;
    console.print(match arguments.shell {
        CompletionShell::Bash => bash,
        CompletionShell::Zsh => zsh,
        CompletionShell::Fish => fish,
    })
}

/// Prints what may stand at the end of the given words.
pub(crate) fn complete(arguments: &CompleteArguments, console: &Console) -> CommandResult {
    let words: Vec<String> = arguments.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let text = match arguments.shell {
        CompletionShell::Bash => {
            let mut words = words.into_iter();
            let line = BashLine::parse(&words.next().unwrap_or_default(), &words.next().unwrap_or_default());
            let typed = line.words.last().cloned().unwrap_or_default();
            shown(candidates(&line.words), |Candidate { word, description }| {
                let inserted = word.starts_with(&typed).then(|| line.inserted(word)).flatten()?;
                Some(if arguments.describe { format!("{inserted}\t{description}") } else { inserted })
            })
        }
        CompletionShell::Zsh | CompletionShell::Fish => {
            shown(candidates(&words), |Candidate { word, description }| {
                Some(format!("{word}\t{description}"))
            })
        }
    };
    console.print(&text)
}

/// Returns what may stand at the last word.
fn candidates(words: &[String]) -> Candidates {
    let root = whole_command();
    let Some((current, before)) = words.split_last() else { return Candidates::Words(Vec::new()) };
    let cursor = LineCursor::of(&root, before, current);
    let path = |name| variable(name).map(PathBuf::from);
    let context =
        ValueContext { cursor: &cursor, state_directory: path("CCM_STATE_DIR"), home: path("HOME") };
    Candidates::at(&cursor, current, |argument, typed| context.values(argument, typed))
}

/// Returns the output for a script: the kind of the candidates, then a line for each word.
fn shown(candidates: Candidates, line: impl Fn(&Candidate) -> Option<String>) -> String {
    let words = match candidates {
        Candidates::Files => return "files\n".to_owned(),
        Candidates::Directories => return "directories\n".to_owned(),
        Candidates::Words(words) => words,
    };
    let lines = words.iter().filter(|candidate| !candidate.word.contains(char::is_control));
    lines.filter_map(line).fold("words\n".to_owned(), |text, line| text + &line.replace('\n', " ") + "\n")
}
