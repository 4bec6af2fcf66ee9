//! Grammar of `[[ … ]]`, which bash alone has.

use crate::lexer::{LexedKind, ShellOperator, TextParser};
use crate::tree::{ConditionalNode, WordNode};
use crate::unreadable::{ReadResult, UnreadableText};

/// Operators between two numbers.
const NUMERIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
/// Operators between two texts or files.
const BINARY: [&str; 7] = ["=", "==", "!=", "=~", "-nt", "-ot", "-ef"];
/// Operators before a word.
const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

impl TextParser<'_, '_> {
    /// Reads a condition behind `[[`, with its `]]`.
    pub(crate) fn conditional(&mut self, start: usize) -> ReadResult<ConditionalNode> {
        let mut node = ConditionalNode::default();
        self.any_condition(&mut node, start)?;
        let token = self.next()?;
        match &token.kind {
            LexedKind::Word(word) if word.bare() == Some("]]") => Ok(node),
            LexedKind::End => {
                Err(UnreadableText::syntax(self.span(start, start + 2), "this `[[` is not closed"))
            }
            _ => {
                let span = self.span(token.start, token.end);
                Err(UnreadableText::unsupported(span, "this condition can't be read here"))
            }
        }
    }

    fn any_condition(&mut self, node: &mut ConditionalNode, start: usize) -> ReadResult<()> {
        loop {
            self.one_condition(node, start)?;
            self.line_ends()?;
            if !self.take(ShellOperator::And)? && !self.take(ShellOperator::Or)? {
                return Ok(());
            }
        }
    }

    fn one_condition(&mut self, node: &mut ConditionalNode, start: usize) -> ReadResult<()> {
        self.line_ends()?;
        if self.take(ShellOperator::Open)? {
            let span = self.span(start, self.at);
            return self.depth(span, |parser| {
                parser.any_condition(node, start)?;
                if parser.take(ShellOperator::Close)? { Ok(()) } else { Err(parser.unexpected()?) }
            });
        }
        let first = self.condition_word()?;
        if first.bare() == Some("!") {
            let span = first.span;
            return self.depth(span, |parser| parser.one_condition(node, start));
        }
        if let Some(operator) = unary(&first) {
            // A binary operator behind makes the first word an operand; bash looks at the word behind as well.
            if matches!(self.peek()?.kind, LexedKind::Word(_)) && !self.is_condition_end()? {
                let operand = self.condition_word()?;
                if operator == b'v' || operator == b'R' {
                    node.names.push(operand);
                } else {
                    node.operands.push(operand);
                }
                return Ok(());
            }
        }
        match &self.peek()?.kind {
            LexedKind::Operator(ShellOperator::Less | ShellOperator::Greater) => {
                self.next()?;
                let second = self.condition_word()?;
                node.operands.extend([first, second]);
            }
            LexedKind::Word(word) if word.bare().is_some_and(|text| BINARY.contains(&text)) => {
                self.next()?;
                let second = self.condition_word()?;
                node.operands.extend([first, second]);
            }
            LexedKind::Word(word) if word.bare().is_some_and(|text| NUMERIC.contains(&text)) => {
                self.next()?;
                let second = self.condition_word()?;
                node.numbers.extend([first, second]);
            }
            _ => node.operands.push(first),
        }
        Ok(())
    }

    fn is_condition_end(&mut self) -> ReadResult<bool> {
        Ok(matches!(&self.peek()?.kind, LexedKind::Word(word) if word.bare() == Some("]]")))
    }

    fn condition_word(&mut self) -> ReadResult<WordNode> {
        let token = self.next()?;
        let span = self.span(token.start, token.end);
        match token.kind {
            LexedKind::Word(word) if word.bare() != Some("]]") => {
                if self.byte(0) == Some(b'(') || self.byte(0) == Some(b'|') && self.byte(1) != Some(b'|') {
                    let message = "a pattern with parentheses can't be read here";
                    return Err(UnreadableText::unsupported(span, message)
                        .with_hint("set a variable to the pattern first"));
                }
                Ok(word)
            }
            LexedKind::End => Err(UnreadableText::syntax(span, "this `[[` is not closed")),
            _ => Err(UnreadableText::unsupported(span, "this condition can't be read here")),
        }
    }
}

fn unary(word: &WordNode) -> Option<u8> {
    match word.bare()?.as_bytes() {
        [b'-', operator] if UNARY.as_bytes().contains(operator) => Some(*operator),
        _ => None,
    }
}
