//! Words whose value is not known, and which a program may therefore take for options.

use std::ops::Range;

use ccm_shell::{CommandRole, ShellCommand, ShellInput, ShellWord, UnknownOrigin, WordPiece};

use super::command_lines::CalledProgram;
use super::shell_words::{FILE_NAMES, TEMPORARY};
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;
use crate::tables::{ArgumentRole, OperandRole, OptionSpec, SpecialRole};
use crate::verdict::{Caller, PolicyVerdict};

/// What the options or operands of a program do at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Reads,
    Writes,
    Runs,
}

impl Analyser<'_> {
    /// Reports a word that may be an option, if an option of the program does more than its operands.
    pub(super) fn possible_options(
        &mut self,
        index: usize,
        name: &str,
        called: &CalledProgram,
        operands: &[OperandRole],
        commands: &[ShellCommand],
    ) {
        let parsed = &called.parsed;
        let end = parsed.before_dashes.unwrap_or(parsed.operands.len());
        let values = parsed.options.iter().filter_map(|option| option.value.as_ref());
        // Behind an operand that ends the options nothing is one.
        let count = if called.stops { end.min(1) } else { end };
        let operand = parsed.operands.iter().take(count).find(|word| may_be_option(word, commands));
        let word = operand.or_else(|| values.clone().find(|word| may_go_on(word, commands)));
        let Some(word) = word else { return };
        let deletes = operands.iter().any(|operand| operand.role == ArgumentRole::Delete);
        let own = operands.iter().map(|operand| reach_of(operand.role)).max().unwrap_or(Reach::Reads);
        let options = called.levels.iter().flat_map(|level| &level.options);
        let reaches_further = options.clone().any(|option| reach_of_option(option) > own)
            || deletes && word.is_many() && options.clone().any(|option| option.has_name("-r"));
        if reaches_further {
            self.possible_option(index, name, word);
        }
    }

    /// Reports the first of some words that may be an option of a program whose options write or run something.
    pub(super) fn first_possible_option<'w>(
        &mut self,
        index: usize,
        name: &str,
        words: impl IntoIterator<Item = &'w ShellWord>,
        commands: &[ShellCommand],
    ) {
        if let Some(word) = words.into_iter().find(|word| may_be_option(word, commands)) {
            self.possible_option(index, name, word);
        }
    }

    fn possible_option(&mut self, index: usize, name: &str, word: &ShellWord) {
        let shown = shell_words::shown(word).shown;
        let what = format!("`{shown}` may be an option of `{name}`, so that its effects are not known");
        self.finding(index, GuardClass::OptionUnknown, what, self.span(index), Some(WayOut::NamePath));
    }
}

/// Returns what the value of a role lets a program do.
fn reach_of(role: ArgumentRole) -> Reach {
    use ArgumentRole as R;
    match role {
        R::Text
        | R::Read
        | R::Directory
        | R::MaybePath
        | R::Number
        | R::Object
        | R::Unit
        | R::Host
        | R::Url
        | R::Process
        | R::Date
        | R::Getent
        | R::LessOperand
        | R::OpensslFile
        | R::CopyFrom
        | R::ModeOf
        | R::Mode
        | R::Special(
            SpecialRole::CompilerInput
            | SpecialRole::Manifest
            | SpecialRole::HostOrText
            | SpecialRole::Proxy
            | SpecialRole::FilesFrom
            | SpecialRole::Cookie
            | SpecialRole::XPath
            | SpecialRole::Sysctl,
        ) => Reach::Reads,
        R::Write
        | R::Delete
        | R::Move
        | R::CopyTo
        | R::ExtractDirectory
        | R::Archive
        | R::Template
        | R::WorkTree
        | R::Data
        | R::Upload
        | R::HostName => Reach::Writes,
        _ => Reach::Runs,
    }
}

fn reach_of_option(option: &OptionSpec) -> Reach {
    let asks = option.does.iter().any(|class| class.default_verdict(Caller::Tool) > PolicyVerdict::Allow);
    if asks { Reach::Runs } else { reach_of(option.role) }
}

/// Returns `true` if a word may begin with a dash, or become several words of which one does.
pub(super) fn may_be_option(word: &ShellWord, commands: &[ShellCommand]) -> bool {
    let mut pieces = word.pieces.iter();
    let is_empty = |piece: &&WordPiece| matches!(piece, WordPiece::Text { text, .. } if text.is_empty());
    let begins = match pieces.find(|piece| !is_empty(piece)) {
        Some(WordPiece::Unknown { origin, .. }) => may_begin_with_dash(origin, commands),
        _ => false,
    };
    begins || may_go_on(word, commands)
}

/// Returns `true` if a word may become several words of which a later one is an option.
pub(super) fn may_go_on(word: &ShellWord, commands: &[ShellCommand]) -> bool {
    word.pieces.iter().any(|piece| match piece {
        WordPiece::Unknown { origin, is_many: true } => may_begin_with_dash(origin, commands),
        _ => false,
    })
}

fn may_begin_with_dash(origin: &UnknownOrigin, commands: &[ShellCommand]) -> bool {
    match origin {
        UnknownOrigin::Number | UnknownOrigin::Home(_) | UnknownOrigin::Process(_) => false,
        UnknownOrigin::Variable(name) => {
            !matches!(&**name, "?" | "$" | "#" | "!" | FILE_NAMES) && !name.starts_with(TEMPORARY)
        }
        UnknownOrigin::Listed { words, .. } => {
            words.iter().any(|word| word.known_prefix().starts_with('-') || may_be_option(word, commands))
        }
        UnknownOrigin::Output(range) | UnknownOrigin::Stored { range, .. } => {
            !print_no_option(range, commands)
        }
        UnknownOrigin::Braces => true,
    }
}

