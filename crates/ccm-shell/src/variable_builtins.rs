//! Builtins that set variables.

use std::borrow::Cow;

use crate::dialect::{ShellDialect, is_name};
use crate::follow::Follower;
use crate::reading::{DoubtKind, ShellAssignment, ShellCommand, ShellWord};
use crate::simple::operand_span;
use crate::state::ShellState;
use crate::unreadable::{ReadResult, UnreadableText};

/// Builtin that sets the variables its operands name, with all its options.
pub(crate) struct NamingBuiltin {
    /// Options without a value.
    flags: &'static str,
    /// Options with a value, which may be attached.
    valued: &'static str,
    /// Option whose value is the name of a list.
    list: Option<char>,
    /// Variable that is set if none is named.
    otherwise: &'static str,
}

pub(crate) const READ: NamingBuiltin =
    NamingBuiltin { flags: "ers", valued: "adinNptu", list: Some('a'), otherwise: "REPLY" };
pub(crate) const MAPFILE: NamingBuiltin =
    NamingBuiltin { flags: "t", valued: "dnOsuCc", list: None, otherwise: "MAPFILE" };

impl Follower<'_> {
    /// Refuses the name of a variable with a substitution in it, which bash runs; any other name is a doubt.
    pub(crate) fn not_a_name(
        &mut self,
        text: &str,
        command: &ShellCommand,
        word: &ShellWord,
    ) -> ReadResult<()> {
        if text.contains(['$', '`']) {
            let message = "bash runs the substitution in this name of a variable";
            return Err(UnreadableText::unsupported(operand_span(command, word), message));
        }
        if text.contains('[') {
            self.doubt(DoubtKind::VariableName, command.span);
        }
        Ok(())
    }

    /// Follows a builtin that sets the variables it names.
    pub(crate) fn names(
        &mut self,
        builtin: &NamingBuiltin,
        command: &mut ShellCommand,
        state: &mut ShellState,
    ) -> ReadResult<()> {
        let span = command.span;
        let mut names = Vec::new();
        let mut words = command.words.iter().skip(1);
        let mut has_options = true;
        while let Some(word) = words.next() {
            let Some(text) = word.text().filter(|_| !word.is_many()) else {
                self.doubt(DoubtKind::VariableName, span);
                state.invalidate();
                continue;
            };
            if has_options && text == "--" {
                has_options = false;
            } else if has_options && text.len() > 1 && text.starts_with('-') {
                let is_flag = |flag: &char| builtin.flags.contains(*flag);
                let Some((at, flag)) = text.char_indices().skip(1).find(|(_, flag)| !is_flag(flag)) else {
                    continue;
                };
                if !builtin.valued.contains(flag) {
                    self.doubt(DoubtKind::VariableName, span);
                    state.invalidate();
                }
                let attached = text.get(at + flag.len_utf8()..).unwrap_or_default();
                let value = if attached.is_empty() { words.next() } else { None };
                if Some(flag) == builtin.list {
                    let name = value.and_then(ShellWord::text);
                    names.push((name.unwrap_or_else(|| Cow::Owned(attached.to_owned())), word));
                }
            } else {
                has_options = false;
                names.push((text, word));
            }
        }
        let mut found: Vec<String> = Vec::new();
        for (name, word) in &names {
            if is_name(name) {
                found.push(name.clone().into_owned());
            } else if self.dialect == ShellDialect::Sh {
                let message = format!("`{name}` is no name of a variable in every shell");
                return Err(UnreadableText::ambiguous(operand_span(command, word), message));
            } else {
                self.not_a_name(name, command, word)?;
            }
        }
        if found.is_empty() {
            found.push(builtin.otherwise.to_owned());
        }
        for name in found {
            self.assigned_number(&name, None, span, state)?;
            state.set(&name, None, self.budget, span)?;
            command.assignments.push(ShellAssignment { name, value: None, span });
        }
        Ok(())
    }

    pub(crate) fn getopts(&mut self, command: &mut ShellCommand, state: &mut ShellState) -> ReadResult<()> {
        let span = command.span;
        match command.words.get(2).map(|word| (word, word.text().map(Cow::into_owned))) {
            None => {}
            Some((_, Some(name))) if is_name(&name) => {
                self.assigned_number(&name, None, span, state)?;
                state.set(&name, None, self.budget, span)?;
                command.assignments.push(ShellAssignment { name, value: None, span });
            }
            Some((word, Some(name))) => self.not_a_name(&name, command, word)?,
            Some(_) => self.doubt(DoubtKind::VariableName, span),
        }
        state.set("OPTARG", None, self.budget, span)?;
        state.set("OPTIND", None, self.budget, span)
    }

    pub(crate) fn unset(&mut self, command: &mut ShellCommand, state: &mut ShellState) -> ReadResult<()> {
        let span = command.span;
        let mut is_function = false;
        for word in command.words.iter().skip(1) {
            match word.text().filter(|_| !word.is_many()).map(Cow::into_owned) {
                None => {
                    self.doubt(DoubtKind::VariableName, span);
                    state.invalidate();
                }
                Some(text) if text == "-f" => is_function = true,
                Some(text) if text.starts_with('-') => is_function = false,
                Some(name) if is_function => state.undefine(&name),
                Some(name) if is_name(&name) => {
                    // Without a variable of the name, bash removes a function.
                    state.undefine(&name);
                    state.set(&name, None, self.budget, span)?;
                    command.assignments.push(ShellAssignment { name, value: None, span });
                }
                Some(name) => self.not_a_name(&name, command, word)?,
            }
        }
        Ok(())
    }

    pub(crate) fn printf(&mut self, command: &mut ShellCommand, state: &mut ShellState) -> ReadResult<()> {
        let span = command.span;
        let Some(first) = command.words.get(1) else { return Ok(()) };
        let option = first.text().filter(|_| !first.is_many());
        let is_variable = match option.as_deref() {
            None => {
                // The text may begin with an option.
                let prefix = first.known_prefix();
                if prefix.is_empty() && !first.pieces.is_empty() && self.dialect == ShellDialect::Bash {
                    self.doubt(DoubtKind::VariableName, span);
                }
                return Ok(());
            }
            Some(text) => text.starts_with("-v"),
        };
        if !is_variable {
            return Ok(());
        }
        if self.dialect == ShellDialect::Sh {
            let message = "`printf -v` has a meaning in bash alone";
            return Err(UnreadableText::ambiguous(span, message).with_hint("write `NAME=$(printf …)`"));
        }
        let attached = option.as_deref().and_then(|text| text.strip_prefix("-v")).unwrap_or_default();
        let (name, word) = if attached.is_empty() {
            let Some(word) = command.words.get(2) else { return Ok(()) };
            (word.text().filter(|_| !word.is_many()).map(Cow::into_owned), word)
        } else {
            (Some(attached.to_owned()), first)
        };
        match name {
            None => {
                self.doubt(DoubtKind::VariableName, span);
                state.invalidate();
            }
            Some(name) if is_name(&name) => {
                self.assigned_number(&name, None, span, state)?;
                state.set(&name, None, self.budget, span)?;
                command.assignments.push(ShellAssignment { name, value: None, span });
            }
            Some(name) => self.not_a_name(&name, command, word)?,
        }
        Ok(())
    }
}
