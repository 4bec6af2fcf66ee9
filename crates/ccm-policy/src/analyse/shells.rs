//! Shells: the texts, files and inputs that they run.

use ccm_shell::{ShellCommand, ShellDialect, ShellWord, join_path};

use super::shell_words::{FILE_NAMES, INPUT};
use super::{Analyser, CommandContext, shell_words};
use crate::analysis::{AnalysedOption, WayOut};
use crate::effect::{CodeSource, Effect};
use crate::guard_class::GuardClass;
use crate::lookup::LookupPathKind;

/// Shells that parse their options as dash and bash do. A text for another one, such as zsh, is read as one for `sh`, but never
/// for certain.
const KNOWN: [&str; 5] = ["sh", "dash", "ash", "bash", "rbash"];

/// Long options of bash without a value.
const LONG: [&str; 12] = [
    "dump-po-strings",
    "dump-strings",
    "help",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "restricted",
    "verbose",
    "version",
];

/// Letters of options that change neither how the shell reads a text nor what it runs.
const LETTERS: &str = "abCcDeEfhHiIlmnprstuvVxBPT";

/// Options of `-o` that do neither.
const OPTION_NAMES: [&str; 20] = [
    "allexport",
    "braceexpand",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "ignoreeof",
    "interactive",
    "monitor",
    "noclobber",
    "noexec",
    "noglob",
    "nolog",
    "notify",
    "nounset",
    "physical",
    "pipefail",
    "privileged",
    "verbose",
    "xtrace",
];

/// Options of `-O` that do neither.
const SHELL_OPTIONS: [&str; 6] =
    ["nullglob", "dotglob", "globstar", "failglob", "nocasematch", "inherit_errexit"];

/// What the options of a shell say.
#[derive(Default)]
struct ShellOptions {
    names: Vec<AnalysedOption>,
    takes_text: bool,
    takes_input: bool,
    /// Files that an interactive shell reads first.
    start_files: Vec<ShellWord>,
    /// First option that is not known.
    unknown: Option<String>,
}

impl ShellOptions {
    fn push(&mut self, name: &str, value: Option<&ShellWord>) {
        let value = value.map(shell_words::shown);
        self.names.push(AnalysedOption { name: name.to_owned(), other_names: Vec::new(), value });
    }

    fn doubt(&mut self, option: &str) {
        self.unknown.get_or_insert_with(|| option.to_owned());
    }

    /// Reads the options, and returns the operands.
    fn read<'w>(&mut self, words: &'w [ShellWord], is_bash: bool) -> &'w [ShellWord] {
        let mut position = 0;
        // bash knows long options in front of all others alone.
        let mut may_be_long = true;
        while let Some(word) = words.get(position) {
            let prefix = word.known_prefix();
            let Some(text) = word.text() else {
                if prefix.starts_with(['-', '+']) {
                    self.doubt(&shell_words::shown(word).shown);
                }
                break;
            };
            if !text.starts_with(['-', '+']) {
                break;
            }
            position += 1;
            if matches!(&*text, "-" | "--") {
                break;
            }
            let long = text.strip_prefix("--").or_else(|| text.strip_prefix('-')).unwrap_or_default();
            if may_be_long && self.long(&text, long, words.get(position), is_bash) {
                position += usize::from(takes_file(long));
                continue;
            }
            may_be_long = false;
            if text.starts_with("--") {
                self.doubt(&text);
            }
            for letter in text.chars().skip(1) {
                self.letter(&text, letter, words, &mut position);
            }
        }
        words.get(position..).unwrap_or_default()
    }

    /// Reads a long option. Returns `false` for another option.
    fn long(&mut self, text: &str, name: &str, next: Option<&ShellWord>, is_bash: bool) -> bool {
        if !takes_file(name) && !LONG.contains(&name) {
            return false;
        }
        if !is_bash && !text.starts_with("--") {
            // Letters for dash.
            self.doubt(text);
        }
        let file = next.filter(|_| takes_file(name));
        self.start_files.extend(file.cloned());
        self.push(text, file);
        true
    }

    fn letter(&mut self, text: &str, letter: char, words: &[ShellWord], position: &mut usize) {
        let sign = text.chars().next().unwrap_or('-');
        let name = format!("{sign}{letter}");
        if !matches!(letter, 'o' | 'O') {
            self.takes_text |= letter == 'c';
            self.takes_input |= letter == 's';
            self.push(&name, None);
            if !LETTERS.contains(letter) {
                self.doubt(&name);
            }
            return;
        }
        let value = words.get(*position);
        *position += usize::from(value.is_some());
        self.push(&name, value);
        let known: &[&str] = if letter == 'o' { &OPTION_NAMES } else { &SHELL_OPTIONS };
        let is_known = value.and_then(ShellWord::text).is_none_or(|option| known.contains(&&*option));
        if !is_known || value.is_some_and(|value| value.text().is_none()) {
            self.doubt(&name);
        }
    }
}