/// Returns `true` if commands of a text, by their range, print nothing that begins with a dash, but for names of files.
pub(super) fn print_no_option(range: &Range<usize>, commands: &[ShellCommand]) -> bool {
    let commands = commands.get(range.clone()).unwrap_or_default();
    !commands.is_empty() && commands.iter().all(prints_no_option)
}

/// Returns `true` if a command prints nothing that begins with a dash, but for names of files.
fn prints_no_option(command: &ShellCommand) -> bool {
    // A pattern stands for names of files.
    let text = |word: &ShellWord| (!word.has_unknown()).then(|| shell_words::shown(word).shown);
    let texts: Option<Vec<String>> = command.words.iter().map(text).collect();
    let Some(texts) = texts else { return false };
    // A function prints what it likes, and so does a program of the workspace.
    if matches!(command.role, CommandRole::Function | CommandRole::PossibleFunction) {
        return false;
    }
    let Some((name, arguments)) = texts.split_first() else { return command.redirections.is_empty() };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let has = |names: &[&str]| arguments.iter().any(|argument| names.contains(argument));
    let is_plain = |argument: &&str| !argument.starts_with('-');
    match &**name {
        "pwd" | "nproc" | "uname" | "id" | "whoami" | "hostname" | "ls" | "cd" | "true" | ":" | "arch" => {
            true
        }
        "mktemp" | "which" | "dirname" | "command" | "realpath" | "readlink" => {
            arguments.iter().filter(|argument| !is_plain(argument)).all(|option| {
                matches!(*option, "-d" | "-q" | "-u" | "-v" | "-f" | "-e" | "-m" | "-t" | "-p" | "-s" | "--")
            }) && (name != "readlink" || has(&["-f", "-e", "-m"]))
                && !arguments.windows(2).any(|pair| pair[0] == "--" && pair[1].starts_with('-'))
        }
        "date" | "echo" | "seq" => {
            !arguments.iter().any(|argument| argument.contains(['-', '\\']))
                || has(&["-u"]) && arguments.len() == 1
        }
        "printf" => !arguments.iter().any(|argument| argument.contains(['-', '\\', '%'])),
        "find" | "bfs" => !arguments.iter().any(|argument| {
            ["-printf", "-exec", "-ok", "-fprint", "-files0-from"]
                .iter()
                .any(|name| argument.starts_with(name))
        }),
        "fd" | "fdfind" => !arguments
            .iter()
            .any(|argument| ["-x", "-X", "--exec", "--format"].iter().any(|name| argument.starts_with(name))),
        "git" => prints_names_of_git(&arguments),
        "rg" => has(&["-l", "--files", "--files-with-matches"]) && !has(&["--pre"]),
        "ag" | "ack" => has(&["-l", "-g", "--files-with-matches"]),
        "grep" | "egrep" | "fgrep" => prints_names_of_grep(command, &arguments),
        "sort" | "uniq" | "head" | "tail" => {
            let is_number = |argument: &&str| argument.bytes().all(|byte| byte.is_ascii_digit());
            let is_option = |argument: &&str| {
                argument.len() > 1 && argument.starts_with('-') && !argument.contains(['c', 'o', 'f'])
            };
            matches!(command.input, ShellInput::Pipe(_))
                && arguments.iter().all(|argument| is_number(argument) || is_option(argument))
        }
        _ => false,
    }
}

/// Returns `true` if git prints names of files, revisions or branches.
fn prints_names_of_git(arguments: &[&str]) -> bool {
    const KNOWN: [&str; 20] = [
        "--show-toplevel",
        "--short",
        "--abbrev-ref",
        "--git-dir",
        "--show-prefix",
        "--verify",
        "-q",
        "--cached",
        "--staged",
        "--name-only",
        "--others",
        "--exclude-standard",
        "--modified",
        "--show-current",
        "--tags",
        "--always",
        "-z",
        "-m",
        "-o",
        "--diff-filter=ACM",
    ];
    let Some((subcommand, rest)) = arguments.split_first() else { return false };
    let is_known = rest.iter().all(|argument| {
        !argument.starts_with('-') || KNOWN.contains(argument) || argument.starts_with("--diff-filter=")
    });
    is_known
        && match *subcommand {
            "ls-files" | "merge-base" | "describe" | "ls-tree" | "rev-list" | "rev-parse" => true,
            "diff" | "show" => rest.contains(&"--name-only"),
            "branch" => rest.contains(&"--show-current"),
            _ => false,
        }
}

/// Returns `true` if grep prints names of files, or hands on some of the lines of others.
fn prints_names_of_grep(command: &ShellCommand, arguments: &[&str]) -> bool {
    // Letters without a value, so that the others of a cluster are none.
    let is_cluster = |argument: &str| {
        argument.strip_prefix('-').is_some_and(|letters| {
            !letters.is_empty() && letters.bytes().all(|letter| b"rRilLnwvsEFIzcHhxP".contains(&letter))
        })
    };
    let lists = |argument: &&str| {
        matches!(*argument, "--files-with-matches" | "--files-without-match")
            || is_cluster(argument) && argument.contains(['l', 'L'])
    };
    let is_filter = matches!(command.input, ShellInput::Pipe(_))
        && arguments.iter().filter(|argument| !argument.starts_with('-')).count() <= 1
        && arguments.iter().all(|argument| !argument.starts_with('-') || is_cluster(argument));
    arguments.iter().any(lists) || is_filter
}
