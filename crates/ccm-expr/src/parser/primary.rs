//! Literals, names and bracketed expressions.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{LOOSEST, NOT, Operand, Parser, SIGN, deepest};
use crate::Value;
use crate::error::{Error, ExprResult};
use crate::lexer::{Token, TokenKind};
use crate::literal;
use crate::static_type::{Base, StaticType};
use crate::tree::{NodeKind, Operator, Prefix, TextSpan};

impl Parser<'_, '_> {
    /// Parses an operand with its prefixes and suffixes.
    pub(super) fn primary(&mut self) -> ExprResult<Operand> {
        let token = self.current;
        let operand = match token.kind {
            TokenKind::Not | TokenKind::Bang => self.prefixed(Prefix::Not, NOT)?,
            TokenKind::Operator(Operator::Subtract) => self.prefixed(Prefix::Minus, SIGN)?,
            TokenKind::Operator(Operator::Add) => self.prefixed(Prefix::Plus, SIGN)?,
            TokenKind::LeftParenthesis => {
                self.advance()?;
                let inner = self.sequence()?;
                self.expect(TokenKind::RightParenthesis, "an operator or `)`")?;
                inner
            }
            TokenKind::Hash | TokenKind::Dot if !self.predicates.is_empty() => self.pointer()?,
            TokenKind::DoubleColon => {
                self.advance()?;
                let name = self.expect(TokenKind::Name, "the name of a function")?;
                self.call(name, None, true)?
            }
            TokenKind::Name => return self.name(),
            TokenKind::Number => return self.number(),
            TokenKind::Text | TokenKind::RawText => self.text()?,
            TokenKind::Bytes => {
                let bytes = literal::bytes(&self.text[token.range()], token.start as usize)?;
                self.advance()?;
                let constant = NodeKind::Constant(Value::Bytes(bytes.into()));
                self.push(constant, token.span(), Base::Bytes, 1)?
            }
            TokenKind::LeftBracket => self.list()?,
            TokenKind::LeftBrace => self.map()?,
            _ => return Err(self.unexpected("a value")),
        };
        self.postfix(operand)
    }

    fn prefixed(&mut self, prefix: Prefix, binding: u8) -> ExprResult<Operand> {
        let token = self.advance()?;
        let operand = self.expression(binding)?;
        let static_type = self.check_prefix(prefix, token, operand)?;
        let whole = TextSpan { start: token.start, end: self.nodes[operand.node as usize].span.end };
        let folded = match (prefix, self.constant(operand)) {
            (Prefix::Minus, Some(Value::Int(number))) => number.checked_neg().map(Value::Int),
            (Prefix::Plus, Some(Value::Int(number))) => Some(Value::Int(*number)),
            _ => None,
        };
        let (kind, depth) = match folded {
            Some(value) => (NodeKind::Constant(value), 1),
            None => (NodeKind::Prefix(prefix, operand.node), operand.depth + 1),
        };
        self.push(kind, whole, static_type, depth)
    }

    /// Parses `#`, `#index`, `#acc`, or a `.name` of the element.
    fn pointer(&mut self) -> ExprResult<Operand> {
        let hash = self.current;
        let mut whole = TextSpan { start: hash.start, end: hash.start };
        let mut name = None;
        if self.take(TokenKind::Hash)? {
            whole.end = hash.end;
            if self.at(TokenKind::Name) {
                let token = self.advance()?;
                whole.end = token.end;
                name = Some(token);
            }
        }
        // Callers checked for a predicate.
        let Some(scope) = self.predicates.last() else { return Err(self.unexpected("a value")) };
        let (kind, static_type) = match name.map(|name| &self.text[name.range()]) {
            None => (NodeKind::Element, scope.collection.element()),
            Some("index") if scope.index => (NodeKind::Index, Base::Int.into()),
            Some("acc") if scope.accumulator => (NodeKind::Accumulator, StaticType::UNKNOWN),
            Some(unknown) => {
                let known: &[&str] = match (scope.index, scope.accumulator) {
                    (_, true) => &["index", "acc"],
                    (true, false) => &["index"],
                    _ => &[],
                };
                let message = format!("`#{unknown}` is not a variable of this predicate");
                return Err(Error::syntax(whole.range(), message)
                    .did_you_mean(unknown, known.iter().copied())
                    .with_hint(
                        "use `#` for the element, `#index` in map() and reduce(), `#acc` in reduce()",
                    ));
            }
        };
        self.push(kind, whole, static_type, 1)
    }

