//! Arithmetic and conditions: bash evaluates the values of variables in them, and runs substitutions in the values.

use std::rc::Rc;

use crate::dialect::ShellDialect;
use crate::follow::Follower;
use crate::reading::{DoubtKind, ShellWord};
use crate::state::{ShellState, VariableValue};
use crate::tree::{ArithmeticNode, ArithmeticToken, ConditionalNode, ParameterOperation, WordPart};
use crate::unreadable::ReadResult;

impl Follower<'_> {
    /// Follows an expression. A value that may be anything but a number is a doubt.
    pub(crate) fn arithmetic(&mut self, node: &ArithmeticNode, state: &mut ShellState) -> ReadResult<()> {
        for token in &node.tokens {
            match token {
                ArithmeticToken::Name { name, is_read, is_assigned } => {
                    let was_number = state.variable(name).is_some_and(|value| value.is_number());
                    if *is_read && !was_number && !self.is_always_number(name) {
                        self.doubt(DoubtKind::Arithmetic, node.span);
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

    fn arithmetic_part(
        &mut self,
        part: &WordPart,
        node: &ArithmeticNode,
        state: &mut ShellState,
    ) -> ReadResult<()> {
        let is_number = match part {
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
                is_number(&value)
                    || matches!(parameter.operation, ParameterOperation::Value)
                        && (self.is_always_number(&parameter.name) || parameter.name == "!")
            }
            WordPart::Substitution { list, .. } => {
                let list = Rc::clone(list);
                self.inner(&list, state, None)?;
                false
            }
            _ => false,
        };
        if !is_number {
            self.doubt(DoubtKind::Arithmetic, node.span);
        }
        Ok(())
    }

    /// Returns `true` for variables that bash sets to numbers itself, unless the text sets them.
    fn is_always_number(&self, name: &str) -> bool {
        self.dialect == ShellDialect::Bash
            && matches!(name, "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID")
            && !self.may_set(name)
    }

    /// Follows `[[ … ]]`.
    pub(crate) fn conditional(&mut self, node: &ConditionalNode, state: &mut ShellState) -> ReadResult<()> {
        for word in &node.operands {
            self.single(word, state)?;
        }
        for word in &node.numbers {
            let value = self.single(word, state)?;
            if !is_number(&value) {
                self.doubt(DoubtKind::Arithmetic, word.span);
            }
        }
        for word in &node.names {
            let value = self.single(word, state)?;
            if !value.text().is_some_and(|name| crate::dialect::is_name(&name)) {
                self.doubt(DoubtKind::VariableName, word.span);
            }
        }
        Ok(())
    }
}

/// Returns `true` for a word that is a number, known or not.
pub(crate) fn is_number(word: &ShellWord) -> bool {
    use crate::reading::{UnknownOrigin, WordPiece};
    match &*word.pieces {
        [WordPiece::Unknown { origin: UnknownOrigin::Number, .. }] => true,
        [WordPiece::Text { text: empty, .. }, WordPiece::Unknown { origin: UnknownOrigin::Number, .. }] => {
            empty.is_empty()
        }
        _ => word.text().is_some_and(|text| crate::state::is_integer(&text)),
    }
}
