//! Reads an expression: operators by precedence, each part with what is known of its kind.

mod calls;
mod postfix;
mod primary;
mod rules;

use std::ops::Range;

use crate::Value;
use crate::error::{Cause, Error, Fallible};
use crate::lexer::{Kind, Lexer, Token};
use crate::limits;
use crate::nature::{Base, Nature};
use crate::scope::Known;
use crate::tree::{Children, Node, NodeId, NodeKind, Operator, Piece, Prefix, Tree};

/// A part that was read.
#[derive(Clone, Copy)]
struct Operand {
    node: NodeId,
    nature: Nature,
    /// How deep evaluating it goes.
    depth: u16,
}

/// What `#` and its like mean in the predicate that is being read.
struct PredicateScope {
    collection: Nature,
    index: bool,
    accumulator: bool,
}

struct Variable {
    name: Piece,
    nature: Nature,
}

pub(crate) struct Parser<'t, 'k> {
    text: &'t str,
    lexer: Lexer<'t>,
    current: Token,
    known: &'k Known<'k>,
    nodes: Vec<Node>,
    children: Vec<NodeId>,
    predicates: Vec<PredicateScope>,
    variables: Vec<Variable>,
    slots: u32,
    depth: u16,
}

/// The precedence below which nothing binds: a whole expression.
const LOOSEST: u8 = 0;
const NOT: u8 = 50;
const SIGN: u8 = 90;

/// The operator of a token, with its precedence. Each binds to the left, but for the power.
fn operator(kind: Kind) -> Option<(Operator, u8)> {
    Some(match kind {
        Kind::Or => (Operator::Or, 10),
        Kind::And => (Operator::And, 15),
        Kind::Equal => (Operator::Equal, 20),
        Kind::NotEqual => (Operator::NotEqual, 20),
        Kind::Less => (Operator::Less, 20),
        Kind::LessOrEqual => (Operator::LessOrEqual, 20),
        Kind::Greater => (Operator::Greater, 20),
        Kind::GreaterOrEqual => (Operator::GreaterOrEqual, 20),
        Kind::In => (Operator::In, 20),
        Kind::Matches => (Operator::Matches, 20),
        Kind::Contains => (Operator::Contains, 20),
        Kind::StartsWith => (Operator::StartsWith, 20),
        Kind::EndsWith => (Operator::EndsWith, 20),
        Kind::Range => (Operator::Range, 25),
        Kind::Plus => (Operator::Add, 30),
        Kind::Minus => (Operator::Subtract, 30),
        Kind::Star => (Operator::Multiply, 60),
        Kind::Slash => (Operator::Divide, 60),
        Kind::Percent => (Operator::Modulo, 60),
        Kind::Power => (Operator::Power, 100),
        Kind::Coalesce => (Operator::Coalesce, 200),
        _ => return None,
    })
}

/// Reads a whole expression.
pub(crate) fn parse(text: &str, known: &Known<'_>) -> Fallible<Tree> {
    if text.len() > limits::TEXT_OF_AN_EXPRESSION {
        let message = format!("this expression is longer than {} bytes", limits::TEXT_OF_AN_EXPRESSION);
        return Err(Error::compile(0..0, message).because(Cause::Limit));
    }
    let mut lexer = Lexer::new(text);
    let current = lexer.next()?;
    let mut parser = Parser {
        text,
        lexer,
        current,
        known,
        nodes: Vec::with_capacity(8),
        children: Vec::new(),
        predicates: Vec::new(),
        variables: Vec::new(),
        slots: 0,
        depth: 0,
    };
    let root = parser.sequence()?.node;
    if parser.current.kind != Kind::End {
        return Err(parser.unexpected("an operator or the end"));
    }
    let Parser { nodes, children, slots, .. } = parser;
    Ok(Tree { text: text.into(), nodes, children, root, slots })
}

