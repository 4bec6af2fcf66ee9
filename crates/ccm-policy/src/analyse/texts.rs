//! Texts for a shell: their commands, and what the shell does for each of them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use ccm_shell::{
    CommandRole, RedirectionOperator, ShellCommand, ShellContext, ShellDirectories, ShellInput, ShellReading,
    ShellSearchPath, ShellWord, UnreadableKind, UnreadableText, read,
};

use super::{Analyser, CommandContext, CommandInput, exact, make};
use crate::analysis::{FindingOrigin, UnreadableRequest, WayOut};
use crate::guard_class::GuardClass;

impl Analyser<'_> {
    /// Judges a text for a shell, in the context of the command that runs the text.
    pub(super) fn text(&mut self, text: &str, context: &CommandContext) {
        let Some(context) = self.nested(context) else { return };
        let environment = self.request.environment.iter();
        let variables: Vec<&(String, String)> = match context.depth {
            1 => environment.chain(&self.request.added_variables).collect(),
            // What runs the text may have set another one.
            _ if self.sets_home => Vec::new(),
            _ => environment.filter(|(name, _)| name == "HOME").collect(),
        };
        let directories = &context.directories;
        let others = match directories.only() {
            Some(_) => None,
            // What leads up leads out of these as well.
            None if !directories.is_bounded() || text.contains("..") => Some(Vec::new()),
            None => Some([&*directories.paths, &*directories.below].concat()),
        };
        let first = directories.paths.first().or(directories.below.first());
        let shell = ShellContext {
            directory: first.map_or("/", String::as_str),
            variables: variables.into_iter().map(|(name, value)| (&**name, &**value)).collect(),
        };
        let whole = context.span.unwrap_or_default();
        if let Err(error) = self.budget.enter(whole) {
            self.unreadable(*error, &context);
            return;
        }
        match read(text, context.dialect, &shell, &mut self.budget) {
            Ok(reading) => self.reading(&reading, &context, others.as_deref()),
            Err(error) => self.unreadable(*error, &context),
        }
        self.budget.leave();
    }

    /// Returns the context of what runs within a command, unless the nesting is too deep.
    pub(super) fn nested(&mut self, context: &CommandContext) -> Option<CommandContext> {
        if context.depth >= self.limits.depth || self.analysis.commands.len() >= self.limits.commands {
            self.too_much(context);
            return None;
        }
        Some(CommandContext { depth: context.depth + 1, ..context.clone() })
    }

    pub(super) fn too_much(&mut self, context: &CommandContext) {
        if let (Some(_), Some(parent)) = (context.at_most, context.parent) {
            // The words may be no commands.
            let what = "what stands behind the command may run too many others to follow";
            let span = context.span.unwrap_or_else(|| self.span(parent));
            self.finding(parent, GuardClass::ProgramUnknown, what, span, Some(WayOut::UseScript));
        } else if self.analysis.unreadable.is_none() {
            self.analysis.unreadable = Some(UnreadableRequest {
                class: GuardClass::Unreadable,
                message: "the command runs too many others to follow".to_owned(),
                hint: Some(WayOut::UseScript.text()),
                span: context.span.unwrap_or_default(),
            });
        }
    }

    pub(super) fn unreadable(&mut self, error: UnreadableText, context: &CommandContext) {
        let class = match error.kind {
            UnreadableKind::Hidden => GuardClass::Hidden,
            UnreadableKind::Ambiguous => GuardClass::Ambiguous,
            _ => GuardClass::Unreadable,
        };
        if let (Some(_), Some(parent)) = (context.at_most, context.parent) {
            // The text may be none.
            let what = format!("a text behind the command can't be read: {}", error.message);
            self.finding(parent, GuardClass::Eval, what, context.span.unwrap_or_default(), None);
        } else if self.analysis.unreadable.is_none() {
            let span = context.span.unwrap_or(error.span);
            self.analysis.unreadable =
                Some(UnreadableRequest { class, message: error.message, hint: error.hint, span });
        }
    }

    /// Judges the commands of a text. If the text may start in several directories, `others` are those, or none if any is
    /// possible.
    fn reading(&mut self, reading: &ShellReading, context: &CommandContext, others: Option<&[String]>) {
        let printed = printed(reading);
        self.sets_home |= reading.commands.iter().any(sets_home);
        let from = self.analysis.commands.len();
        for (position, command) in reading.commands.iter().enumerate() {
            let input = match &command.input {
                // The commands of another text are not those of this one.
                ShellInput::Inherited if matches!(context.input, CommandInput::Pipe(_)) => {
                    CommandInput::Pipe(0..0)
                }
                ShellInput::Inherited => context.input.clone(),
                ShellInput::Pipe(range) => CommandInput::Pipe(range.clone()),
                ShellInput::File(word) => CommandInput::File(word.clone()),
                ShellInput::Text(word) => CommandInput::Text(word.clone()),
                ShellInput::Unknown => CommandInput::Unknown,
            };
            let directories = match others {
                None => Arc::clone(&command.directories),
                Some(others) => {
                    let mut directories = ShellDirectories::clone(&command.directories);
                    if !directories.is_bounded() || others.is_empty() {
                        directories.below.clear();
                    } else {
                        directories.below.extend_from_slice(others);
                    }
                    directories.is_unknown = true;
                    Arc::new(directories)
                }
            };
            let search_path = match *command.search_path {
                ShellSearchPath::Initial => Arc::clone(&context.search_path),
                _ => Arc::clone(&command.search_path),
            };
            let context = CommandContext { directories, search_path, input, ..context.clone() };
            let before = self.analysis.commands.len();
            self.shell_command(command, reading, &context);
            if printed.contains(&position) && self.analysis.commands.len() > before {
                // What is printed becomes a part of another command.
                for word in command.words.iter().skip(1) {
                    self.maybe_path(before, word, &context);
                }
            }
        }
        if reading.commands.len() > 1 {
            self.found_in_text(from);
        }
    }

    /// Returns a word in which outputs of commands are marked whose kind is known: dates, and paths of temporary files.
    fn with_outputs<'w>(
        &self,
        word: &'w ShellWord,
        reading: &ShellReading,
        context: &CommandContext,
    ) -> Cow<'w, ShellWord> {
        match self.with_dates(word, &reading.commands, context) {
            Some(word) => Cow::Owned(self.with_temporary_files(&word, reading, context).into_owned()),
            None => self.with_temporary_files(word, reading, context),
        }
    }

    /// Judges a command of a text: its words, and what the shell itself does for the command.
    fn shell_command(&mut self, command: &ShellCommand, reading: &ShellReading, context: &CommandContext) {
        let marked: Vec<Cow<'_, ShellWord>> =
            command.words.iter().map(|word| self.with_outputs(word, reading, context)).collect();
        let is_marked = marked.iter().any(|word| matches!(word, Cow::Owned(_)));
        let words: Cow<'_, [ShellWord]> = match context.span {
            Some(span) => marked.into_iter().map(|word| ShellWord { span, ..word.into_owned() }).collect(),
            None if is_marked => marked.into_iter().map(Cow::into_owned).collect(),
            None => Cow::Borrowed(&command.words),
        };
        let span = context.span.unwrap_or(command.span);
        let inner = CommandContext { span: context.span, ..context.clone() };
        let index = match command.role {
            CommandRole::Program | CommandRole::PossibleFunction => {
                self.program(&words, &reading.commands, &inner)
            }
            CommandRole::Builtin => self.builtin(&words, &reading.commands, &inner),
            CommandRole::Function | CommandRole::Construct => self.push(&words, None, span, &inner),
        };
        let Some(index) = index else { return };
        if context.span.is_none()
            && let Some(known) = self.analysis.commands.get_mut(index)
        {
            known.span = span;
        }
        self.with_origin(FindingOrigin::Variable, |analyser| {
            analyser.assignments(index, command, &words, &reading.commands, &inner);
        });
        self.with_origin(FindingOrigin::Redirection, |analyser| {
            analyser.redirections(index, command, reading, &inner);
        });
        self.doubts(index, command, reading, &inner);
    }

    /// Judges the variables that are set for a command.
    fn assignments(
        &mut self,
        index: usize,
        command: &ShellCommand,
        words: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        for assignment in &command.assignments {
            let span = context.span.unwrap_or(assignment.span);
            let name = words.first().and_then(ShellWord::text);
            self.variable(index, &assignment.name, assignment.value.as_ref(), span, name.as_deref(), context);
            if let Some(value) = &assignment.value {
                let call = exact::ExactCall { index, name: "make", commands, context };
                // A makefile takes over what is passed on before.
                let is_passed_on = matches!(name.as_deref(), Some("export" | "declare" | "typeset"));
                let program =
                    if is_passed_on && make::names_make(commands) { Some("make") } else { name.as_deref() };
                self.variable_of_make(call, &assignment.name, value, program);
            }
            if let Some(command) = self.analysis.commands.get_mut(index) {
                command.variables.push(assignment.name.clone());
            }
        }
    }

    /// Judges the files that the shell opens for a command.
    fn redirections(
        &mut self,
        index: usize,
        command: &ShellCommand,
        reading: &ShellReading,
        context: &CommandContext,
    ) {
        for redirection in &command.redirections {
            let target = &*self.with_outputs(&redirection.target, reading, context);
            if redirection.operator != RedirectionOperator::Duplicate
                && let Some(command) = self.analysis.commands.get_mut(index)
            {
                command.is_redirected = true;
            }
            match redirection.operator {
                RedirectionOperator::Read => self.read_path(index, target, context),
                RedirectionOperator::Write
                | RedirectionOperator::Append
                | RedirectionOperator::ReadWrite
                | RedirectionOperator::WriteBoth
                | RedirectionOperator::AppendBoth => self.write_path(index, target, context),
                RedirectionOperator::Duplicate
                | RedirectionOperator::HereDocument
                | RedirectionOperator::HereString => {}
            }
        }
    }
}

/// Returns the positions of commands whose output is their words, and becomes a part of another command.
fn printed(reading: &ShellReading) -> BTreeSet<usize> {
    let words = reading.commands.iter().flat_map(|command| {
        let values = command.assignments.iter().filter_map(|assignment| assignment.value.as_ref());
        let targets = command.redirections.iter().map(|redirection| &redirection.target);
        command.words.iter().chain(values).chain(targets)
    });
    let positions = words.flat_map(ShellWord::sources).flatten();
    let prints = |position: &usize| {
        let command = reading.commands.get(*position);
        let name = command.and_then(|command| command.words.first()).and_then(ShellWord::text);
        matches!(name.as_deref(), Some("echo" | "printf"))
    };
    positions.filter(prints).collect()
}

/// Returns `true` for a command that sets `HOME`, or may do so for what it runs.
fn sets_home(command: &ShellCommand) -> bool {
    let is_named = |word: &ShellWord| word.known_prefix().starts_with("HOME=");
    command.assignments.iter().any(|assignment| assignment.name == "HOME")
        || command.words.iter().any(is_named)
}
