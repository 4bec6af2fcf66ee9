//! Parser: operators by precedence, each node with its static type.

mod calls;
mod postfix;
mod primary;
mod rules;

use std::ops::Range;

use crate::Value;
use crate::error::{Cause, Error, ExprResult};
use crate::lexer::{Lexer, Token, TokenKind};
use crate::limits;
use crate::scope::ParseContext;
use crate::static_type::{Base, StaticType};
use crate::tree::{ChildRange, ExprNode, NodeId, NodeKind, Operator, Prefix, SyntaxTree, TextSpan};

/// Parsed node.
#[derive(Clone, Copy)]
struct Operand {
    node: NodeId,
    static_type: StaticType,
    depth: u16,
}

/// Meaning of `#`, `#index` and `#acc` in the current predicate.
struct PredicateScope {
    collection: StaticType,
    index: bool,
    accumulator: bool,
}

struct Variable {
    name: TextSpan,
    static_type: StaticType,
}

pub(crate) struct Parser<'t, 'k> {
    text: &'t str,
    lexer: Lexer<'t>,
    current: Token,
    context: &'k ParseContext<'k>,
    nodes: Vec<ExprNode>,
    children: Vec<NodeId>,
    predicates: Vec<PredicateScope>,
    variables: Vec<Variable>,
    slots: u32,
    depth: u16,
}

/// Precedence of a whole expression, below every operator.
const LOOSEST: u8 = 0;
const NOT: u8 = 50;
const SIGN: u8 = 90;

/// Returns the operator of a token with its precedence. Only the power binds to the right.
fn operator(kind: TokenKind) -> Option<(Operator, u8)> {
    let TokenKind::Operator(operator) = kind else { return None };
    let precedence = match operator {
        Operator::Or => 10,
        Operator::And => 15,
        Operator::Range => 25,
        Operator::Add | Operator::Subtract => 30,
        Operator::Multiply | Operator::Divide | Operator::Modulo => 60,
        Operator::Power => 100,
        Operator::Coalesce => 200,
        // Comparisons and tests.
        _ => 20,
    };
    Some((operator, precedence))
}

pub(crate) fn parse(text: &str, context: &ParseContext<'_>) -> ExprResult<SyntaxTree> {
    if text.len() > limits::MAX_TEXT {
        let message = format!("this expression is longer than {} bytes", limits::MAX_TEXT);
        return Err(Error::syntax(0..0, message).with_cause(Cause::Limit));
    }
    let mut lexer = Lexer::new(text);
    let current = lexer.next()?;
    let mut parser = Parser {
        text,
        lexer,
        current,
        context,
        nodes: Vec::with_capacity(8),
        children: Vec::new(),
        predicates: Vec::new(),
        variables: Vec::new(),
        slots: 0,
        depth: 0,
    };
    let root = parser.sequence()?.node;
    if parser.current.kind != TokenKind::End {
        return Err(parser.unexpected("an operator or the end"));
    }
    let Parser { nodes, children, slots, .. } = parser;
    Ok(SyntaxTree { text: text.into(), nodes, children, root, slots })
}

