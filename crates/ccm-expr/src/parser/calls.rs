//! Function calls and their predicates.

use super::rules::check_count;
use super::{LOOSEST, Operand, Parser, PredicateScope, deepest};
use crate::error::{Error, ExprResult};
use crate::functions::{self, Implementation, Predicate};
use crate::lexer::{Token, TokenKind};
use crate::static_type::{Base, StaticType};
use crate::tree::{NodeKind, TextSpan};

/// Advice on the braces of a map, which a predicate has around its expressions.
const MAP_IN_PREDICATE: &str = "put parentheses around a map: `({key: value})`";

impl Parser<'_, '_> {
    /// Parses a call after its name. `piped` is the operand before `|`; `built_in` marks `::name`, which
    /// never calls a function of the embedding program.
    pub(super) fn call(
        &mut self,
        name: Token,
        piped: Option<Operand>,
        built_in: bool,
    ) -> ExprResult<Operand> {
        let start = piped.map_or(name.start, |piped| self.nodes[piped.node as usize].span.start);
        let word = &self.text[name.range()];
        let context = self.context;
        let own = context.functions.iter().find(|function| !built_in && function.name == word);
        if let Some(own) = own {
            let (arguments, end) = self.arguments(piped)?;
            check_count(word, name, own.min_arguments, own.max_arguments, arguments.len())?;
            let depth = deepest(&arguments) + 1;
            let arguments = self.adopt(&arguments);
            let kind = NodeKind::Call { name: name.span(), arguments };
            return self.push(kind, TextSpan { start, end }, StaticType::UNKNOWN, depth);
        }
        let Some((index, function)) = functions::find(word) else { return Err(self.unknown_function(name)) };
        let (arguments, end, static_type) = match function.run {
            Implementation::Predicate(predicate) => self.predicate_call(predicate, name, piped)?,
            Implementation::Plain(_) => {
                let (arguments, end) = self.arguments(piped)?;
                let static_type = self.check_call(function, name, &arguments)?;
                (arguments, end, static_type)
            }
        };
        let depth = deepest(&arguments) + 1;
        let arguments = self.adopt(&arguments);
        self.push(
            NodeKind::Builtin { function: index, arguments },
            TextSpan { start, end },
            static_type,
            depth,
        )
    }

    fn unknown_function(&self, name: Token) -> Box<Error> {
        let word = &self.text[name.range()];
        let own = self.context.functions.iter().map(|function| function.name);
        let known: Vec<&str> = own.chain(functions::names()).collect();
        let error = Error::compile(name.range(), format!("there is no function `{word}`"))
            .with_cause(crate::Cause::UnknownFunction(word.to_owned()));
        if self.variables.iter().any(|variable| self.slice(variable.name) == word) {
            return error.with_hint(format!("remove the parentheses: `{word}` is a variable"));
        }
        if ccm_model::closest(word, known.iter().copied()).is_none() {
            // An abbreviation is too short to be close to a name, but may hold letters of the name in order.
            let longer = known.iter().filter(|name| word.len() > 1 && abbreviates(word, name));
            if let Some(name) = longer.min_by_key(|name| name.len()) {
                return error.with_hint(format!("did you mean `{name}`?"));
            }
        }
        error.did_you_mean(word, known)
    }

    pub(super) fn arguments(&mut self, piped: Option<Operand>) -> ExprResult<(Vec<Operand>, u32)> {
        self.expect(TokenKind::LeftParenthesis, "`(` and the function's arguments")?;
        let (written, close) = self.expressions(TokenKind::RightParenthesis, "`,` or `)`")?;
        Ok((piped.into_iter().chain(written).collect(), close.end))
    }

