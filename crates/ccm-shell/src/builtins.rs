//! Builtins: their effects on the shell itself.

use std::borrow::Cow;
use std::sync::Arc;

use crate::dialect::{ShellDialect, is_special};
use crate::follow::Follower;
use crate::reading::{CommandRole, DoubtKind, ShellCommand, ShellDirectories, ShellInput, ShellWord};
use crate::simple::{is_numeric, operand_span};
use crate::state::{Flow, ShellState};
use crate::tree::RedirectionOperator;
use crate::unreadable::{ReadResult, UnreadableText};
use crate::variable_builtins::{MAPFILE, READ};

impl Follower<'_> {
    /// Follows a builtin.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        mut command: ShellCommand,
        state: &mut ShellState,
    ) -> ReadResult<Flow> {
        command.role = CommandRole::Builtin;
        match name {
            "command" => return self.command_builtin(command, state),
            "builtin" => return self.builtin_builtin(command, state),
            "exec" => return self.exec(command, state),
            "eval" => return self.eval(command, state),
            "cd" | "pushd" | "popd" => return self.change_directory(name, command, state),
            _ => {}
        }
        if is_special(name) {
            self.unset_prefixed(&command, state)?;
        }
        match name {
            "exit" => {
                self.commands.push(command);
                let nowhere = Arc::new(ShellDirectories::unreachable());
                return Ok(Flow::same(&nowhere));
            }
            "." | "source" => {
                self.doubt(DoubtKind::SourcedFile, command.span);
                self.finish(command);
                state.invalidate();
                return Ok(Flow::same(&state.directories));
            }
            "trap" => return self.trap(command, state),
            "export" | "readonly" | "local" | "declare" | "typeset" => {
                self.declare(name, &mut command, state)?;
            }
            "read" => self.names(&READ, &mut command, state)?,
            "getopts" => self.getopts(&mut command, state)?,
            "mapfile" | "readarray" => {
                self.names(&MAPFILE, &mut command, state)?;
                self.doubt_options(&command, 'C');
            }
            "unset" => self.unset(&mut command, state)?,
            "printf" => self.printf(&mut command, state)?,
            "wait" => self.doubt_options(&command, 'p'),
            "jobs" => self.doubt_options(&command, 'x'),
            "set" => self.set_options(&command, state),
            "shopt" => self.shopt(&command, state),
            "alias" => self.alias(&command)?,
            "hash" => self.doubt_options_as(&command, 'p', DoubtKind::Renamed),
            "enable" => {
                self.doubt(DoubtKind::Renamed, command.span);
                state.invalidate();
            }
            "let" => self.let_builtin(&command, state)?,
            "bind" | "complete" | "compgen" | "compopt" | "fc" => self.doubt(DoubtKind::Code, command.span),
            "test" | "[" => self.test(&command)?,
            _ => {}
        }
        self.finish(command);
        Ok(Flow::same(&state.directories))
    }

    /// Adds a command with the doubts that have come up.
    fn finish(&mut self, mut command: ShellCommand) {
        command.doubts.append(&mut self.doubts);
        self.commands.push(command);
    }

    fn option_count(command: &ShellCommand, from: usize) -> usize {
        command
            .words
            .iter()
            .skip(from)
            .take_while(|word| word.text().is_some_and(|text| text.starts_with('-') && text.len() > 1))
            .count()
    }

    /// Follows `command [-p] name …`; with `-v` and `-V` nothing is run.
    fn command_builtin(&mut self, mut command: ShellCommand, state: &mut ShellState) -> ReadResult<Flow> {
        let options = Self::option_count(&command, 1);
        let flags: String = command.words.iter().skip(1).take(options).filter_map(ShellWord::text).collect();
        if flags.contains(['v', 'V']) || command.words.len() == 1 + options {
            self.commands.push(command);
            return Ok(Flow::same(&state.directories));
        }
        if !flags.chars().all(|flag| matches!(flag, '-' | 'p')) {
            let message = "this option of `command` is unknown";
            return Err(UnreadableText::unsupported(command.span, message));
        }
        command.words.drain(..=options);
        self.start_program_or_builtin(command, state)
    }

    fn builtin_builtin(&mut self, mut command: ShellCommand, state: &mut ShellState) -> ReadResult<Flow> {
        if command.words.len() == 1 {
            self.commands.push(command);
            return Ok(Flow::same(&state.directories));
        }
        command.words.remove(0);
        self.start_program_or_builtin(command, state)
    }

    /// Starts a command that is no function.
    fn start_program_or_builtin(
        &mut self,
        command: ShellCommand,
        state: &mut ShellState,
    ) -> ReadResult<Flow> {
        self.budget.enter(command.span)?;
        let name = command.words.first().filter(|word| !word.is_many()).and_then(ShellWord::text);
        let is_function = name.as_deref().is_some_and(|name| self.is_function(name));
        let flow = if is_function {
            let flow = Flow::same(&state.directories);
            self.commands.push(ShellCommand { role: CommandRole::Program, ..command });
            flow
        } else {
            self.start(command, state)?
        };
        self.budget.leave();
        Ok(flow)
    }

    fn exec(&mut self, mut command: ShellCommand, state: &mut ShellState) -> ReadResult<Flow> {
        let options = Self::option_count(&command, 1);
        if options > 0 && self.dialect == ShellDialect::Sh {
            let message = "options of `exec` have a meaning in bash alone";
            return Err(UnreadableText::ambiguous(command.span, message));
        }
        if command.words.len() == 1 {
            // The redirections hold for the rest of the text.
            let changes_input = command.redirections.iter().any(|redirection| {
                redirection.descriptor == Some(0)
                    || redirection.descriptor.is_none()
                        && !matches!(
                            redirection.operator,
                            RedirectionOperator::Write
                                | RedirectionOperator::Append
                                | RedirectionOperator::WriteBoth
                                | RedirectionOperator::AppendBoth
                        )
            });
            if changes_input {
                self.input = ShellInput::Unknown;
            }
            self.unset_prefixed(&command, state)?;
            self.commands.push(command);
            return Ok(Flow::same(&state.directories));
        }
        let mut skipped = 1;
        while let Some(option) = command.words.get(skipped).and_then(ShellWord::text) {
            match &*option {
                "-c" | "-l" | "-cl" | "-lc" => skipped += 1,
                "-a" => skipped += 2,
                "--" => {
                    skipped += 1;
                    break;
                }
                option if option.starts_with('-') => {
                    let message = "this option of `exec` is unknown";
                    return Err(UnreadableText::unsupported(command.span, message));
                }
                _ => break,
            }
        }
        command.words.drain(..skipped.min(command.words.len()));
        if command.words.is_empty() {
            return Ok(Flow::same(&state.directories));
        }
        // `exec` starts programs alone.
        let flow = Flow::same(&state.directories);
        command.role = CommandRole::Program;
        self.commands.push(command);
        Ok(flow)
    }

    fn eval(&mut self, command: ShellCommand, state: &mut ShellState) -> ReadResult<Flow> {
        let span = command.span;
        self.unset_prefixed(&command, state)?;
        let mut texts = Vec::new();
        for word in command.words.iter().skip(1) {
            let Some(text) = word.text().filter(|_| !word.is_many()).map(Cow::into_owned) else {
                self.doubt(DoubtKind::Code, span);
                self.finish(command);
                state.invalidate();
                return Ok(Flow::same(&state.directories));
            };
            texts.push(text);
        }
        if texts.first().is_some_and(|text| text == "--") {
            texts.remove(0);
        }
        let input = command.input.clone();
        self.commands.push(command);
        let outer = std::mem::replace(&mut self.input, input);
        let flow = self.inner_text(&texts.join(" "), state, span)?;
        self.input = outer;
        Ok(flow)
    }

    /// Follows the text of a trap, which runs at any time.
    fn trap(&mut self, command: ShellCommand, state: &mut ShellState) -> ReadResult<Flow> {
        let span = command.span;
        let operands: Vec<&ShellWord> = command.words.iter().skip(1).collect();
        let operands = match operands.split_first() {
            Some((first, rest)) if first.text().as_deref() == Some("--") => rest.to_vec(),
            _ => operands,
        };
        let Some((action, signals)) = operands.split_first() else {
            self.finish(command);
            return Ok(Flow::same(&state.directories));
        };
        let text = action.text().filter(|_| !action.is_many()).map(Cow::into_owned);
        let is_reset = match text.as_deref() {
            Some("-" | "" | "-l" | "-p") => true,
            _ => is_numeric(action) || signals.is_empty(),
        };
        if is_reset && text.is_some() {
            self.finish(command);
            return Ok(Flow::same(&state.directories));
        }
        let Some(text) = text else {
            self.doubt(DoubtKind::Code, span);
            self.finish(command);
            state.invalidate();
            return Ok(Flow::same(&state.directories));
        };
        let at_exit_alone =
            signals.iter().all(|signal| matches!(signal.text().as_deref(), Some("EXIT" | "0")));
        self.finish(command);
        let mut inner = state.clone();
        inner.invalidate();
        if at_exit_alone {
            self.budget.steps(state.variable_count(), span)?;
            inner.take_variables(state, |name| self.is_set_for_good(name));
        }
        // Corrected at the end, if the text changes its directory anywhere.
        inner.directories = Arc::clone(&state.directories);
        let start = self.commands.len();
        let is_condition = std::mem::take(&mut self.is_condition);
        let input = std::mem::replace(&mut self.input, ShellInput::Unknown);
        self.inner_text(&text, &mut inner, span)?;
        self.traps.push(start..self.commands.len());
        self.input = input;
        self.is_condition = is_condition;
        if !at_exit_alone {
            state.invalidate();
        }
        Ok(Flow::same(&state.directories))
    }

    fn let_builtin(&mut self, command: &ShellCommand, state: &mut ShellState) -> ReadResult<()> {
        for word in command.words.iter().skip(1) {
            let Some(text) = word.text().filter(|_| !word.is_many()) else {
                self.doubt(DoubtKind::Arithmetic, command.span);
                state.invalidate();
                continue;
            };
            let node = crate::parse::arithmetic(
                &text,
                self.dialect,
                false,
                operand_span(command, word),
                self.budget,
            )?;
            self.arithmetic(&node, state)?;
        }
        Ok(())
    }

    /// Judges `test -v name`, in whose name bash runs substitutions.
    fn test(&mut self, command: &ShellCommand) -> ReadResult<()> {
        let mut words = command.words.iter().skip(1).peekable();
        while let Some(word) = words.next() {
            let is_variable = matches!(word.text().as_deref(), Some("-v" | "-R"));
            let next = words.peek().filter(|_| is_variable).map(|next| next.text());
            if let Some(name) = next.filter(|name| name.as_deref() != Some("]")) {
                self.tested_name(name.as_deref(), command.span)?;
            }
        }
        Ok(())
    }

    fn doubt_options(&mut self, command: &ShellCommand, flag: char) {
        self.doubt_options_as(command, flag, DoubtKind::Code);
    }

    /// Adds a doubt if an option with a flag is given, or may be given.
    fn doubt_options_as(&mut self, command: &ShellCommand, flag: char, kind: DoubtKind) {
        let may_be_option = |word: &ShellWord| {
            let text = word.text();
            match text {
                Some(text) => text.starts_with('-') && text.contains(flag),
                None => word.known_prefix().is_empty() || word.known_prefix().starts_with('-'),
            }
        };
        if command.words.iter().skip(1).any(may_be_option) {
            self.doubt(kind, command.span);
        }
    }
}
