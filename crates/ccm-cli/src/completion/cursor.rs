//! The place of the cursor in a command line, from the definition of the command line.

use clap::{Arg, Command};

/// Name of the command that shows the help of another one.
pub(super) const HELP: &str = "help";

/// Place of the cursor.
pub(super) struct LineCursor<'c> {
    /// The command that the words before the cursor name.
    pub(super) command: &'c Command,
    /// Arguments before the cursor, each with its value if it has one.
    pub(super) given: Vec<(&'c Arg, Option<String>)>,
    /// The command is one whose help is asked for.
    pub(super) is_of_help: bool,
    /// What is completed.
    pub(super) expected: Expected<'c>,
}

/// What may stand at the cursor.
pub(super) enum Expected<'c> {
    /// An option.
    Option,
    /// Value of an option. The prefix is the option itself, if the word begins with it: `--output=`.
    Value { argument: &'c Arg, prefix: String },
    /// A command, or the next argument. Neither, if there are too many words.
    Word { has_commands: bool, argument: Option<&'c Arg> },
}

impl<'c> LineCursor<'c> {
    /// Follows the words before the cursor. The definition has to be built.
    pub(super) fn of(root: &'c Command, before: &[String], current: &str) -> Self {
        let mut state = CursorState {
            command: root,
            is_of_help: false,
            given: Vec::new(),
            position: 0,
            pending: None,
            only_words: false,
        };
        for word in before {
            state.step(word);
        }
        let expected = state.expected(current);
        Self { command: state.command, is_of_help: state.is_of_help, given: state.given, expected }
    }

    /// Returns the values of an argument before the cursor.
    pub(super) fn values(&self, id: &str) -> impl Iterator<Item = &str> {
        let of_argument = self.given.iter().filter(move |(argument, _)| argument.get_id().as_str() == id);
        of_argument.filter_map(|(_, value)| value.as_deref())
    }

    /// Returns `true` if an argument stands before the cursor.
    pub(super) fn has(&self, argument: &Arg) -> bool {
        self.given.iter().any(|(given, _)| given.get_id() == argument.get_id())
    }
}

struct CursorState<'c> {
    command: &'c Command,
    is_of_help: bool,
    given: Vec<(&'c Arg, Option<String>)>,
    /// Number of arguments without an option.
    position: usize,
    /// Option whose value comes next, with the number of its values so far.
    pending: Option<(&'c Arg, usize)>,
    /// `--` was given.
    only_words: bool,
}

impl<'c> CursorState<'c> {
    fn step(&mut self, word: &str) {
        if let Some((option, count)) = self.pending.take() {
            let (min, max) = range(option);
            if count < min || !word.starts_with('-') {
                self.given.push((option, Some(word.to_owned())));
                self.pending = (count + 1 < max).then_some((option, count + 1));
                return;
            }
        }
        // The command `help` has no commands below it, but names those beside it.
        let is_help =
            word == HELP && self.position == 0 && !self.only_words && self.command.has_subcommands();
        if self.is_of_help || is_help {
            self.is_of_help = true;
            match self.command.find_subcommand(word).filter(|_| word != HELP) {
                Some(command) => self.command = command,
                None => self.position += usize::from(word != HELP),
            }
            return;
        }
        if !self.only_words {
            if word == "--" {
                self.only_words = true;
                return;
            }
            if let Some(option) = word.strip_prefix("--") {
                return self.step_long(option);
            }
            if let Some(flags) = word.strip_prefix('-').filter(|flags| !flags.is_empty()) {
                return self.step_short(flags);
            }
            if self.position == 0
                && let Some(command) = self.command.find_subcommand(word)
            {
                self.command = command;
                return;
            }
        }
        if let Some(argument) = self.positional() {
            self.given.push((argument, Some(word.to_owned())));
        }
        self.position += 1;
    }

    fn step_long(&mut self, text: &str) {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let Some(option) = long(self.command, name) else { return };
        self.add(option, value);
    }

    /// Follows a group of short options, the last of which may have a value.
    fn step_short(&mut self, flags: &str) {
        let mut rest = flags.chars();
        while let Some(flag) = rest.next() {
            let is_flag = |argument: &&Arg| argument.get_short() == Some(flag);
            let Some(option) = self.command.get_arguments().find(is_flag) else { return };
            let value = Some(rest.as_str().trim_start_matches('=')).filter(|value| !value.is_empty());
            if option.get_action().takes_values() {
                return self.add(option, value);
            }
            self.add(option, None);
        }
    }

    fn add(&mut self, option: &'c Arg, value: Option<&str>) {
        self.given.push((option, value.map(str::to_owned)));
        self.pending = (value.is_none() && option.get_action().takes_values()).then_some((option, 0));
    }

    /// Returns the argument at the next position. The last one may take several words.
    fn positional(&self) -> Option<&'c Arg> {
        let mut positionals = self.command.get_positionals();
        let last = self.command.get_positionals().last();
        positionals.nth(self.position).or_else(|| last.filter(|last| range(last).1 > 1))
    }

    fn expected(&self, current: &str) -> Expected<'c> {
        if let Some((argument, count)) = self.pending
            && (count < range(argument).0 || !current.starts_with('-'))
        {
            return Expected::Value { argument, prefix: String::new() };
        }
        if self.is_of_help {
            let has_commands = self.position == 0 && self.command.has_subcommands();
            return Expected::Word { has_commands, argument: None };
        }
        if !self.only_words && current.starts_with('-') {
            let Some((option, _)) = current.split_once('=') else { return Expected::Option };
            let found = option.strip_prefix("--").and_then(|name| long(self.command, name));
            return match found.filter(|found| found.get_action().takes_values()) {
                Some(argument) => Expected::Value { argument, prefix: format!("{option}=") },
                None => Expected::Word { has_commands: false, argument: None },
            };
        }
        let has_commands = self.position == 0 && !self.only_words && self.command.has_subcommands();
        Expected::Word { has_commands, argument: self.positional() }
    }
}

