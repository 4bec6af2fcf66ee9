//! Debug messages about commands. Standard input and values of the environment are in none of them.

use std::fmt;

use ccm_model::{display_duration, quote_words};
use ccm_redaction::{REDACTED, Secrets};
use tracing::debug;

use super::{Command, Exit, Finished, StartError};

/// Maximum number of characters of a command line in a message.
const MAX_COMMAND_LINE: usize = 2000;

/// Logs that a command is about to start.
pub fn log_command_start(command: &Command, secrets: &Secrets) {
    let cwd = command.cwd.display();
    let cwd = unless_sensitive(command, &cwd);
    debug!(argv = %RedactedCommandLine { command, secrets }, %cwd, "starting command");
}

/// Logs the end of a command, or the reason why it did not start.
pub fn log_command_end(command: &Command, result: &Result<Finished, StartError>) {
    match result {
        Ok(Finished { exit, duration, .. }) => {
            debug!(exit = %ExitText(exit), duration = %display_duration(*duration), "command ended");
        }
        Err(error) => {
            debug!(error = %unless_sensitive(command, error), "command failed to start");
        }
    }
}

/// Returns a text about a command, unless the command is sensitive.
fn unless_sensitive<'a>(command: &Command, text: &'a dyn fmt::Display) -> &'a dyn fmt::Display {
    if command.sensitive { &REDACTED } else { text }
}

/// The program and the arguments of a command, without secrets and cut to a length that can be read.
struct RedactedCommandLine<'a> {
    command: &'a Command,
    secrets: &'a Secrets,
}

impl fmt::Display for RedactedCommandLine<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, secrets } = self;
        if command.sensitive {
            return formatter.write_str(REDACTED);
        }
        let words = [command.program.as_os_str()].into_iter().chain(command.args.iter().map(AsRef::as_ref));
        let words: Vec<String> =
            words.map(|word| secrets.redact(&word.to_string_lossy()).into_owned()).collect();
        let text = quote_words(words.iter().map(String::as_str));
        // A secret may also be spread over several words, and a cut must not leave a part of one.
        let mut text = secrets.redact(&text).into_owned();
        if let Some((end, _)) = text.char_indices().nth(MAX_COMMAND_LINE) {
            text.truncate(end);
            text.push('…');
        }
        formatter.write_str(&text)
    }
}

struct ExitText<'a>(&'a Exit);

impl fmt::Display for ExitText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Exit::Code(code) => write!(formatter, "{code}"),
            Exit::Signal { name, .. } => formatter.write_str(name),
            Exit::TimedOut { after } => write!(formatter, "timed out after {}", display_duration(*after)),
            Exit::Cancelled => formatter.write_str("cancelled"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(args: &[&str], sensitive: bool, secrets: &[&str]) -> String {
        let all = Secrets::new();
        all.add(secrets.iter().copied());
        let args = args.iter().map(Into::into).collect();
        let command = Command { args, sensitive, ..Command::new("/bin/tool") };
        RedactedCommandLine { command: &command, secrets: &all }.to_string()
    }

    #[test]
    fn a_command_line_is_shown_without_secrets() {
        for (args, secrets, expected) in [
            (&["-a", "b c"][..], &[][..], "/bin/tool -a 'b c'"),
            (&["--password=it's hush"], &["it's hush"], "/bin/tool '--password=[redacted]'"),
            (&["two", "words", "three"], &["two words"], "/bin/tool [redacted] three"),
        ] {
            assert_eq!(shown(args, false, secrets), expected);
        }
    }

    #[test]
    fn a_sensitive_command_is_not_shown() {
        assert_eq!(shown(&["-a", "b"], true, &[]), "[redacted]");
    }

    #[test]
    fn a_long_command_line_is_cut_behind_its_redaction() {
        let long = "x".repeat(MAX_COMMAND_LINE - "/bin/tool ".len() - 2);
        let text = shown(&[&format!("{long}hush-hush")], false, &["hush-hush"]);
        assert!(!text.contains("hu"), "{text}");
        assert!(text.ends_with('…') && text.chars().count() == MAX_COMMAND_LINE + 1, "{text}");
    }
}