fn takes_file(long: &str) -> bool {
    matches!(long, "rcfile" | "init-file")
}

impl Analyser<'_> {
    /// Judges a call of a shell.
    pub(super) fn shell(
        &mut self,
        index: usize,
        all: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let name = all.first().and_then(ShellWord::text).unwrap_or_default();
        let base = name.rsplit('/').next().unwrap_or_default().to_owned();
        let plain = base.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        let is_bash = matches!(plain, "bash" | "rbash");
        let dialect = if is_bash { ShellDialect::Bash } else { ShellDialect::Sh };
        let mut options = ShellOptions::default();
        let operands = options.read(all.get(1..).unwrap_or_default(), is_bash);
        for file in &options.start_files {
            self.script(index, file, &base, commands, context);
            let what = format!("`{base}` runs a file before all others");
            let span = context.span.unwrap_or(file.span);
            self.finding(index, GuardClass::Options, what, span, Some(WayOut::DropOption));
        }
        if !KNOWN.contains(&plain) {
            // Other shells have further options, and values that are attached.
            let is_plain =
                |option: &&AnalysedOption| matches!(&*option.name, "-c" | "-e" | "-x" | "-s" | "-l" | "-i");
            if let Some(option) = options.names.iter().find(|option| !is_plain(option)) {
                let option = option.name.clone();
                options.doubt(&option);
            }
        }
        if !KNOWN.contains(&plain) && options.takes_text {
            options.doubt("-c");
        }
        let span = self.span(index);
        if let Some(option) = &options.unknown {
            let what = format!("the option `{option}` of `{base}` changes what runs, or is not known");
            self.finding(index, GuardClass::Eval, what, span, Some(WayOut::DropOption));
        }
        if let Some(command) = self.analysis.commands.get_mut(index) {
            command.options.append(&mut options.names);
            command.operands.extend(operands.iter().map(shell_words::shown));
        }
        match operands.split_first() {
            Some((text, _)) if options.takes_text => self.shell_text(index, text, dialect, commands, context),
            None if options.takes_text => {}
            Some((script, rest)) if !options.takes_input => {
                self.script(index, script, &base, commands, context);
                self.script_on_path(index, operands, commands, context);
                for word in rest {
                    self.maybe_path(index, word, context);
                }
            }
            _ => {
                let context = CommandContext { dialect, ..context.clone() };
                self.code_from_input(index, &base, commands, &context);
            }
        }
    }

    /// Judges a script that bash looks up among the programs, since there is no such file.
    fn script_on_path(
        &mut self,
        index: usize,
        operands: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let name = operands.first().and_then(ShellWord::text).filter(|name| !name.contains('/'));
        let Some(name) = name else { return };
        let is_file = context.directories.only().is_some_and(|directory| {
            self.lookup.path_kind(&join_path(directory, &name)) != LookupPathKind::Missing
        });
        if !is_file && self.locate(&name, context).is_some() {
            self.program(operands, commands, &context.within(index));
        }
    }

    /// Judges a word that is a text for a shell.
    pub(super) fn shell_text(
        &mut self,
        index: usize,
        word: &ShellWord,
        dialect: ShellDialect,
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let span = context.span.unwrap_or(word.span);
        if let Some(text) = word.text() {
            let context = CommandContext { dialect, span: Some(span), ..context.within(index) };
            self.text(&text, &context);
            return;
        }
        let is_input = word.pieces.iter().any(|piece| {
            matches!(piece, ccm_shell::WordPiece::Unknown {
                origin: ccm_shell::UnknownOrigin::Variable(name), ..
            } if matches!(&**name, INPUT | "{}" | FILE_NAMES))
        });
        if is_input || Self::is_download(word, commands) {
            if is_input {
                self.unknown_origin(index, word);
            }
            self.effect(index, Effect::code(CodeSource::Pipe, None));
            let what = "a text for a shell comes from a pipe or a download";
            self.finding(index, GuardClass::CodePipe, what, span, Some(WayOut::SaveCode));
        } else {
            self.unknown_origin(index, word);
            self.effect(index, Effect::code(CodeSource::Unknown, None));
            let what = format!("the text `{}` for a shell is not known", shell_words::shown(word).shown);
            self.finding(index, GuardClass::Eval, what, span, Some(WayOut::SaveCode));
        }
    }
}
