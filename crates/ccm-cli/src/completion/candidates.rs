//! Words that may stand at the cursor, from the definition of the command line.

use clap::builder::ValueHint;
use clap::{Arg, ArgAction, Command};

use super::cursor::{Expected, HELP, LineCursor};

/// Words or files that may stand at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Candidates {
    /// Words, in the order to show them.
    Words(Vec<Candidate>),
    /// Paths of files, which the shell completes.
    Files,
    /// Paths of directories, which the shell completes.
    Directories,
}

/// A word with its description, which may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) word: String,
    pub(super) description: String,
}

impl Candidate {
    pub(super) fn new(word: impl Into<String>, description: impl Into<String>) -> Self {
        Self { word: word.into(), description: description.into() }
    }
}

impl Candidates {
    /// Returns the candidates. `values` returns those of an argument whose values the definition does not have, for
    /// the beginning of the value.
    pub(super) fn at(
        cursor: &LineCursor<'_>,
        current: &str,
        values: impl Fn(&Arg, &str) -> Option<Vec<Candidate>>,
    ) -> Self {
        match &cursor.expected {
            Expected::Option => Self::Words(options(cursor, current == "-")),
            Expected::Value { argument, prefix } => {
                let typed = current.strip_prefix(&**prefix).unwrap_or_default();
                let mut candidates = of_argument(argument, typed, values);
                if let Self::Words(words) = &mut candidates {
                    for candidate in words {
                        candidate.word.insert_str(0, prefix);
                    }
                }
                candidates
            }
            Expected::Word { has_commands, argument } => {
                let mut words = if *has_commands { commands(cursor) } else { Vec::new() };
                match argument.map(|argument| of_argument(argument, current, values)) {
                    Some(Self::Words(found)) => words.extend(found),
                    Some(files) if words.is_empty() => return files,
                    // With nothing else to write, the options are shown without a dash.
                    None if current.is_empty() && !cursor.is_of_help && !cursor.command.has_subcommands() => {
                        words = options(cursor, false);
                    }
                    _ => {}
                }
                Self::Words(words)
            }
        }
    }
}

fn commands(cursor: &LineCursor<'_>) -> Vec<Candidate> {
    let shown = cursor.command.get_subcommands().filter(|command| !command.is_hide_set());
    let shown = shown.filter(|command| !cursor.is_of_help || command.get_name() != HELP);
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let candidates = shown.flat_map(|command| {
        let names = std::iter::once(command.get_name()).chain(command.get_visible_aliases());
        names.map(|name| Candidate::new(name, about(command))).collect::<Vec<_>>()
    });
    candidates.collect()
}

/// Returns the options that may still be given.
fn options(cursor: &LineCursor<'_>, with_short: bool) -> Vec<Candidate> {
    let command = cursor.command;
    let conflicts = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|found| found.get_id() == other.get_id())
    };
    let is_possible = |option: &&Arg| {
        let is_repeatable = matches!(option.get_action(), ArgAction::Append | ArgAction::Count);
        let is_given = cursor.has(option) && !is_repeatable;
        let is_excluded =
            || cursor.given.iter().any(|(given, _)| conflicts(option, given) || conflicts(given, option));
        !option.is_positional() && !option.is_hide_set() && !is_given && !is_excluded()
    };
    let mut options: Vec<&Arg> = command.get_arguments().filter(is_possible).collect();
    options.sort_by_key(|option| option.get_display_order());
    let candidates = options.into_iter().flat_map(|option| {
        let short = option.get_short().filter(|_| with_short).map(|short| format!("-{short}"));
        let long = option.get_long().map(|long| format!("--{long}"));
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        long.into_iter().chain(short).map(|name| Candidate::new(name, &*help)).collect::<Vec<_>>()
    });
    candidates.collect()
}

