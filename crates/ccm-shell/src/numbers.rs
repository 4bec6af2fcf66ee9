//! Arithmetic and conditions: bash evaluates the values of variables in them, and runs substitutions in the values.

use std::ops::Range;
use std::rc::Rc;

use crate::dialect::ShellDialect;
use crate::follow::Follower;
use crate::reading::{DoubtKind, ShellDoubt, ShellWord};
use crate::simple::printed;
use crate::span::ShellSpan;
use crate::state::{ShellState, VariableValue, is_integer};
use crate::tree::{ArithmeticNode, ArithmeticToken, ConditionalNode, ParameterOperation, WordPart};
use crate::unreadable::{ReadResult, UnreadableText};

impl Follower<'_> {
    /// Follows an expression. A value that may be anything but a number is a doubt.
    pub(crate) fn arithmetic(&mut self, node: &ArithmeticNode, state: &mut ShellState) -> ReadResult<()> {
        for token in &node.tokens {
            match token {
                ArithmeticToken::Name { name, is_read, is_assigned } => {
                    let value = state.variable(name);
                    let was_number = value.as_ref().is_some_and(VariableValue::is_number);
                    if *is_read && !was_number && !self.is_always_number(name) {
                        self.evaluated(value.as_ref(), node.span, state)?;
                    }
                    if *is_assigned {
                        let is_number = was_number || !node.is_conditional;
                        let value = is_number.then_some(VariableValue::Number);
                        state.set(name, value, self.budget, node.span)?;
                    }
                }
                ArithmeticToken::Expansion(part) => self.arithmetic_part(part, node, state)?,
            }
        }
        Ok(())
    }

    /// Follows a value that bash evaluates as an expression of its own, in whose subscripts it runs commands.
    fn evaluated(
        &mut self,
        value: Option<&VariableValue>,
        span: ShellSpan,
        state: &mut ShellState,
    ) -> ReadResult<()> {
        match value {
            Some(VariableValue::Text(text)) => self.evaluated_text(text, span, state),
            Some(VariableValue::Listed(words)) => {
                words.iter().try_for_each(|word| self.evaluated_word(word, span, state))
            }
            Some(VariableValue::Number) => Ok(()),
            Some(VariableValue::Printed(range)) => {
                self.doubt_output(range.clone(), span);
                Ok(())
            }
            None => {
                self.doubt(DoubtKind::Arithmetic, span);
                Ok(())
            }
        }
    }

    pub(crate) fn evaluated_word(
        &mut self,
        word: &ShellWord,
        span: ShellSpan,
        state: &mut ShellState,
    ) -> ReadResult<()> {
        match word.text() {
            Some(text) => self.evaluated_text(&text, span, state),
            None if is_number(word) => Ok(()),
            None => {
                match printed(word) {
                    Some(range) => self.doubt_output(range, span),
                    None => self.doubt(DoubtKind::Arithmetic, span),
                }
                Ok(())
            }
        }
    }

    fn evaluated_text(&mut self, text: &str, span: ShellSpan, state: &mut ShellState) -> ReadResult<()> {
        if text.is_empty() || is_integer(text) {
            return Ok(());
        }
        self.budget.enter(span)?;
        match crate::parse::arithmetic(text, self.dialect, true, span, self.budget) {
            Ok(node) => self.arithmetic(&node, state)?,
            Err(error) if text.contains(['[', '$', '`']) => return Err(error),
            Err(_) => self.doubt(DoubtKind::Arithmetic, span),
        }
        self.budget.leave();
        Ok(())
    }

    fn arithmetic_part(
        &mut self,
        part: &WordPart,
        node: &ArithmeticNode,
        state: &mut ShellState,
    ) -> ReadResult<()> {
        let is_known = match part {
            WordPart::Arithmetic(node) => {
                let node = Rc::clone(node);
                self.budget.enter(node.span)?;
                self.arithmetic(&node, state)?;
                self.budget.leave();
                true
            }
            WordPart::Parameter(parameter) => {
                let word = crate::tree::WordNode {
                    parts: vec![part.clone()],
                    span: parameter.span,
                    ..crate::tree::WordNode::default()
                };
                let value = self.single(&word, state)?;
                let is_value = matches!(parameter.operation, ParameterOperation::Value);
                if !is_value || !self.is_always_number(&parameter.name) && parameter.name != "!" {
                    self.evaluated_word(&value, node.span, state)?;
                }
                true
            }
            WordPart::Substitution { list, .. } => {
                let list = Rc::clone(list);
                let range = self.inner(&list, state, None)?;
                self.doubt_output(range, node.span);
                true
            }
            _ => false,
        };
        if !is_known {
            self.doubt(DoubtKind::Arithmetic, node.span);
        }
        Ok(())
    }

    /// Adds the doubt that the output of commands may be more than a number.
    fn doubt_output(&mut self, range: Range<usize>, span: ShellSpan) {
        let doubt = ShellDoubt { kind: DoubtKind::Arithmetic, output: Some(range), span };
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    /// Returns `true` for variables that bash sets to numbers itself, unless the text sets them.
    fn is_always_number(&self, name: &str) -> bool {
        self.dialect == ShellDialect::Bash
            && matches!(name, "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID")
            && !self.may_set(name)
    }

    /// Judges an assignment to a variable whose value bash evaluates as an expression, such as `RANDOM`. `None` for a value
    /// that is not written.
    pub(crate) fn assigned_number(
        &mut self,
        name: &str,
        value: Option<&ShellWord>,
        span: ShellSpan,
        state: &mut ShellState,
    ) -> ReadResult<()> {
        match value {
            _ if !is_integer_variable(name) => Ok(()),
            Some(value) => self.evaluated_word(value, span, state),
            None => {
                self.doubt(DoubtKind::Arithmetic, span);
                Ok(())
            }
        }
    }

    /// Follows `[[ … ]]`.
    pub(crate) fn conditional(&mut self, node: &ConditionalNode, state: &mut ShellState) -> ReadResult<()> {
        for word in &node.operands {
            self.single(word, state)?;
        }
        for word in &node.numbers {
            let value = self.single(word, state)?;
            self.evaluated_word(&value, word.span, state)?;
        }
        for word in &node.names {
            let value = self.single(word, state)?;
            self.tested_name(value.text().as_deref(), word.span)?;
        }
        Ok(())
    }
}

