//! Builtins that set variables.

use std::borrow::Cow;

use crate::dialect::{ShellDialect, is_name};
use crate::follow::Follower;
use crate::reading::{DoubtKind, ShellAssignment, ShellCommand, ShellWord, WordPiece};
use crate::simple::operand_span;
use crate::state::{ShellState, VariableValue};
use crate::unreadable::{ReadResult, UnreadableText};

impl Follower<'_> {
    /// Follows `export name=value` and its like.
    pub(crate) fn declare(
        &mut self,
        name: &str,
        command: &mut ShellCommand,
        state: &mut ShellState,
    ) -> ReadResult<()> {
        let span = command.span;
        let mut assignments = Vec::new();
        // Outside a function, `local` is an error in bash.
        let may_fail = name == "local" && !self.is_in_function();
        let mut is_fixed = name == "readonly";
        let mut is_passed_on = name == "export";
        let builtin = name;
        for word in command.words.iter().skip(1) {
            let Some(text) = word.text().filter(|_| !word.is_many()) else {
                let prefix = word.known_prefix();
                match prefix.split_once('=').filter(|(name, _)| is_name(name)) {
                    Some((name, _)) if is_written_assignment(word) => {
                        state.set(name, None, self.budget, span)?;
                        if is_fixed {
                            state.fix(name, self.budget, span)?;
                        }
                        let name = name.to_owned();
                        assignments.push(ShellAssignment { name, value: Some(after_equals(word)), span });
                    }
                    _ => {
                        self.doubt(DoubtKind::VariableName, span);
                        state.invalidate();
                    }
                }
                continue;
            };
            if let Some(flags) = text.strip_prefix(['-', '+']) {
                self.declaration_flags(name, flags, command.span);
                is_passed_on |= flags.contains('x') && text.starts_with('-');
                is_passed_on &= !flags.contains('f');
                is_fixed |= flags.contains('r') && builtin != "export";
                continue;
            }
            let (name, value) =
                text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
            let name = name.strip_suffix('+').unwrap_or(name);
            if !is_name(name) || value.is_some_and(|value| value.starts_with('(')) {
                self.not_a_name(&text, command, word)?;
                continue;
            }
            let Some(value) = value else {
                if is_fixed {
                    state.fix(name, self.budget, span)?;
                }
                if is_passed_on {
                    let value = match state.variable(name) {
                        Some(VariableValue::Text(text)) => Some(ShellWord::known(text, span)),
                        _ => None,
                    };
                    assignments.push(ShellAssignment { name: name.to_owned(), value, span });
                }
                continue;
            };
            let appends = text.split_once('=').is_some_and(|(name, _)| name.ends_with('+'));
            let known = (!appends && !may_fail).then(|| VariableValue::Text(value.to_owned()));
            state.set(name, known, self.budget, span)?;
            if is_fixed {
                state.fix(name, self.budget, span)?;
            }
            let value = (!appends).then(|| after_equals(word));
            assignments.push(ShellAssignment { name: name.to_owned(), value, span });
        }
        command.assignments.append(&mut assignments);
        Ok(())
    }

    fn declaration_flags(&mut self, name: &str, flags: &str, span: crate::ShellSpan) {
        for flag in flags.chars() {
            match flag {
                'f' if name == "export" => self.doubt(DoubtKind::ExportedFunction, span),
                'x' | 'r' | 'p' | 'g' | 'l' | 'u' | 'a' | 'A' | 'F' | 'f' | 'I' | 't' => {}
                'i' => self.doubt(DoubtKind::Arithmetic, span),
                _ => self.doubt(DoubtKind::VariableName, span),
            }
        }
    }

    /// Refuses the name of a variable with a substitution in it, which bash runs; any other name is a doubt.
    fn not_a_name(&mut self, text: &str, command: &ShellCommand, word: &ShellWord) -> ReadResult<()> {
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
        command: &mut ShellCommand,
        state: &mut ShellState,
        valued: &str,
        otherwise: &[&str],
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
                let with_value =
                    text.char_indices().skip(1).find(|(_, flag)| valued.contains(*flag) || *flag == 'a');
                if let Some((at, flag)) = with_value {
                    let attached = text.get(at + 1..).unwrap_or_default();
                    let value = if attached.is_empty() { words.next() } else { None };
                    if flag == 'a' {
                        names.push((
                            value
                                .and_then(ShellWord::text)
                                .unwrap_or_else(|| Cow::Owned(attached.to_owned())),
                            word,
                        ));
                    }
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
            found.extend(otherwise.iter().map(|&name| name.to_owned()));
        }
        for name in found {
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
                state.set(&name, None, self.budget, span)?;
                command.assignments.push(ShellAssignment { name, value: None, span });
            }
            Some(name) => self.not_a_name(&name, command, word)?,
        }
        Ok(())
    }
}

/// Returns `true` for a word whose name and `=` are written without quotes or expansions.
fn is_written_assignment(word: &ShellWord) -> bool {
    matches!(word.pieces.first(), Some(WordPiece::Text { text, is_quoted: false }) if text.contains('='))
}

fn after_equals(word: &ShellWord) -> ShellWord {
    let mut pieces = word.pieces.clone();
    if let Some(WordPiece::Text { text, .. }) = pieces.first_mut() {
        *text = text.split_once('=').map_or_else(String::new, |(_, value)| value.to_owned());
    }
    ShellWord { pieces, span: word.span }
}
