//! Command lines of programs with an entry in the tables: options, subcommands, and what the tables do not list.

use ccm_shell::ShellWord;

use super::arguments::{self, ParsedArguments, ParsedOption};
use super::{Analyser, shell_words};
use crate::analysis::{AnalysedOption, WayOut};
use crate::guard_class::GuardClass;
use crate::tables::{OptionSpec, ProgramEntry, ProgramSyntax};

/// Arguments of a program and of its subcommands.
pub(super) struct CalledProgram {
    pub(super) parsed: ParsedArguments,
    /// Entries of the program and of the subcommands.
    pub(super) levels: Vec<&'static ProgramEntry>,
    /// Names of the subcommands.
    pub(super) action: String,
    /// The first operand ends the options.
    pub(super) stops: bool,
}

impl Analyser<'_> {
    /// Parses a command line, with its subcommands.
    pub(super) fn command_line(
        &mut self,
        index: usize,
        entry: &'static ProgramEntry,
        all: &[ShellWord],
        name: &str,
    ) -> CalledProgram {
        let mut table: Vec<&'static OptionSpec> = entry.options.iter().collect();
        let mut syntax = entry.syntax;
        let stops = syntax == ProgramSyntax::Posix || entry.has_subcommands();
        let words = all.get(1..).unwrap_or_default();
        let mut parsed = arguments::parse(words, &table, syntax, stops);
        let mut ends = syntax == ProgramSyntax::Posix;
        let mut action = String::new();
        let mut level = entry;
        let mut levels = vec![entry];
        while level.has_subcommands() {
            let Some(first) = parsed.operands.first() else { break };
            let Some(text) = first.text() else {
                let what = format!("the subcommand of `{name}` is not known");
                let span = self.span(index);
                self.finding(index, GuardClass::ProgramUnknown, what, span, Some(WayOut::NameProgram));
                self.any_subcommand(index, level);
                break;
            };
            let inherited = || level.inherits.then(|| entry.subcommand(&text)).flatten();
            let Some(next) = level.subcommand(&text).or_else(inherited) else {
                if !level.has_operands && !level.is_open {
                    self.unlisted(index, name, &text);
                    self.any_subcommand(index, level);
                }
                break;
            };
            if !action.is_empty() {
                action.push(' ');
            }
            action += &text;
            level = next;
            levels.push(next);
            table.splice(0..0, next.options.iter());
            if !matches!(
                (syntax, next.syntax),
                (_, ProgramSyntax::Gnu) | (ProgramSyntax::Nopt, ProgramSyntax::Posix)
            ) {
                syntax = next.syntax;
            }
            ends = next.stops || next.syntax == ProgramSyntax::Posix;
            let stops = ends || next.has_subcommands();
            self.record(index, std::iter::once(first));
            let inner = parsed.operands.get(1..).unwrap_or_default();
            let further = arguments::parse(inner, &table, syntax, stops);
            parsed.command = further.command;
            parsed.options.extend(further.options);
            parsed.operands = further.operands;
            parsed.before_dashes = further.before_dashes;
        }
        self.record_arguments(index, &parsed);
        if !levels.iter().any(|level| level.is_open) {
            self.unlisted_options(index, name, &parsed);
        }
        CalledProgram { parsed, levels, action, stops: ends }
    }

    /// Reports options that the table does not list.
    pub(super) fn unlisted_options(&mut self, index: usize, name: &str, parsed: &ParsedArguments) {
        for option in &parsed.options {
            let is_report = option.spec.is_none() && matches!(&*option.name, "--help" | "--version");
            if (option.spec.is_none() || option.is_odd) && !is_report {
                self.unlisted(index, name, &option.name);
            }
        }
    }

    /// Reports an option or a subcommand that the table does not list.
    pub(super) fn unlisted(&mut self, index: usize, name: &str, shown: &str) {
        let what = format!("the tables do not list `{shown}` of `{name}`, so that its effects are not known");
        self.finding(index, GuardClass::OptionUnknown, what, self.span(index), Some(WayOut::DropOption));
    }

    pub(super) fn record<'w>(&mut self, index: usize, operands: impl IntoIterator<Item = &'w ShellWord>) {
        if let Some(command) = self.analysis.commands.get_mut(index) {
            command.operands.extend(operands.into_iter().map(shell_words::shown));
        }
    }

    /// Records options and operands for rules.
    pub(super) fn record_arguments(&mut self, index: usize, parsed: &ParsedArguments) {
        self.record(index, &parsed.operands);
        let Some(command) = self.analysis.commands.get_mut(index) else { return };
        command.options.extend(parsed.options.iter().map(|option| {
            let names = option.spec.map_or(&[][..], |spec| &spec.names);
            AnalysedOption {
                name: option.name.clone(),
                other_names: names
                    .iter()
                    .filter(|name| ***name != option.name)
                    .map(ToString::to_string)
                    .collect(),
                value: option.value.as_ref().map(shell_words::shown),
            }
        }));
    }
}

/// Returns `true` if the program only reports something. Words count at the level of the operands alone: those of
/// `stack exec ls` are another program.
pub(super) fn is_report(entry: &ProgramEntry, parsed: &ParsedArguments, is_last: bool) -> bool {
    let first_words = |name: &str| {
        let words = name.split('+').filter(|part| !part.starts_with(['-', '!', '(']));
        let operands = parsed.operands.iter().map(ShellWord::text);
        words
            .zip(operands.chain(std::iter::repeat(None)))
            .all(|(word, operand)| operand.as_deref() == Some(word))
    };
    // `-S+-s` stands for both together, `!-w` for an option that is not there, `()` for no further operands, and other
    // words for the first operands.
    let is_listed = |name: &str| {
        let words = name.split('+').filter(|part| !part.starts_with(['-', '!', '('])).count();
        let options = name.split('+').all(|part| match part.strip_prefix('!') {
            Some(part) => !parsed.has(&[part]),
            None if part == "()" && name == "()" => parsed.operands.is_empty() && parsed.options.is_empty(),
            None if part == "()" => parsed.operands.len() == words,
            None => !part.starts_with('-') || parsed.has(&[part]),
        });
        options && first_words(name)
    };
    let is_known = |option: &ParsedOption| {
        option.spec.is_some() && !option.is_odd
            || entry.unless.iter().any(|name| name.split('+').any(|name| option.is_named(name)))
    };
    // What an option that is not known adds is no report.
    let is_about_words = |name: &str| name.split('+').any(|part| !part.starts_with(['-', '!']));
    let mut listed = entry.unless.iter().filter(|name| is_last || !is_about_words(name.as_ref()));
    listed.any(|name| is_listed(name)) && parsed.options.iter().all(is_known)
        || parsed.has(&["--help", "--version"]) && parsed.operands.is_empty()
}