impl Follower<'_> {
    /// Judges the name of a variable that is asked for, `test -v name`: bash evaluates a subscript in it.
    pub(crate) fn tested_name(&mut self, name: Option<&str>, span: ShellSpan) -> ReadResult<()> {
        match name {
            Some(name) if crate::dialect::is_name(name) => {}
            Some(name) if name.contains(['$', '`']) => {
                let message = "bash runs the substitution in this name of a variable";
                return Err(UnreadableText::unsupported(span, message));
            }
            _ => self.doubt(DoubtKind::VariableName, span),
        }
        Ok(())
    }
}

/// Variables of bash whose values are integers, so that whatever is assigned is evaluated.
const INTEGER_VARIABLES: [&str; 12] = [
    "BASHPID",
    "BASH_MONOSECONDS",
    "BASH_SUBSHELL",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "HISTCMD",
    "LINENO",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
];

/// Returns `true` for a variable of bash to which expressions are assigned.
pub(crate) fn is_integer_variable(name: &str) -> bool {
    INTEGER_VARIABLES.contains(&name)
}

/// Returns `true` for a word that is a number, known or not.
pub(crate) fn is_number(word: &ShellWord) -> bool {
    use crate::reading::{UnknownOrigin, WordPiece};
    match &*word.pieces {
        [WordPiece::Unknown { origin: UnknownOrigin::Number, .. }] => true,
        [WordPiece::Text { text: empty, .. }, WordPiece::Unknown { origin: UnknownOrigin::Number, .. }] => {
            empty.is_empty()
        }
        _ => word.text().is_some_and(|text| is_integer(&text)),
    }
}
