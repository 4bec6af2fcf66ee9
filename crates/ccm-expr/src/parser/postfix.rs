//! Postfix syntax: `.name`, `?.name`, `[key]`, `[from:to]` and method calls.

use super::{LOOSEST, Operand, Parser, deepest};
use crate::error::{Error, ExprResult};
use crate::lexer::{Token, TokenKind};
use crate::static_type::{Base, StaticType};
use crate::tree::{Access, NodeKind, TextSpan};

impl Parser<'_, '_> {
    pub(super) fn postfix(&mut self, mut operand: Operand) -> ExprResult<Operand> {
        loop {
            operand = match self.current.kind {
                TokenKind::Dot => {
                    self.advance()?;
                    self.member(operand, false)?
                }
                TokenKind::OptionalDot => {
                    self.advance()?;
                    if self.at(TokenKind::LeftBracket) {
                        self.item(operand, true)?
                    } else {
                        self.member(operand, true)?
                    }
                }
                TokenKind::LeftBracket => self.item(operand, false)?,
                _ => return Ok(operand),
            };
        }
    }

    /// Parses `name` after the dot, with arguments if it is a method.
    fn member(&mut self, operand: Operand, optional: bool) -> ExprResult<Operand> {
        let name = self.member_name()?;
        // Accesses with a dot after a `?.` are skipped together.
        let (base, chained) = match self.nodes[operand.node as usize].kind {
            NodeKind::Chain(inner) => (inner, true),
            _ => (operand.node, false),
        };
        let base = Operand { node: base, ..operand };
        let access = Access { optional, lenient: false };
        let start = self.nodes[base.node as usize].span.start;
        let read = if self.at(TokenKind::LeftParenthesis) {
            let (arguments, end) = self.arguments(None)?;
            let static_type = self.check_method(base, name, &arguments)?;
            let depth = deepest(&arguments).max(base.depth) + 1;
            let children = self.adopt(&arguments);
            let kind = NodeKind::Method { base: base.node, name: name.span(), access, arguments: children };
            self.push(kind, TextSpan { start, end }, static_type, depth)?
        } else {
            let static_type = self.check_member(base, name)?;
            let kind = NodeKind::Member { base: base.node, name: name.span(), access };
            self.push(kind, TextSpan { start, end: name.end }, static_type, base.depth + 1)?
        };
        if optional || chained { self.chain(read) } else { Ok(read) }
    }

    fn chain(&mut self, inner: Operand) -> ExprResult<Operand> {
        let span = self.nodes[inner.node as usize].span;
        self.push(NodeKind::Chain(inner.node), span, inner.static_type, inner.depth)
    }

    /// Parses the name after a dot; keywords are names there.
    fn member_name(&mut self) -> ExprResult<Token> {
        match self.current.kind {
            TokenKind::Name
            | TokenKind::Operator(_)
            | TokenKind::Not
            | TokenKind::Let
            | TokenKind::If
            | TokenKind::Else
                if self.text[self.current.range()].starts_with(|first: char| {
                    !first.is_ascii_punctuation() || first == '_' || first == '$'
                }) =>
            {
                self.advance()
            }
            TokenKind::Number => {
                Err(self.unexpected("a name").with_hint("write `[0]` for an element of a list"))
            }
            _ => Err(self.unexpected("a name").with_hint("write `[\"key\"]` for a key that is not a name")),
        }
    }

    fn item(&mut self, base: Operand, optional: bool) -> ExprResult<Operand> {
        let open = self.advance()?;
        let from = if self.at(TokenKind::Colon) { None } else { Some(self.expression(LOOSEST)?) };
        let start = self.nodes[base.node as usize].span.start;
        if self.take(TokenKind::Colon)? {
            let to = if self.at(TokenKind::RightBracket) { None } else { Some(self.expression(LOOSEST)?) };
            let close = self.expect(TokenKind::RightBracket, "`]`")?;
            let static_type = self.check_slice(base, from, to)?;
            let parts = [Some(base), from, to];
            let depth = parts.iter().flatten().map(|part| part.depth).max().unwrap_or_default() + 1;
            let kind = NodeKind::Slice {
                base: base.node,
                from: from.map(|from| from.node),
                to: to.map(|to| to.node),
            };
            return self.push(kind, TextSpan { start, end: close.end }, static_type, depth);
        }
        let Some(key) = from else { return Err(self.unexpected("a key")) };
        let close = self.expect(TokenKind::RightBracket, "`]`")?;
        let static_type = self.check_item(base, key, open)?;
        let access = Access { optional, lenient: false };
        let depth = base.depth.max(key.depth) + 1;
        let kind = NodeKind::Item { base: base.node, key: key.node, access };
        let read = self.push(kind, TextSpan { start, end: close.end }, static_type, depth)?;
        if optional { self.chain(read) } else { Ok(read) }
    }

