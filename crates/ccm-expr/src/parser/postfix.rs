//! What stands after an operand: `.name`, `?.name`, `[key]`, `[from:to]` and calls of methods.

use super::{LOOSEST, Operand, Parser, deepest};
use crate::error::{Error, Fallible};
use crate::lexer::{Kind, Token};
use crate::nature::{Base, Nature};
use crate::tree::{Access, NodeKind, Piece};

impl Parser<'_, '_> {
    pub(super) fn postfix(&mut self, mut operand: Operand) -> Fallible<Operand> {
        loop {
            operand = match self.current.kind {
                Kind::Dot => {
                    self.advance()?;
                    self.member(operand, false)?
                }
                Kind::OptionalDot => {
                    self.advance()?;
                    if self.at(Kind::LeftBracket) {
                        self.item(operand, true)?
                    } else {
                        self.member(operand, true)?
                    }
                }
                Kind::LeftBracket => self.item(operand, false)?,
                _ => return Ok(operand),
            };
        }
    }

    /// `.name`, perhaps with arguments; the dot is read.
    fn member(&mut self, operand: Operand, optional: bool) -> Fallible<Operand> {
        let name = self.member_name()?;
        // What follows a `?.` with a dot is skipped along with it.
        let (base, chained) = match self.nodes[operand.node as usize].kind {
            NodeKind::Chain(inner) => (inner, true),
            _ => (operand.node, false),
        };
        let base = Operand { node: base, ..operand };
        let piece = Piece { start: name.start, end: name.end };
        let access = Access { optional, lenient: false };
        let start = self.nodes[base.node as usize].piece.start;
        let read = if self.at(Kind::LeftParenthesis) {
            let (arguments, end) = self.arguments(None)?;
            let nature = self.check_method(base, name, &arguments)?;
            let depth = deepest(&arguments).max(base.depth) + 1;
            let children = self.adopt(&arguments);
            let kind = NodeKind::Method { base: base.node, name: piece, access, arguments: children };
            self.push(kind, Piece { start, end }, nature, depth)?
        } else {
            let nature = self.check_member(base, name)?;
            let kind = NodeKind::Member { base: base.node, name: piece, access };
            self.push(kind, Piece { start, end: name.end }, nature, base.depth + 1)?
        };
        if optional || chained { self.chain(read) } else { Ok(read) }
    }

    fn chain(&mut self, inner: Operand) -> Fallible<Operand> {
        let piece = self.nodes[inner.node as usize].piece;
        self.push(NodeKind::Chain(inner.node), piece, inner.nature, inner.depth)
    }

    /// The name after a dot; words of the language are names there.
    fn member_name(&mut self) -> Fallible<Token> {
        match self.current.kind {
            Kind::Name
            | Kind::And
            | Kind::Or
            | Kind::Not
            | Kind::In
            | Kind::Matches
            | Kind::Contains
            | Kind::StartsWith
            | Kind::EndsWith
            | Kind::Let
            | Kind::If
            | Kind::Else
                if self.text[self.current.range()].starts_with(|first: char| {
                    !first.is_ascii_punctuation() || first == '_' || first == '$'
                }) =>
            {
                self.advance()
            }
            Kind::Number => Err(self.unexpected("a name").hint("an element of a list is asked for as `[0]`")),
            _ => Err(self.unexpected("a name").hint("a key that is no name is asked for as `[\"key\"]`")),
        }
    }

    /// `[key]` or `[from:to]`; the bracket is not read yet.
    fn item(&mut self, base: Operand, optional: bool) -> Fallible<Operand> {
        let open = self.advance()?;
        let from = if self.at(Kind::Colon) { None } else { Some(self.expression(LOOSEST)?) };
        let start = self.nodes[base.node as usize].piece.start;
        if self.take(Kind::Colon)? {
            let to = if self.at(Kind::RightBracket) { None } else { Some(self.expression(LOOSEST)?) };
            let close = self.expect(Kind::RightBracket, "`]`")?;
            let nature = self.check_slice(base, from, to)?;
            let parts = [Some(base), from, to];
            let depth = parts.iter().flatten().map(|part| part.depth).max().unwrap_or_default() + 1;
            let kind = NodeKind::Slice {
                base: base.node,
                from: from.map(|from| from.node),
                to: to.map(|to| to.node),
            };
            return self.push(kind, Piece { start, end: close.end }, nature, depth);
        }
        let Some(key) = from else { return Err(self.unexpected("a key")) };
        let close = self.expect(Kind::RightBracket, "`]`")?;
        let nature = self.check_item(base, key, open)?;
        let access = Access { optional, lenient: false };
        let depth = base.depth.max(key.depth) + 1;
        let kind = NodeKind::Item { base: base.node, key: key.node, access };
        let read = self.push(kind, Piece { start, end: close.end }, nature, depth)?;
        if optional { self.chain(read) } else { Ok(read) }
    }