    /// Parses the arguments of a function with a predicate: a list, the predicate and an optional third.
    fn predicate_call(
        &mut self,
        predicate: Predicate,
        name: Token,
        piped: Option<Operand>,
    ) -> ExprResult<(Vec<Operand>, u32, StaticType)> {
        let word = &self.text[name.range()];
        let optional = matches!(predicate, Predicate::Count | Predicate::Sum);
        let third = matches!(predicate, Predicate::SortBy | Predicate::Reduce);
        let missing = |parser: &Self| {
            let message = format!("`{word}` needs a list and a predicate");
            Error::syntax(name.start as usize..parser.current.range().end, message)
                .with_hint(format!("write for example `{word}(list, # > 1)`"))
        };
        self.expect(TokenKind::LeftParenthesis, "`(` and the function's arguments")?;
        let was_piped = piped.is_some();
        let list = match piped {
            Some(piped) => piped,
            None if self.at(TokenKind::RightParenthesis) => return Err(missing(self)),
            None => self.expression(LOOSEST)?,
        };
        if !list.static_type.is_list() && !list.static_type.is_unknown() {
            let message = format!("`{word}` takes a list, found {}", list.static_type.name());
            return Err(Error::compile(self.range_of(list.node), message));
        }
        let mut arguments = vec![list];
        let mut static_type = None;
        if !self.at(TokenKind::RightParenthesis) {
            if !was_piped {
                self.expect(TokenKind::Comma, "`,` or `)`")?;
            }
            if !self.at(TokenKind::RightParenthesis) {
                let body = self.predicate(predicate, list.static_type)?;
                self.check_predicate(predicate, body)?;
                static_type = Some(body.static_type);
                arguments.push(body);
            }
        }
        if static_type.is_none() && !optional {
            return Err(missing(self));
        }
        if third && self.at(TokenKind::Comma) {
            self.advance()?;
            if !self.at(TokenKind::RightParenthesis) {
                arguments.push(self.expression(LOOSEST)?);
            }
        }
        self.take(TokenKind::Comma)?;
        let close = self.expect(TokenKind::RightParenthesis, "`)`")?;
        Ok((arguments, close.end, result(predicate, list.static_type, static_type)))
    }

    fn predicate(&mut self, predicate: Predicate, collection: StaticType) -> ExprResult<Operand> {
        let braces = self.take(TokenKind::LeftBrace)?;
        if braces && self.at(TokenKind::RightBrace) {
            return Err(self.unexpected("a value").with_hint(MAP_IN_PREDICATE));
        }
        self.predicates.push(PredicateScope {
            collection,
            index: matches!(predicate, Predicate::Map | Predicate::Reduce),
            accumulator: predicate == Predicate::Reduce,
        });
        let body = if braces { self.sequence()? } else { self.expression(LOOSEST)? };
        self.predicates.pop();
        if braces && self.at(TokenKind::Colon) {
            return Err(self.unexpected("`}`").with_hint(MAP_IN_PREDICATE));
        }
        if braces {
            self.expect(TokenKind::RightBrace, "`}`")?;
        } else if self.at(TokenKind::Semicolon) {
            return Err(self
                .unexpected("`)`")
                .with_hint("put a predicate of several expressions between `{` and `}`"));
        }
        Ok(body)
    }

    fn check_predicate(&self, predicate: Predicate, body: Operand) -> ExprResult<()> {
        if body.static_type.is_nil() {
            let message = "this predicate is always nil";
            return Err(Error::compile(self.range_of(body.node), message));
        }
        let free = matches!(
            predicate,
            Predicate::Map | Predicate::Sum | Predicate::GroupBy | Predicate::SortBy | Predicate::Reduce
        );
        if free || body.static_type.is_bool() || body.static_type.is_unknown() {
            return Ok(());
        }
        let message = format!("expected a boolean from the predicate, found {}", body.static_type.name());
        Err(Error::compile(self.range_of(body.node), message))
    }
}

/// Returns `true` if a word is a name with some letters left out, but not the first.
fn abbreviates(word: &str, name: &str) -> bool {
    let mut letters = name.chars();
    word.chars().next() == name.chars().next()
        && word.chars().all(|letter| letters.any(|next| next.eq_ignore_ascii_case(&letter)))
}

/// Static type of a call with a predicate.
fn result(predicate: Predicate, list: StaticType, body: Option<StaticType>) -> StaticType {
    match predicate {
        Predicate::All | Predicate::None | Predicate::Any | Predicate::One => Base::Bool.into(),
        Predicate::Filter if list.is_unknown() => StaticType::LIST,
        Predicate::Filter => list.element().in_list(),
        Predicate::Map => body.unwrap_or(StaticType::UNKNOWN).in_list(),
        // A search may find nothing, but the language types its result as an element.
        Predicate::Find | Predicate::FindLast => list.element(),
        Predicate::Count | Predicate::FindIndex | Predicate::FindLastIndex => Base::Int.into(),
        Predicate::Sum => body.unwrap_or(list.element()),
        Predicate::GroupBy => Base::Groups.into(),
        Predicate::SortBy => list,
        Predicate::Reduce => body.unwrap_or(StaticType::UNKNOWN),
    }
}