fn of_argument(
    argument: &Arg,
    typed: &str,
    values: impl Fn(&Arg, &str) -> Option<Vec<Candidate>>,
) -> Candidates {
    if let Some(values) = values(argument, typed) {
        return Candidates::Words(values);
    }
    let is_directory = argument.get_value_names().is_some_and(|names| names.iter().any(|name| name == "DIR"));
    match argument.get_value_hint() {
        _ if is_directory => Candidates::Directories,
        ValueHint::DirPath => Candidates::Directories,
        ValueHint::AnyPath | ValueHint::FilePath => Candidates::Files,
        _ => {
            let possible = argument.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
            let help = |value: &clap::builder::PossibleValue| {
                value.get_help().map(ToString::to_string).unwrap_or_default()
            };
            Candidates::Words(possible.map(|value| Candidate::new(value.get_name(), help(&value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::whole_command;

    /// Returns the candidates at the end of a line, without descriptions.
    fn candidates(root: &Command, line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (current, before) = words.split_last().expect("a word");
        let cursor = LineCursor::of(root, before, current);
        match Candidates::at(&cursor, current, |_, _| None) {
            Candidates::Words(words) => {
                words.into_iter().map(|found| found.word).collect::<Vec<_>>().join(" ")
            }
            files => format!("{files:?}"),
        }
    }

    #[test]
    fn candidates_come_from_the_definition() {
        let root = whole_command();
        for (line, expected) in [
            ("backup ", "list restore prune help"),
            ("apply ", "Files"),
            ("apply --output ", "text log jsonl json"),
            ("apply --output=", "--output=text --output=log --output=jsonl --output=json"),
            ("apply --state-dir ", "Directories"),
            ("apply --state-dir=", "Directories"),
            ("apply --events-file ", "Files"),
            ("apply --timeout ", ""),
            ("validate a.yaml ", "Files"),
            ("schema --", "--events --resource --api --output --json --verbose --help"),
            ("schema -", "--events --resource --api --output --json --verbose -v --help -h"),
            ("schema ", "--events --resource --api --output --json --verbose --help"),
            ("schema --events ", "--output --json --verbose --help"),
            ("schema --json --", "--events --resource --api --verbose --help"),
            ("schema x", ""),
            ("ensure service nginx ", "running stopped"),
            ("ensure -n service nginx stopped --on-refresh ", "restart reload reload-or-restart"),
            ("ensure file /x --recurse ", "true false"),
            ("ensure api ", "pipe piped help"),
            ("session ", "new report help"),
            ("no-such ", ""),
            ("backup list x ", "--output --json --verbose --help --state-dir"),
            ("backup list /etc/motd --o", "--output --json --verbose --help --state-dir"),
        ] {
            let found = candidates(&root, line);
            let mut found: Vec<&str> = found.split(' ').collect();
            let mut expected: Vec<&str> = expected.split(' ').collect();
            if line.ends_with('-') || line.starts_with("backup list") || line.starts_with("schema") {
                found.sort_unstable();
                expected.sort_unstable();
            }
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn hidden_commands_and_impossible_options_are_left_out() {
        let root = whole_command();
        let commands = candidates(&root, "");
        assert!(commands.starts_with("apply ensure session validate graph "), "{commands}");
        assert!(commands.contains(" hiera data "), "{commands}");
        assert!(!commands.contains("__"), "{commands}");
        for (line, option, expected) in [
            ("apply --noop --", "--noop", false),
            ("apply --noop --", "--render", false),
            ("apply --render --", "--noop", false),
            ("apply -v --", "--quiet", false),
            ("apply --only a#b --", "--only", true),
            ("apply -v --", "--verbose", true),
            ("apply --", "--dry-run", false),
            ("history --", "--manifest", true),
            ("history last --", "--manifest", false),
        ] {
            let candidates = candidates(&root, line);
            let found = candidates.split(' ').any(|found| found == option);
            assert_eq!(found, expected, "{line} {option}: {candidates}");
        }
    }

    #[test]
    fn every_command_has_candidates_for_its_options() {
        fn check(root: &Command, command: &Command, line: &str) {
            for argument in command.get_arguments().filter_map(Arg::get_long) {
                candidates(root, &format!("{line}--{argument} --"));
                candidates(root, &format!("{line}--{argument} "));
            }
            for child in command.get_subcommands().filter(|child| child.get_name() != "help") {
                check(root, child, &format!("{line}{} ", child.get_name()));
            }
        }
        let root = whole_command();
        check(&root, &root, "");
    }
}
