//! Commands that print a number.

use std::borrow::Cow;
use std::ops::Range;

use ccm_shell::{
    CommandRole, RedirectionOperator, ShellCommand, ShellInput, ShellReading, ShellSearchPath, ShellWord,
};

use super::{Analyser, CommandContext};

impl Analyser<'_> {
    /// Returns `true` if the commands of a text in a range print a number, or nothing: the last one of a pipeline does.
    pub(super) fn prints_number(
        &self,
        range: &Range<usize>,
        reading: &ShellReading,
        context: &CommandContext,
    ) -> bool {
        let Some(last) = range.end.checked_sub(1).filter(|last| range.contains(last)) else { return false };
        let Some(command) = reading.commands.get(last) else { return false };
        // What stands before prints into the pipe.
        let mut at = last;
        while at > range.start {
            match reading.commands.get(at).map(|command| &command.input) {
                Some(ShellInput::Pipe(before)) if before.end == at && before.start >= range.start => {
                    at = before.start;
                }
                _ => return false,
            }
        }
        let texts: Option<Vec<Cow<'_, str>>> = command.words.iter().map(ShellWord::text).collect();
        let Some(texts) = texts else { return false };
        let Some((name, arguments)) = texts.split_first() else { return false };
        let arguments: Vec<&str> = arguments.iter().map(|text| &**text).collect();
        is_plain(command)
            && self.locate(name, context).is_none_or(|location| location.is_trusted)
            && is_number(name, &arguments)
    }
}

/// Returns `true` for a program of the usual search path that only prints what it has to say.
pub(super) fn is_plain(command: &ShellCommand) -> bool {
    let reads = |operator| {
        matches!(
            operator,
            RedirectionOperator::Read | RedirectionOperator::HereDocument | RedirectionOperator::HereString
        )
    };
    command.role == CommandRole::Program
        && *command.search_path == ShellSearchPath::Initial
        && command.assignments.is_empty()
        && command.doubts.is_empty()
        && command.redirections.iter().all(|redirection| reads(redirection.operator))
}

fn is_number(name: &str, arguments: &[&str]) -> bool {
    let is_operand = |argument: &&str| !argument.starts_with('-');
    match (name, arguments) {
        ("nproc", [] | ["--all"])
        | ("wc", ["-l" | "-c" | "-w" | "-m"])
        | ("id", ["-u" | "-g"])
        | ("stat", ["-c", "%s" | "%Y" | "%u" | "%g", _]) => true,
        ("date", [format]) => format.strip_prefix('+').is_some_and(|format| {
            let mut parts = format.split('%');
            let known = |part: &str| part.len() == 1 && "sYmdHMSNju".contains(part);
            parts.next() == Some("") && format.len() > 1 && parts.all(known)
        }),
        ("git", ["rev-list", "--count", revisions @ ..]) => revisions.iter().all(is_operand),
        ("grep", ["-c", pattern, files @ ..]) => {
            is_operand(pattern) && files.len() <= 1 && files.iter().all(is_operand)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_other_texts() {
        for words in [
            "nproc",
            "wc -l",
            "id -u",
            "date +%s",
            "date +%Y%m%d",
            "git rev-list --count HEAD",
            "grep -c x f",
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            assert!(is_number(words[0], &words[1..]), "{words:?}");
        }
        for words in [
            "wc -l f",
            "wc",
            "wc -lc",
            "id",
            "id -un",
            "date",
            "date +%F",
            "date +x%s",
            "date +%s[x]",
            "date -d @x +%s",
            "git rev-list HEAD",
            "git rev-list --count --format=x HEAD",
            "grep -c x f g",
            "grep -rc x",
            "grep -c -r",
            "cat f",
            "echo 1",
            "expr x",
            "stat -c %n f",
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            assert!(!is_number(words[0], &words[1..]), "{words:?}");
        }
    }
}
