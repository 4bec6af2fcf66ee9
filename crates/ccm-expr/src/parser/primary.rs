//! Literals, names, and what stands between brackets.

use super::{LOOSEST, NOT, Operand, Parser, SIGN, deepest};
use crate::Value;
use crate::error::{Error, Fallible};
use crate::lexer::{Kind, Token};
use crate::literal;
use crate::nature::{Base, Nature};
use crate::tree::{NodeKind, Piece, Prefix};

impl Parser<'_, '_> {
    /// An operand with whatever stands before and after it.
    pub(super) fn primary(&mut self) -> Fallible<Operand> {
        let token = self.current;
        match token.kind {
            Kind::Not | Kind::Bang => self.prefixed(Prefix::Not, NOT),
            Kind::Minus => self.prefixed(Prefix::Minus, SIGN),
            Kind::Plus => self.prefixed(Prefix::Plus, SIGN),
            Kind::LeftParenthesis => {
                self.advance()?;
                let inner = self.sequence()?;
                self.expect(Kind::RightParenthesis, "an operator or `)`")?;
                self.postfix(inner)
            }
            Kind::Hash | Kind::Dot if !self.predicates.is_empty() => {
                let element = self.pointer()?;
                self.postfix(element)
            }
            Kind::DoubleColon => {
                self.advance()?;
                let name = self.expect(Kind::Name, "the name of a function")?;
                let call = self.call(name, None, true)?;
                self.postfix(call)
            }
            Kind::Name => self.name(),
            Kind::Number => self.number(),
            Kind::Text | Kind::RawText => {
                let text = self.text_of(token)?;
                self.advance()?;
                let node = self.push(NodeKind::Constant(text), piece(token), Base::Text, 1)?;
                self.postfix(node)
            }
            Kind::Bytes => {
                let bytes = literal::bytes(&self.text[token.range()], token.start as usize)?;
                self.advance()?;
                let constant = NodeKind::Constant(Value::Bytes(bytes.into()));
                let node = self.push(constant, piece(token), Base::Bytes, 1)?;
                self.postfix(node)
            }
            Kind::LeftBracket => {
                let list = self.list()?;
                self.postfix(list)
            }
            Kind::LeftBrace => {
                let map = self.map()?;
                self.postfix(map)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    fn prefixed(&mut self, prefix: Prefix, binding: u8) -> Fallible<Operand> {
        let token = self.advance()?;
        let operand = self.expression(binding)?;
        let nature = self.check_prefix(prefix, token, operand)?;
        let whole = Piece { start: token.start, end: self.nodes[operand.node as usize].piece.end };
        let folded = match (prefix, self.constant(operand)) {
            (Prefix::Minus, Some(Value::Int(number))) => Some(Value::Int(number.wrapping_neg())),
            (Prefix::Plus, Some(Value::Int(number))) => Some(Value::Int(*number)),
            _ => None,
        };
        let (kind, depth) = match folded {
            Some(value) => (NodeKind::Constant(value), 1),
            None => (NodeKind::Prefix(prefix, operand.node), operand.depth + 1),
        };
        let node = self.push(kind, whole, nature, depth)?;
        self.postfix(node)
    }

    /// `#`, `#index`, `#acc`, or the element that a `.name` belongs to.
    fn pointer(&mut self) -> Fallible<Operand> {
        let hash = self.current;
        let mut whole = Piece { start: hash.start, end: hash.start };
        let mut name = None;
        if self.take(Kind::Hash)? {
            whole.end = hash.end;
            if self.at(Kind::Name) {
                let token = self.advance()?;
                whole.end = token.end;
                name = Some(token);
            }
        }
        // There is a predicate, or this would not have been called.
        let Some(scope) = self.predicates.last() else { return Err(self.unexpected("a value")) };
        let (kind, nature) = match name.map(|name| &self.text[name.range()]) {
            None => (NodeKind::Element, scope.collection.element()),
            Some("index") if scope.index => (NodeKind::Index, Base::Int.into()),
            Some("acc") if scope.accumulator => (NodeKind::Accumulator, Nature::UNKNOWN),
            Some(unknown) => {
                let known: &[&str] = match (scope.index, scope.accumulator) {
                    (_, true) => &["index", "acc"],
                    (true, false) => &["index"],
                    _ => &[],
                };
                let message = format!("`#{unknown}` is not known in this predicate");
                return Err(Error::compile(whole.range(), message)
                    .did_you_mean(unknown, known.iter().copied())
                    .hint("`#` is the element; map() and reduce() know `#index`, reduce() knows `#acc`"));
            }
        };
        self.push(kind, whole, nature, 1)
    }

    fn name(&mut self) -> Fallible<Operand> {
        let token = self.advance()?;
        let name = &self.text[token.range()];
        let (kind, nature) = match name {
            "true" => return self.push(NodeKind::Constant(Value::Bool(true)), piece(token), Base::Bool, 1),
            "false" => return self.push(NodeKind::Constant(Value::Bool(false)), piece(token), Base::Bool, 1),
            "nil" => return self.push(NodeKind::Constant(Value::Null), piece(token), Base::Nil, 1),
            _ if self.at(Kind::LeftParenthesis) => {
                let call = self.call(token, None, false)?;
                return self.postfix(call);
            }
            _ => {
                let local = self.variables.iter().rposition(|variable| self.slice(variable.name) == name);
                if let Some(slot) = local {
                    #[allow(clippy::cast_possible_truncation, reason = "variables are fewer than levels")]
                    (NodeKind::Local(slot as u32), self.variables[slot].nature)
                } else if name == "$env" {
                    (NodeKind::Environment, Nature::UNKNOWN)
                } else {
                    (NodeKind::Name, self.known_nature(name))
                }
            }
        };
        let node = self.push(kind, piece(token), nature, 1)?;
        self.postfix(node)
    }

    /// What is known of a top-level name.
    pub(super) fn known_nature(&self, name: &str) -> Nature {
        let known = self.known.names.iter().find(|(known, _)| *known == name);
        known.map_or(Nature::UNKNOWN, |(_, kind)| (*kind).into())
    }

    fn number(&mut self) -> Fallible<Operand> {
        let token = self.current;
        let number = literal::number(&self.text[token.range()], token.start as usize)?;
        self.advance()?;
        let (value, base) = match number {
            literal::Number::Int(number) => (Value::Int(number), Base::Int),
            literal::Number::Float(number) => (Value::Float(number), Base::Float),
        };
        self.push(NodeKind::Constant(value), piece(token), base, 1)
    }

    /// The text that a token stands for.
    fn text_of(&self, token: Token) -> Fallible<Value> {
        let written = &self.text[token.range()];
        Ok(Value::text(match token.kind {
            Kind::RawText => literal::raw_text(written),
            _ => literal::text(written, token.start as usize)?,
        }))
    }

    fn list(&mut self) -> Fallible<Operand> {
        let open = self.advance()?;
        let mut elements: Vec<Operand> = Vec::new();
        while !self.at(Kind::RightBracket) {
            if !elements.is_empty() {
                self.expect(Kind::Comma, "`,` or `]`")?;
                if self.at(Kind::RightBracket) {
                    break;
                }
            }
            elements.push(self.expression(LOOSEST)?);
        }
        let close = self.advance()?;
        let alike = elements.windows(2).all(|pair| pair[0].nature.same_kind(pair[1].nature));
        let nature = match elements.last() {
            Some(last) if alike => last.nature.in_list(),
            _ => Nature::LIST,
        };
        let children = self.adopt(&elements);
        let whole = Piece { start: open.start, end: close.end };
        self.push(NodeKind::List(children), whole, nature, deepest(&elements) + 1)
    }

    fn map(&mut self) -> Fallible<Operand> {
        let open = self.advance()?;
        let mut parts: Vec<Operand> = Vec::new();
        while !self.at(Kind::RightBrace) {
            if !parts.is_empty() {
                self.expect(Kind::Comma, "`,` or `}`")?;
                if self.at(Kind::RightBrace) {
                    break;
                }
            }
            let token = self.current;
            let key = match token.kind {
                Kind::Name | Kind::Number => {
                    self.advance()?;
                    let text = Value::text(&self.text[token.range()]);
                    self.push(NodeKind::Constant(text), piece(token), Base::Text, 1)?
                }
                Kind::Text | Kind::RawText => {
                    let text = self.text_of(token)?;
                    self.advance()?;
                    self.push(NodeKind::Constant(text), piece(token), Base::Text, 1)?
                }
                Kind::LeftParenthesis => self.expression(LOOSEST)?,
                _ => {
                    return Err(self.unexpected("a key or `}`").hint(
                        "a key is a name, text, a number, or an expression in parentheses; \
                         a word of the language is put in quotes",
                    ));
                }
            };
            parts.push(key);
            self.expect(Kind::Colon, "`:` and the key's value")?;
            parts.push(self.expression(LOOSEST)?);
        }
        let close = self.advance()?;
        let children = self.adopt(&parts);
        let whole = Piece { start: open.start, end: close.end };
        self.push(NodeKind::Map(children), whole, Base::Map, deepest(&parts) + 1)
    }
}

fn piece(token: Token) -> Piece {
    Piece { start: token.start, end: token.end }
}