impl<'t> Parser<'t, '_> {
    fn advance(&mut self) -> ExprResult<Token> {
        let token = self.current;
        self.current = self.lexer.next()?;
        Ok(token)
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.current.kind == kind
    }

    fn take(&mut self, kind: TokenKind) -> ExprResult<bool> {
        let there = self.at(kind);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    fn expect(&mut self, kind: TokenKind, name: &str) -> ExprResult<Token> {
        if self.at(kind) { self.advance() } else { Err(self.unexpected(name)) }
    }

    fn unexpected(&self, expected: &str) -> Box<Error> {
        let range = self.current.range();
        // A text may be a secret; a name or an operator is not.
        let found = match self.current.kind {
            TokenKind::End => "the end of the expression",
            TokenKind::Text | TokenKind::RawText => "text",
            TokenKind::Bytes => "bytes",
            TokenKind::Number => "a number",
            _ => &format!("`{}`", &self.text[range.clone()]),
        };
        let error = Error::syntax(range, format!("expected {expected}, found {found}"));
        match self.current.kind {
            TokenKind::Assign if self.text[self.current.range().end..].starts_with('~') => {
                error.with_hint("write `matches` to compare with a regular expression")
            }
            TokenKind::Bang if self.text[self.current.range().end..].starts_with('~') => {
                error.with_hint("write `not matches` to compare with a regular expression")
            }
            TokenKind::Assign => error.with_hint("compare values with `==`; `=` belongs to `let`"),
            TokenKind::Hash | TokenKind::Dot => {
                error.with_hint("use `#` and `.name` only in predicates of functions like filter()")
            }
            // The lexer reads `list.0` as a name and the number `.0`.
            TokenKind::Number if self.text[self.current.range()].starts_with('.') => {
                let number = &self.text[self.current.range()][1..];
                error.with_hint(format!("write an index in brackets: `[{number}]`"))
            }
            TokenKind::Name => error.did_you_mean(
                &self.text[self.current.range()],
                ["and", "or", "in", "not", "matches", "contains", "startsWith", "endsWith"],
            ),
            _ => error,
        }
    }

    fn slice(&self, span: TextSpan) -> &'t str {
        &self.text[span.range()]
    }

    fn range_of(&self, node: NodeId) -> Range<usize> {
        self.nodes[node as usize].span.range()
    }

    fn push(
        &mut self,
        kind: NodeKind,
        span: TextSpan,
        static_type: impl Into<StaticType>,
        depth: u16,
    ) -> ExprResult<Operand> {
        if depth >= limits::MAX_DEPTH {
            return Err(too_deep(span.range()));
        }
        #[allow(clippy::cast_possible_truncation, reason = "there are fewer nodes than bytes of text")]
        let node = self.nodes.len() as NodeId;
        self.nodes.push(ExprNode { kind, span });
        Ok(Operand { node, static_type: static_type.into(), depth })
    }

    fn span(&self, from: NodeId, to: NodeId) -> TextSpan {
        TextSpan { start: self.nodes[from as usize].span.start, end: self.nodes[to as usize].span.end }
    }

    fn adopt(&mut self, nodes: &[Operand]) -> ChildRange {
        #[allow(clippy::cast_possible_truncation, reason = "there are fewer children than bytes of text")]
        let start = self.children.len() as u32;
        self.children.extend(nodes.iter().map(|operand| operand.node));
        #[allow(clippy::cast_possible_truncation, reason = "there are fewer children than bytes of text")]
        ChildRange { start, end: self.children.len() as u32 }
    }

    /// Parses expressions separated by `;`; the last one is the value.
    fn sequence(&mut self) -> ExprResult<Operand> {
        let first = self.expression(LOOSEST)?;
        if !self.at(TokenKind::Semicolon) {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take(TokenKind::Semicolon)? {
            if self.at(TokenKind::End) {
                break;
            }
            all.push(self.expression(LOOSEST)?);
        }
        let last = all[all.len() - 1];
        let children = self.adopt(&all);
        let span = self.span(first.node, last.node);
        self.push(NodeKind::Sequence(children), span, last.static_type, deepest(&all) + 1)
    }

    /// Parses an expression whose operators bind at least as tightly as `precedence`.
    fn expression(&mut self, precedence: u8) -> ExprResult<Operand> {
        if self.depth >= limits::MAX_DEPTH {
            return Err(too_deep(self.current.range()));
        }
        self.depth += 1;
        let read = match self.current.kind {
            TokenKind::Let if precedence == LOOSEST => self.variable(),
            TokenKind::If if precedence == LOOSEST => self.branches(),
            _ => self.operators(precedence),
        };
        self.depth -= 1;
        read
    }

    fn operators(&mut self, precedence: u8) -> ExprResult<Operand> {
        let mut left = self.primary()?;
        let mut after_coalesce = false;
        loop {
            let token = self.current;
            if token.kind == TokenKind::Pipe && precedence == LOOSEST {
                self.advance()?;
                let name = self.expect(TokenKind::Name, "the name of a function")?;
                left = self.call(name, Some(left), false)?;
                after_coalesce = false;
                continue;
            }
            let negated = token.kind == TokenKind::Not;
            let token = if negated { self.negated_operator()? } else { token };
            let Some((operator, binding)) =
                operator(token.kind).filter(|(_, binding)| *binding >= precedence)
            else {
                break;
            };
            if negated {
                self.advance()?;
            }
            self.advance()?;
            if after_coalesce && operator != Operator::Coalesce {
                let sign = &self.text[token.range()];
                return Err(Error::syntax(token.range(), format!("`??` and `{sign}` can't be mixed"))
                    .with_hint("put parentheses around one of them"));
            }
            after_coalesce = operator == Operator::Coalesce;
            left = if operator.is_order() {
                self.comparison(left, token, operator, binding)?
            } else {
                let right = self.expression(binding + u8::from(operator != Operator::Power))?;
                self.binary(operator, token, left, right)?
            };
            if negated {
                let span = self.nodes[left.node as usize].span;
                left =
                    self.push(NodeKind::Prefix(Prefix::Not, left.node), span, Base::Bool, left.depth + 1)?;
            }
        }
        if precedence == LOOSEST { self.ternary(left) } else { Ok(left) }
    }

    /// Peeks at the operator after an infix `not`.
    fn negated_operator(&self) -> ExprResult<Token> {
        let mut ahead = self.lexer;
        let token = ahead.next()?;
        match token.kind {
            TokenKind::Operator(
                Operator::In
                | Operator::Matches
                | Operator::Contains
                | Operator::StartsWith
                | Operator::EndsWith,
            ) => Ok(token),
            _ => Err(Error::syntax(self.current.range(), "expected an operator, found `not`")
                .with_hint("write `not in`, `not contains`, `not startsWith` or similar between two values")),
        }
    }

    /// Parses `a < b < c`, which means `a < b && b < c`.
    fn comparison(
        &mut self,
        mut left: Operand,
        mut token: Token,
        mut operator: Operator,
        binding: u8,
    ) -> ExprResult<Operand> {
        let mut all = None;
        loop {
            let right = self.expression(binding + 1)?;
            let one = self.binary(operator, token, left, right)?;
            let joined = match all {
                None => one,
                Some(earlier) => self.binary(Operator::And, token, earlier, one)?,
            };
            match self::operator(self.current.kind) {
                Some((next, _)) if next.is_order() => operator = next,
                _ => return Ok(joined),
            }
            all = Some(joined);
            left = right;
            token = self.advance()?;
        }
    }

    /// Joins two operands; operations between constants are evaluated at once.
    fn binary(
        &mut self,
        operator: Operator,
        token: Token,
        left: Operand,
        right: Operand,
    ) -> ExprResult<Operand> {
        let static_type = self.check_binary(operator, token, left, right)?;
        let span = self.span(left.node, right.node);
        if let Some(value) = self.fold(operator, token, left, right)? {
            return self.push(NodeKind::Constant(value), span, static_type, 1);
        }
        // The evaluator walks a chain of operators in a loop, so that only the right operand adds depth.
        let chained = matches!(self.nodes[left.node as usize].kind, NodeKind::Binary(..));
        let depth = (left.depth + u16::from(!chained)).max(right.depth + 1);
        if operator == Operator::Coalesce {
            self.make_lenient(left.node);
        }
        if operator == Operator::Matches
            && let Some(pattern) = self.constant_pattern(right)?
        {
            let kind = NodeKind::Matches(left.node, Box::new(pattern));
            return self.push(kind, span, static_type, left.depth + 1);
        }
        self.push(NodeKind::Binary(operator, left.node, right.node), span, static_type, depth)
    }

    /// Allows missing keys along a chain of accesses.
    fn make_lenient(&mut self, mut node: NodeId) {
        loop {
            match &mut self.nodes[node as usize].kind {
                NodeKind::Member { base, access, .. } | NodeKind::Item { base, access, .. } => {
                    access.lenient = true;
                    node = *base;
                }
                NodeKind::Chain(inner) => node = *inner,
                // Of an earlier `??`, this one guards the right side.
                NodeKind::Binary(Operator::Coalesce, _, right) => node = *right,
                _ => return,
            }
        }
    }

    fn ternary(&mut self, mut condition: Operand) -> ExprResult<Operand> {
        while self.at(TokenKind::Question) {
            self.advance()?;
            let then = if self.at(TokenKind::Colon) { condition } else { self.expression(LOOSEST)? };
            self.expect(TokenKind::Colon, "`:` and the other value")?;
            let otherwise = self.expression(LOOSEST)?;
            condition = self.conditional(condition, then, otherwise)?;
        }
        Ok(condition)
    }

    fn branches(&mut self) -> ExprResult<Operand> {
        let keyword = self.advance()?;
        let condition = self.expression(LOOSEST)?;
        if !self.at(TokenKind::LeftBrace) {
            return Err(self.unexpected("`{`").with_hint("write `CONDITION ? A : B`"));
        }
        self.advance()?;
        let then = self.sequence()?;
        self.expect(TokenKind::RightBrace, "`}`")?;
        self.expect(TokenKind::Else, "`else`")?;
        let otherwise = if self.at(TokenKind::If) {
            self.expression(LOOSEST)?
        } else {
            self.expect(TokenKind::LeftBrace, "`{` or `if`")?;
            let otherwise = self.sequence()?;
            self.expect(TokenKind::RightBrace, "`}`")?;
            otherwise
        };
        let read = self.conditional(condition, then, otherwise)?;
        self.nodes[read.node as usize].span.start = keyword.start;
        Ok(read)
    }

    fn conditional(&mut self, condition: Operand, then: Operand, otherwise: Operand) -> ExprResult<Operand> {
        let static_type = self.check_conditional(condition, then, otherwise)?;
        let depth = deepest(&[condition, then, otherwise]) + 1;
        let span = self.span(condition.node, otherwise.node);
        let kind =
            NodeKind::Conditional { condition: condition.node, then: then.node, otherwise: otherwise.node };
        self.push(kind, span, static_type, depth)
    }

    fn variable(&mut self) -> ExprResult<Operand> {
        let keyword = self.advance()?;
        let name = self.expect(TokenKind::Name, "a name for the variable")?;
        self.check_declaration(name)?;
        self.expect(TokenKind::Assign, "`=` and the variable's value")?;
        let value = self.expression(LOOSEST)?;
        self.expect(TokenKind::Semicolon, "`;` and the expression that uses the variable")?;
        #[allow(clippy::cast_possible_truncation, reason = "variables nest no deeper than expressions")]
        let slot = self.variables.len() as u32;
        self.slots = self.slots.max(slot + 1);
        self.variables.push(Variable { name: name.span(), static_type: value.static_type });
        let body = self.sequence()?;
        self.variables.pop();
        let span = TextSpan { start: keyword.start, end: self.nodes[body.node as usize].span.end };
        let depth = value.depth.max(body.depth) + 1;
        self.push(NodeKind::Let { slot, value: value.node, body: body.node }, span, body.static_type, depth)
    }

    fn constant(&self, operand: Operand) -> Option<&Value> {
        match &self.nodes[operand.node as usize].kind {
            NodeKind::Constant(value) => Some(value),
            _ => None,
        }
    }
}

fn deepest(operands: &[Operand]) -> u16 {
    operands.iter().map(|operand| operand.depth).max().unwrap_or_default()
}

fn too_deep(range: Range<usize>) -> Box<Error> {
    Error::syntax(range, "this expression is nested too deeply")
        .with_hint(format!("use `let` to name parts: at most {} levels are allowed", limits::MAX_DEPTH))
        .with_cause(Cause::Limit)
}