    /// The kind of `base.name`.
    fn check_member(&self, base: Operand, token: Token) -> Fallible<Nature> {
        let name = &self.text[token.range()];
        if matches!(self.nodes[base.node as usize].kind, NodeKind::Environment) {
            return Ok(self.known_nature(name));
        }
        match base.nature.base() {
            Some(Base::Unknown | Base::Map | Base::Groups) => Ok(base.nature.element()),
            Some(Base::Duration | Base::Moment | Base::Month | Base::Weekday | Base::Zone) => {
                let message = format!("{} has no field `{name}`", base.nature.name());
                let methods = crate::time::methods(base.nature);
                let error = Error::compile(token.range(), message);
                Err(if methods.clone().any(|method| method == name) {
                    error.hint(format!("it is a method: `{name}()`"))
                } else {
                    error.did_you_mean(name, methods)
                })
            }
            _ => {
                let error =
                    Error::compile(token.range(), format!("{} has no field `{name}`", base.nature.name()));
                Err(if base.nature.is_list() {
                    error.hint("an element is asked for as `[0]`; a field of each with map(list, .field)")
                } else {
                    error
                })
            }
        }
    }

    fn check_item(&self, base: Operand, key: Operand, open: Token) -> Fallible<Nature> {
        let key_text = match self.constant(key) {
            Some(crate::Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let environment = matches!(self.nodes[base.node as usize].kind, NodeKind::Environment);
        match base.nature.base() {
            _ if environment => Ok(key_text.map_or(Nature::UNKNOWN, |name| self.known_nature(&name))),
            Some(Base::Unknown | Base::Groups) => Ok(base.nature.element()),
            Some(Base::Map) if key.nature.is_text() || key.nature.is_unknown() => Ok(Nature::UNKNOWN),
            Some(Base::Map) => Err(Error::compile(
                self.range_of(key.node),
                format!("expected text as the key of a map, found {}", key.nature.name()),
            )),
            _ if base.nature.is_list() && (key.nature.is_int() || key.nature.is_unknown()) => {
                Ok(base.nature.element())
            }
            _ if base.nature.is_list() => Err(Error::compile(
                self.range_of(key.node),
                format!("expected an integer as the place in a list, found {}", key.nature.name()),
            )),
            _ => {
                let range = open.start as usize..self.range_of(key.node).end;
                let error = Error::compile(range, format!("{} has no elements", base.nature.name()));
                Err(if base.nature.is_text() { error.hint("a part of a text is `[from:to]`") } else { error })
            }
        }
    }

    fn check_slice(&self, base: Operand, from: Option<Operand>, to: Option<Operand>) -> Fallible<Nature> {
        if base.nature.is_unknown() {
            return Ok(Nature::UNKNOWN);
        }
        if !base.nature.is_text() && !base.nature.is_list() {
            let message = format!("expected a list or text, found {}", base.nature.name());
            return Err(Error::compile(self.range_of(base.node), message));
        }
        for place in [from, to].into_iter().flatten() {
            if !place.nature.is_int() && !place.nature.is_unknown() {
                let message = format!("expected an integer as a place, found {}", place.nature.name());
                return Err(Error::compile(self.range_of(place.node), message));
            }
        }
        Ok(base.nature)
    }

    fn check_method(&self, base: Operand, token: Token, arguments: &[Operand]) -> Fallible<Nature> {
        let name = &self.text[token.range()];
        if base.nature.is_unknown() || base.nature.is_map() {
            return Ok(Nature::UNKNOWN);
        }
        if let Some(method) = crate::time::method(base.nature, name) {
            self.check_parameters(name, token, method.parameters, arguments)?;
            return Ok(method.result);
        }
        let message = format!("{} has no method `{name}`", base.nature.name());
        let error = Error::compile(token.range(), message);
        let error = error.did_you_mean(name, crate::time::methods(base.nature));
        Err(if crate::functions::find(name).is_some() {
            error.hint(format!("`{name}` is a function: `{name}(…)` or `… | {name}()`"))
        } else {
            error
        })
    }
}