impl<'t> Parser<'t, '_> {
    fn advance(&mut self) -> Fallible<Token> {
        let token = self.current;
        self.current = self.lexer.next()?;
        Ok(token)
    }

    fn at(&self, kind: Kind) -> bool {
        self.current.kind == kind
    }

    /// Takes the token if it is of that kind.
    fn take(&mut self, kind: Kind) -> Fallible<bool> {
        let there = self.at(kind);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    fn expect(&mut self, kind: Kind, name: &str) -> Fallible<Token> {
        if self.at(kind) { self.advance() } else { Err(self.unexpected(name)) }
    }

    /// Says what was expected instead of the current token.
    fn unexpected(&self, expected: &str) -> Box<Error> {
        let range = self.current.range();
        if self.at(Kind::End) {
            return Error::compile(range, format!("expected {expected}, found the end of the expression"));
        }
        // A text may be a secret; a name or a sign is none.
        let error = match self.current.kind {
            Kind::Text | Kind::RawText => Error::compile(range, format!("expected {expected}, found text")),
            Kind::Bytes => Error::compile(range, format!("expected {expected}, found bytes")),
            Kind::Number => Error::compile(range, format!("expected {expected}, found a number")),
            _ => {
                let found = &self.text[range.clone()];
                Error::compile(range, format!("expected {expected}, found `{found}`"))
            }
        };
        match self.current.kind {
            Kind::Assign => error.hint("two values are compared with `==`; `=` belongs to `let`"),
            Kind::Hash | Kind::Dot => {
                error.hint("`#` and `.name` alone stand in the predicates of functions like filter()")
            }
            Kind::Name => error.did_you_mean(
                &self.text[self.current.range()],
                ["and", "or", "in", "not", "matches", "contains", "startsWith", "endsWith"],
            ),
            _ => error,
        }
    }

    fn slice(&self, piece: Piece) -> &'t str {
        &self.text[piece.range()]
    }

    fn range_of(&self, node: NodeId) -> Range<usize> {
        self.nodes[node as usize].piece.range()
    }

    /// Adds a node over a piece of the text.
    fn push(
        &mut self,
        kind: NodeKind,
        piece: Piece,
        nature: impl Into<Nature>,
        depth: u16,
    ) -> Fallible<Operand> {
        if depth >= limits::DEPTH {
            return Err(too_deep(piece.range()));
        }
        #[allow(clippy::cast_possible_truncation, reason = "there are fewer nodes than bytes of text")]
        let node = self.nodes.len() as NodeId;
        self.nodes.push(Node { kind, piece });
        Ok(Operand { node, nature: nature.into(), depth })
    }

    /// The piece from the beginning of one node to the end of another.
    fn span(&self, from: NodeId, to: NodeId) -> Piece {
        Piece { start: self.nodes[from as usize].piece.start, end: self.nodes[to as usize].piece.end }
    }

    fn adopt(&mut self, nodes: &[Operand]) -> Children {
        #[allow(clippy::cast_possible_truncation, reason = "there are fewer children than bytes of text")]
        let start = self.children.len() as u32;
        self.children.extend(nodes.iter().map(|operand| operand.node));
        #[allow(clippy::cast_possible_truncation, reason = "there are fewer children than bytes of text")]
        Children { start, end: self.children.len() as u32 }
    }

    /// Expressions with `;` between them; the last one counts.
    fn sequence(&mut self) -> Fallible<Operand> {
        let first = self.expression(LOOSEST)?;
        if !self.at(Kind::Semicolon) {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take(Kind::Semicolon)? {
            if self.at(Kind::End) {
                break;
            }
            all.push(self.expression(LOOSEST)?);
        }
        let last = all[all.len() - 1];
        let children = self.adopt(&all);
        let piece = self.span(first.node, last.node);
        self.push(NodeKind::Sequence(children), piece, last.nature, deepest(&all) + 1)
    }

    /// An expression whose operators bind at least as tightly as `precedence`.
    fn expression(&mut self, precedence: u8) -> Fallible<Operand> {
        if self.depth >= limits::DEPTH {
            return Err(too_deep(self.current.range()));
        }
        self.depth += 1;
        let read = match self.current.kind {
            Kind::Let if precedence == LOOSEST => self.variable(),
            Kind::If if precedence == LOOSEST => self.branches(),
            _ => self.operators(precedence),
        };
        self.depth -= 1;
        read
    }

    fn operators(&mut self, precedence: u8) -> Fallible<Operand> {
        let mut left = self.primary()?;
        let mut after_coalesce = false;
        loop {
            let token = self.current;
            if token.kind == Kind::Pipe && precedence == LOOSEST {
                self.advance()?;
                let name = self.expect(Kind::Name, "the name of a function")?;
                left = self.call(name, Some(left), false)?;
                after_coalesce = false;
                continue;
            }
            let negated = token.kind == Kind::Not;
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
                return Err(Error::compile(token.range(), format!("`??` and `{sign}` can't be mixed"))
                    .hint("put parentheses around one of them"));
            }
            after_coalesce = operator == Operator::Coalesce;
            left = match operator {
                Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
                    self.comparison(left, token, operator, binding)?
                }
                _ => {
                    let right =
                        self.expression(if operator == Operator::Power { binding } else { binding + 1 })?;
                    self.binary(operator, token, left, right)?
                }
            };
            if negated {
                let piece = self.nodes[left.node as usize].piece;
                left =
                    self.push(NodeKind::Prefix(Prefix::Not, left.node), piece, Base::Bool, left.depth + 1)?;
            }
        }
        if precedence == LOOSEST { self.ternary(left) } else { Ok(left) }
    }

    /// The operator after a `not` that stands between operands, which is only looked at.
    fn negated_operator(&self) -> Fallible<Token> {
        let mut ahead = self.lexer;
        let token = ahead.next()?;
        match token.kind {
            Kind::In | Kind::Matches | Kind::Contains | Kind::StartsWith | Kind::EndsWith => Ok(token),
            _ => Err(Error::compile(self.current.range(), "expected an operator, found `not`")
                .hint("between two values stands `not in`, `not contains`, `not startsWith` and the like")),
        }
    }

    /// `a < b < c`, which is `a < b && b < c`.
    fn comparison(
        &mut self,
        mut left: Operand,
        mut token: Token,
        mut operator: Operator,
        binding: u8,
    ) -> Fallible<Operand> {
        let mut all = None;
        loop {
            let right = self.expression(binding + 1)?;
            let one = self.binary(operator, token, left, right)?;
            let joined = match all {
                None => one,
                Some(earlier) => self.binary(Operator::And, token, earlier, one)?,
            };
            match self::operator(self.current.kind) {
                Some((
                    next @ (Operator::Less
                    | Operator::LessOrEqual
                    | Operator::Greater
                    | Operator::GreaterOrEqual),
                    _,
                )) => operator = next,
                _ => return Ok(joined),
            }
            all = Some(joined);
            left = right;
            token = self.advance()?;
        }
    }

    /// Joins two operands; what can be worked out at once is.
    fn binary(
        &mut self,
        operator: Operator,
        token: Token,
        left: Operand,
        right: Operand,
    ) -> Fallible<Operand> {
        let nature = self.check_binary(operator, token, left, right)?;
        let piece = self.span(left.node, right.node);
        if let Some(value) = self.fold(operator, token, left, right)? {
            return self.push(NodeKind::Constant(value), piece, nature, 1);
        }
        // A chain of operators is walked along, not down, so only what stands right of it makes it deeper.
        let chained = matches!(self.nodes[left.node as usize].kind, NodeKind::Binary(..));
        let depth = (left.depth + u16::from(!chained)).max(right.depth + 1);
        let kind = match operator {
            Operator::Matches => match self.constant_pattern(right)? {
                Some(pattern) => NodeKind::Matches(left.node, Box::new(pattern)),
                None => NodeKind::Binary(operator, left.node, right.node),
            },
            Operator::Coalesce => {
                self.make_lenient(left.node);
                NodeKind::Binary(operator, left.node, right.node)
            }
            _ => NodeKind::Binary(operator, left.node, right.node),
        };
        let depth = if matches!(kind, NodeKind::Matches(..)) { left.depth + 1 } else { depth };
        self.push(kind, piece, nature, depth)
    }

    /// Lets the keys along a chain of accesses be missing.
    fn make_lenient(&mut self, mut node: NodeId) {
        loop {
            match &mut self.nodes[node as usize].kind {
                NodeKind::Member { base, access, .. } | NodeKind::Item { base, access, .. } => {
                    access.lenient = true;
                    node = *base;
                }
                NodeKind::Chain(inner) => node = *inner,
                // The right side of an earlier `??` is what this one guards.
                NodeKind::Binary(Operator::Coalesce, _, right) => node = *right,
                _ => return,
            }
        }
    }

    /// `? :` after a condition.
    fn ternary(&mut self, mut condition: Operand) -> Fallible<Operand> {
        while self.at(Kind::Question) {
            self.advance()?;
            let then = if self.at(Kind::Colon) { condition } else { self.expression(LOOSEST)? };
            self.expect(Kind::Colon, "`:` and what holds otherwise")?;
            let otherwise = self.expression(LOOSEST)?;
            condition = self.conditional(condition.node, condition, then, otherwise, otherwise.node)?;
        }
        Ok(condition)
    }

    /// `if … { … } else { … }`.
    fn branches(&mut self) -> Fallible<Operand> {
        let keyword = self.advance()?;
        let condition = self.expression(LOOSEST)?;
        self.expect(Kind::LeftBrace, "`{`")?;
        let then = self.sequence()?;
        self.expect(Kind::RightBrace, "`}`")?;
        self.expect(Kind::Else, "`else`")?;
        let otherwise = if self.at(Kind::If) {
            self.expression(LOOSEST)?
        } else {
            self.expect(Kind::LeftBrace, "`{` or `if`")?;
            let otherwise = self.sequence()?;
            self.expect(Kind::RightBrace, "`}`")?;
            otherwise
        };
        let read = self.conditional(condition.node, condition, then, otherwise, otherwise.node)?;
        self.nodes[read.node as usize].piece.start = keyword.start;
        Ok(read)
    }

    fn conditional(
        &mut self,
        from: NodeId,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
        to: NodeId,
    ) -> Fallible<Operand> {
        let nature = self.check_conditional(condition, then, otherwise)?;
        let depth = deepest(&[condition, then, otherwise]) + 1;
        let piece = self.span(from, to);
        let kind =
            NodeKind::Conditional { condition: condition.node, then: then.node, otherwise: otherwise.node };
        self.push(kind, piece, nature, depth)
    }

    /// `let name = value; …`.
    fn variable(&mut self) -> Fallible<Operand> {
        let keyword = self.advance()?;
        let name = self.expect(Kind::Name, "a name for the variable")?;
        self.check_declaration(name)?;
        self.expect(Kind::Assign, "`=` and the variable's value")?;
        let value = self.expression(LOOSEST)?;
        self.expect(Kind::Semicolon, "`;` and the expression that uses the variable")?;
        #[allow(clippy::cast_possible_truncation, reason = "variables nest no deeper than expressions")]
        let slot = self.variables.len() as u32;
        self.slots = self.slots.max(slot + 1);
        self.variables
            .push(Variable { name: Piece { start: name.start, end: name.end }, nature: value.nature });
        let body = self.sequence()?;
        self.variables.pop();
        let piece = Piece { start: keyword.start, end: self.nodes[body.node as usize].piece.end };
        let depth = value.depth.max(body.depth) + 1;
        self.push(NodeKind::Let { slot, value: value.node, body: body.node }, piece, body.nature, depth)
    }

    /// The constant that a node is.
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
    Error::compile(range, "this expression is nested too deeply")
        .hint(format!("it may go {} levels deep; `let` gives parts a name", limits::DEPTH))
        .because(Cause::Limit)
}
