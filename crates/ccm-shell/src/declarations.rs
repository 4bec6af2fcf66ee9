//! Declarations: `export`, `readonly`, `local`, `declare` and `typeset`.

use crate::ShellSpan;
use crate::dialect::is_name;
use crate::follow::Follower;
use crate::reading::{DoubtKind, ShellAssignment, ShellCommand, ShellWord, WordPiece};
use crate::simple::operand_span;
use crate::state::{ShellState, VariableValue};
use crate::unreadable::{ReadResult, UnreadableText};

/// Attributes that a declaration gives to the variables it names.
struct Attributes {
    /// Assignments may fail from now on.
    is_fixed: bool,
    /// Programs get the variable.
    is_passed_on: bool,
    /// The value may be another one than what is written, now or after later assignments.
    changes_value: bool,
    /// Each value is evaluated as an expression.
    is_integer: bool,
    /// The declaration itself may fail, or set another variable of the name.
    may_set_another: bool,
}

impl Attributes {
    fn of(builtin: &str, is_in_function: bool) -> Self {
        Self {
            is_fixed: builtin == "readonly",
            is_passed_on: builtin == "export",
            changes_value: false,
            is_integer: false,
            // Outside a function, `local` is an error in bash.
            may_set_another: builtin == "local" && !is_in_function,
        }
    }

    fn add(&mut self, builtin: &str, text: &str, is_in_function: bool) {
        let flags = text.get(1..).unwrap_or_default();
        self.is_passed_on |= flags.contains('x') && text.starts_with('-');
        self.is_passed_on &= !flags.contains('f');
        self.is_fixed |= flags.contains('r') && builtin != "export";
        self.changes_value |= flags.contains(['l', 'u', 'c', 'i', 'n']);
        self.is_integer |= flags.contains('i') && text.starts_with('-');
        self.may_set_another |= flags.contains('g') && is_in_function;
    }
}

impl Follower<'_> {
    /// Follows `export name=value` and its like.
    pub(crate) fn declare(
        &mut self,
        builtin: &str,
        command: &mut ShellCommand,
        state: &mut ShellState,
    ) -> ReadResult<()> {
        let span = command.span;
        let is_in_function = self.is_in_function();
        let mut attributes = Attributes::of(builtin, is_in_function);
        let mut assignments = Vec::new();
        for word in command.words.iter().skip(1) {
            let Some(text) = word.text().filter(|_| !word.is_many()) else {
                assignments.extend(self.declare_unknown(word, &attributes, state, span)?);
                continue;
            };
            if text.starts_with(['-', '+']) {
                self.declaration_flags(builtin, &text, span);
                attributes.add(builtin, &text, is_in_function);
                continue;
            }
            let (name, value) =
                text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
            let appends = value.is_some() && name.ends_with('+');
            let name = if appends { name.trim_end_matches('+') } else { name };
            if !is_name(name) {
                self.not_a_name(&text, command, word)?;
                continue;
            }
            if matches!(name, "BASH_ALIASES" | "BASH_CMDS") {
                let message = format!("`{name}` gives names of commands another meaning");
                return Err(UnreadableText::unsupported(operand_span(command, word), message));
            }
            if value.is_some() && attributes.is_integer {
                self.evaluated_word(&after_equals(word), span, state)?;
            } else if value.is_some() {
                self.assigned_number(name, Some(&after_equals(word)), span, state)?;
            }
            let is_list = value.is_some_and(|value| value.starts_with('('));
            if is_list {
                self.quoted_list(&text, command, word)?;
            }
            let known = match value {
                _ if attributes.may_set_another || attributes.changes_value || appends || is_list => None,
                Some(value) => Some(VariableValue::Text(value.to_owned())),
                // The declaration of a local variable takes its value away.
                None if is_in_function && !matches!(builtin, "export" | "readonly") => None,
                None => state.variable(name),
            };
            if value.is_some() || known.is_none() {
                state.set(name, known.clone(), self.budget, span)?;
            }
            if attributes.is_fixed || attributes.changes_value {
                state.fix(name, self.budget, span)?;
            }
            if value.is_some() || attributes.is_passed_on {
                let value = match known {
                    Some(_) if value.is_some() => Some(after_equals(word)),
                    Some(VariableValue::Text(text)) => Some(ShellWord::known(text, span)),
                    _ => None,
                };
                assignments.push(ShellAssignment { name: name.to_owned(), value, span });
            }
        }
        command.assignments.append(&mut assignments);
        Ok(())
    }

    /// Follows an operand that is not known as a whole.
    fn declare_unknown(
        &mut self,
        word: &ShellWord,
        attributes: &Attributes,
        state: &mut ShellState,
        span: ShellSpan,
    ) -> ReadResult<Option<ShellAssignment>> {
        let prefix = word.known_prefix();
        let name = prefix.split_once('=').map(|(name, _)| name).filter(|name| is_name(name));
        let Some(name) = name.filter(|_| is_written_assignment(word)).map(str::to_owned) else {
            self.doubt(DoubtKind::VariableName, span);
            state.invalidate();
            return Ok(None);
        };
        self.assigned_number(&name, Some(&after_equals(word)), span, state)?;
        state.set(&name, None, self.budget, span)?;
        if attributes.is_fixed || attributes.changes_value {
            state.fix(&name, self.budget, span)?;
        }
        Ok(Some(ShellAssignment { name, value: Some(after_equals(word)), span }))
    }

    /// Judges a list in quotes, `declare -a 'name=(…)'`, whose elements bash expands once more.
    fn quoted_list(&mut self, text: &str, command: &ShellCommand, word: &ShellWord) -> ReadResult<()> {
        if text.contains(['$', '`', '<', '>']) {
            let message = "bash expands the elements of this quoted list";
            return Err(UnreadableText::unsupported(operand_span(command, word), message)
                .with_hint("write the list without quotes around it"));
        }
        if text.contains('[') {
            self.doubt(DoubtKind::VariableName, command.span);
        }
        Ok(())
    }

    fn declaration_flags(&mut self, builtin: &str, text: &str, span: ShellSpan) {
        for flag in text.chars().skip(1) {
            match flag {
                'f' if builtin == "export" => self.doubt(DoubtKind::ExportedFunction, span),
                'x' | 'r' | 'p' | 'g' | 'l' | 'u' | 'a' | 'A' | 'F' | 'f' | 'I' | 't' => {}
                'i' => self.doubt(DoubtKind::Arithmetic, span),
                _ => self.doubt(DoubtKind::VariableName, span),
            }
        }
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
