//! Names of files that a program prints with a NUL behind each, so that no blank or line end takes one apart.

use std::borrow::Cow;
use std::ops::Range;

use ccm_shell::{ShellCommand, ShellWord};

use super::find;
use super::printed_numbers::is_plain;

/// Parts of an expression of `find` that print other texts, or run something that may.
const OTHER_OUTPUT: [&str; 9] =
    ["-print", "-printf", "-fprint", "-ls", "-fls", "-exec", "-ok", "-files0-from", "-fprintf"];

/// Returns the word of the names that a command prints, by its range; `None` if they may lie elsewhere or in parts.
pub(super) fn below(range: &Range<usize>, commands: &[ShellCommand]) -> Option<ShellWord> {
    let [command] = commands.get(range.clone())? else { return None };
    let texts: Vec<Cow<'_, str>> = command.words.iter().map(ShellWord::text).collect::<Option<_>>()?;
    let (name, arguments) = texts.split_first()?;
    let arguments: Vec<&str> = arguments.iter().map(|text| &**text).collect();
    let prints_names = is_plain(command)
        && match &**name {
            "find" => prints_whole_names_of_find(&arguments),
            "git" => prints_whole_names_of_git(&arguments),
            _ => false,
        };
    match &**name {
        _ if !prints_names => None,
        "find" => find::found_below(range, commands),
        _ => Some(find::below(&ShellWord::known(".", command.words.first()?.span))),
    }
}

fn prints_whole_names_of_find(arguments: &[&str]) -> bool {
    let prints_other = |argument: &&str| {
        OTHER_OUTPUT.iter().any(|name| argument.starts_with(name) && *argument != "-print0")
    };
    arguments.last() == Some(&"-print0") && !arguments.iter().any(prints_other)
}

/// Returns `true` for `git ls-files -z` of what lies below the working directory.
fn prints_whole_names_of_git(arguments: &[&str]) -> bool {
    const OPTIONS: [&str; 10] =
        ["--", "-z", "-c", "-m", "-o", "-d", "--cached", "--modified", "--others", "--exclude-standard"];
    let Some(("ls-files", rest)) = arguments.split_first().map(|(first, rest)| (*first, rest)) else {
        return false;
    };
    let is_below = |argument: &str| {
        !argument.starts_with(['-', ':', '/']) && argument.split('/').all(|part| part != "..")
    };
    rest.contains(&"-z") && rest.iter().all(|argument| OPTIONS.contains(argument) || is_below(argument))
}