fn long<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|argument| {
        let has_alias = || argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&name));
        argument.get_long() == Some(name) || has_alias()
    })
}

/// Returns the minimum and maximum number of values.
fn range(argument: &Arg) -> (usize, usize) {
    argument.get_num_args().map_or((1, 1), |range| (range.min_values(), range.max_values()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::whole_command;

    /// Describes the cursor at the end of a line: the command, the given arguments and what is expected.
    fn cursor(line: &str) -> String {
        let root = whole_command();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (current, before) = words.split_last().expect("a word");
        let cursor = LineCursor::of(&root, before, current);
        let given = cursor.given.iter().map(|(argument, value)| match value {
            Some(value) => format!(" {}={value}", argument.get_id()),
            None => format!(" {}", argument.get_id()),
        });
        let expected = match cursor.expected {
            Expected::Option => "option".to_owned(),
            Expected::Value { argument, prefix } => format!("value {prefix}{}", argument.get_id()),
            Expected::Word { has_commands, argument } => {
                let argument = argument.map_or("nothing", |argument| argument.get_id().as_str());
                format!("{}{argument}", if has_commands { "command or " } else { "" })
            }
        };
        format!("{}{}: {expected}", cursor.command.get_name(), given.collect::<String>())
    }

    #[test]
    fn the_place_of_the_cursor_is_found() {
        for (line, expected) in [
            ("", "ccm: command or nothing"),
            ("app", "ccm: command or nothing"),
            ("-v ", "ccm verbose: command or nothing"),
            ("graph ", "graph: path"),
            ("graph s.yaml ", "graph path=s.yaml: nothing"),
            ("apply a b ", "apply manifests=a manifests=b: manifests"),
            ("apply s.yaml --", "apply manifests=s.yaml: option"),
            ("apply -", "apply: option"),
            ("apply -nv --only ", "apply noop verbose only: value only"),
            ("apply --only --", "apply only: value only"),
            ("apply --only=f#a --data x=y ", "apply only=f#a data data=x=y: manifests"),
            ("apply --output=", "apply: value --output=output"),
            ("apply --output=j", "apply: value --output=output"),
            ("apply --noop=", "apply: nothing"),
            ("apply --dry-run ", "apply noop: manifests"),
            ("apply --no-such ", "apply: manifests"),
            ("apply -- -n ", "apply manifests=-n: manifests"),
            ("validate a b ", "validate manifests=a manifests=b: manifests"),
            ("validate --matrix a b ", "validate matrix matrix=a matrix=b: value matrix"),
            ("validate --matrix a --st", "validate matrix matrix=a: option"),
            ("validate --matrix a --strict ", "validate matrix matrix=a strict: manifests"),
            ("history last ", "history run=last: in_run"),
            ("history -n5 ", "history limit=5: run"),
            ("history -n ", "history limit: value limit"),
            ("data parse ", "parse: file"),
            ("backup restore --version 1 ", "restore version version=1: path"),
            ("help ", "ccm: command or nothing"),
            ("help backup ", "backup: command or nothing"),
            ("help backup list ", "list: nothing"),
            ("help apply -", "apply: nothing"),
            ("help no-such ", "ccm: nothing"),
            ("help tool process ", "process: command or nothing"),
            ("tool help process ", "process: command or nothing"),
            ("graph help ", "graph path=help: nothing"),
            ("no-such ", "ccm: nothing"),
        ] {
            assert_eq!(cursor(line), expected, "{line}");
        }
    }
}