    fn check_member(&self, base: Operand, token: Token) -> ExprResult<StaticType> {
        let name = &self.text[token.range()];
        if matches!(self.nodes[base.node as usize].kind, NodeKind::Environment) {
            return Ok(self.known_type(name));
        }
        match base.static_type.base() {
            Some(Base::Unknown | Base::Map | Base::Groups) => Ok(base.static_type.element()),
            Some(Base::Duration | Base::DateTime | Base::Month | Base::Weekday | Base::Zone) => {
                let message = format!("{} has no field `{name}`", base.static_type.name());
                let methods = crate::time::methods(base.static_type);
                let error = Error::compile(token.range(), message);
                Err(if methods.clone().any(|method| method == name) {
                    error.with_hint(format!("call the method: `{name}()`"))
                } else {
                    error.did_you_mean(name, methods)
                })
            }
            _ => {
                let error = Error::compile(
                    token.range(),
                    format!("{} has no field `{name}`", base.static_type.name()),
                );
                Err(error.with_hint_if(
                    base.static_type.is_list(),
                    "write `[0]` for an element, map(list, .field) for a field of each",
                ))
            }
        }
    }

    fn check_item(&self, base: Operand, key: Operand, open: Token) -> ExprResult<StaticType> {
        let key_text = match self.constant(key) {
            Some(crate::Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let environment = matches!(self.nodes[base.node as usize].kind, NodeKind::Environment);
        match base.static_type.base() {
            _ if environment => Ok(key_text.map_or(StaticType::UNKNOWN, |name| self.known_type(&name))),
            Some(Base::Unknown | Base::Groups) => Ok(base.static_type.element()),
            Some(Base::Map) if key.static_type.is_text() || key.static_type.is_unknown() => {
                Ok(StaticType::UNKNOWN)
            }
            Some(Base::Map) => Err(Error::compile(
                self.range_of(key.node),
                format!("expected text as the key of a map, found {}", key.static_type.name()),
            )),
            _ if base.static_type.is_list() && (key.static_type.is_int() || key.static_type.is_unknown()) => {
                Ok(base.static_type.element())
            }
            _ if base.static_type.is_list() => Err(Error::compile(
                self.range_of(key.node),
                format!("expected an integer as the index of a list, found {}", key.static_type.name()),
            )),
            _ => {
                let range = open.start as usize..self.range_of(key.node).end;
                let error = Error::compile(range, format!("{} has no elements", base.static_type.name()));
                Err(error.with_hint_if(base.static_type.is_text(), "write `[from:to]` for a part of a text"))
            }
        }
    }

    fn check_slice(
        &self,
        base: Operand,
        from: Option<Operand>,
        to: Option<Operand>,
    ) -> ExprResult<StaticType> {
        if base.static_type.is_unknown() {
            return Ok(StaticType::UNKNOWN);
        }
        if !base.static_type.is_text() && !base.static_type.is_list() {
            let message = format!("expected a list or text, found {}", base.static_type.name());
            return Err(Error::compile(self.range_of(base.node), message));
        }
        for place in [from, to].into_iter().flatten() {
            if !place.static_type.is_int() && !place.static_type.is_unknown() {
                let message = format!("expected an integer as a bound, found {}", place.static_type.name());
                return Err(Error::compile(self.range_of(place.node), message));
            }
        }
        Ok(base.static_type)
    }

    fn check_method(&self, base: Operand, token: Token, arguments: &[Operand]) -> ExprResult<StaticType> {
        let name = &self.text[token.range()];
        if base.static_type.is_unknown() || base.static_type.is_map() {
            return Ok(StaticType::UNKNOWN);
        }
        if let Some(method) = crate::time::method(base.static_type, name) {
            self.check_parameters(name, token, method.parameters, arguments)?;
            return Ok(method.result);
        }
        let kind = base.static_type.name();
        Err(crate::time::unknown_method(Error::compile, token.range(), kind, name, base.static_type))
    }
}