    fn name(&mut self) -> ExprResult<Operand> {
        let token = self.advance()?;
        let name = &self.text[token.range()];
        let (kind, static_type) = match name {
            "true" => return self.push(NodeKind::Constant(Value::Bool(true)), token.span(), Base::Bool, 1),
            "false" => return self.push(NodeKind::Constant(Value::Bool(false)), token.span(), Base::Bool, 1),
            "nil" => return self.push(NodeKind::Constant(Value::Null), token.span(), Base::Nil, 1),
            _ if self.at(TokenKind::LeftParenthesis) => {
                let call = self.call(token, None, false)?;
                return self.postfix(call);
            }
            _ => {
                let local = self.variables.iter().rposition(|variable| self.slice(variable.name) == name);
                if let Some(slot) = local {
                    #[allow(clippy::cast_possible_truncation, reason = "variables are fewer than levels")]
                    (NodeKind::Local(slot as u32), self.variables[slot].static_type)
                } else if name == "$env" {
                    (NodeKind::Environment, StaticType::UNKNOWN)
                } else {
                    (NodeKind::Name, self.known_type(name))
                }
            }
        };
        let node = self.push(kind, token.span(), static_type, 1)?;
        self.postfix(node)
    }

    pub(super) fn known_type(&self, name: &str) -> StaticType {
        let known = self.context.names.iter().find(|(known, _)| *known == name);
        known.map_or(StaticType::UNKNOWN, |(_, kind)| (*kind).into())
    }

    fn number(&mut self) -> ExprResult<Operand> {
        let token = self.current;
        let number = literal::number(&self.text[token.range()], token.start as usize)?;
        self.advance()?;
        let (value, base) = match number {
            literal::Number::Int(number) => (Value::Int(number), Base::Int),
            literal::Number::Float(number) => (Value::Float(number), Base::Float),
        };
        self.push(NodeKind::Constant(value), token.span(), base, 1)
    }

    fn text(&mut self) -> ExprResult<Operand> {
        let token = self.current;
        let written = &self.text[token.range()];
        let text = Value::text(match token.kind {
            TokenKind::RawText => literal::raw_text(written),
            _ => literal::text(written, token.start as usize)?,
        });
        self.advance()?;
        self.push(NodeKind::Constant(text), token.span(), Base::Text, 1)
    }

    /// Parses expressions separated by commas up to the closing token, which is returned too.
    pub(super) fn expressions(
        &mut self,
        close: TokenKind,
        separator: &str,
    ) -> ExprResult<(Vec<Operand>, Token)> {
        let mut all = Vec::new();
        while !self.at(close) {
            if !all.is_empty() {
                self.expect(TokenKind::Comma, separator)?;
                if self.at(close) {
                    break;
                }
            }
            all.push(self.expression(LOOSEST)?);
        }
        Ok((all, self.advance()?))
    }

    fn list(&mut self) -> ExprResult<Operand> {
        let open = self.advance()?;
        let (elements, close) = self.expressions(TokenKind::RightBracket, "`,` or `]`")?;
        let alike = elements.windows(2).all(|pair| pair[0].static_type.same_kind(pair[1].static_type));
        let static_type = match elements.last() {
            Some(last) if alike => last.static_type.in_list(),
            _ => StaticType::LIST,
        };
        let children = self.adopt(&elements);
        let whole = TextSpan { start: open.start, end: close.end };
        self.push(NodeKind::List(children), whole, static_type, deepest(&elements) + 1)
    }

    fn map(&mut self) -> ExprResult<Operand> {
        let open = self.advance()?;
        let mut parts: Vec<Operand> = Vec::new();
        let mut given: HashMap<Arc<str>, Range<usize>> = HashMap::new();
        while !self.at(TokenKind::RightBrace) {
            if !parts.is_empty() {
                self.expect(TokenKind::Comma, "`,` or `}`")?;
                if self.at(TokenKind::RightBrace) {
                    break;
                }
            }
            let token = self.current;
            let key = match token.kind {
                TokenKind::Name | TokenKind::Number => {
                    self.advance()?;
                    let text = Value::text(&self.text[token.range()]);
                    self.push(NodeKind::Constant(text), token.span(), Base::Text, 1)?
                }
                TokenKind::Text | TokenKind::RawText => self.text()?,
                TokenKind::LeftParenthesis => self.expression(LOOSEST)?,
                _ => {
                    return Err(self.unexpected("a key or `}`").with_hint(
                        "a key is a name, text, a number, or an expression in parentheses; \
                         put a keyword in quotes",
                    ));
                }
            };
            if let Some(Value::Text(name)) = self.constant(key) {
                let message = format!("the key `{}` is given twice", name.escape_debug());
                let range = self.range_of(key.node);
                if let Some(earlier) = given.insert(Arc::clone(name), range.clone()) {
                    return Err(Error::compile(range, message).of_duplicate_key(earlier));
                }
            }
            parts.push(key);
            self.expect(TokenKind::Colon, "`:` and the key's value")?;
            parts.push(self.expression(LOOSEST)?);
        }
        let close = self.advance()?;
        let children = self.adopt(&parts);
        let whole = TextSpan { start: open.start, end: close.end };
        self.push(NodeKind::Map(children), whole, Base::Map, deepest(&parts) + 1)
    }
}
