//! Calls of functions, with the predicates that some of them take.

use super::rules::check_count;
use super::{LOOSEST, Operand, Parser, PredicateScope, deepest};
use crate::error::{Error, Fallible};
use crate::functions::{self, Predicate, Run};
use crate::lexer::{Kind, Token};
use crate::nature::{Base, Nature};
use crate::tree::{NodeKind, Piece};

impl Parser<'_, '_> {
    /// A call whose name is read. `piped` is what stood before `|`. `built_in`: it was written `::name`, which
    /// is never a function of the caller.
    pub(super) fn call(&mut self, name: Token, piped: Option<Operand>, built_in: bool) -> Fallible<Operand> {
        let start = piped.map_or(name.start, |piped| self.nodes[piped.node as usize].piece.start);
        let word = &self.text[name.range()];
        let known = self.known;
        let own = known.functions.iter().find(|function| !built_in && function.name == word);
        if let Some(own) = own {
            let (arguments, end) = self.arguments(piped)?;
            check_count(word, name, own.least, own.most, arguments.len())?;
            let depth = deepest(&arguments) + 1;
            let arguments = self.adopt(&arguments);
            let kind = NodeKind::Call { name: Piece { start: name.start, end: name.end }, arguments };
            return self.push(kind, Piece { start, end }, Nature::UNKNOWN, depth);
        }
        let Some((index, function)) = functions::find(word) else { return Err(self.unknown_function(name)) };
        let (arguments, end, nature) = match function.run {
            Run::Predicate(predicate) => self.predicate_call(predicate, name, piped)?,
            Run::Plain(_) => {
                let (arguments, end) = self.arguments(piped)?;
                let nature = self.check_call(function, name, &arguments)?;
                (arguments, end, nature)
            }
        };
        let depth = deepest(&arguments) + 1;
        let arguments = self.adopt(&arguments);
        self.push(NodeKind::Builtin { function: index, arguments }, Piece { start, end }, nature, depth)
    }

    fn unknown_function(&self, name: Token) -> Box<Error> {
        let word = &self.text[name.range()];
        let own = self.known.functions.iter().map(|function| function.name);
        let known: Vec<&str> = own.chain(functions::names()).collect();
        let error = Error::compile(name.range(), format!("there is no function `{word}`"))
            .because(crate::Cause::UnknownName(word.to_owned()));
        if self.variables.iter().any(|variable| self.slice(variable.name) == word) {
            return error.hint(format!("`{word}` is a variable, and no function"));
        }
        if ccm_model::closest(word, known.iter().copied()).is_none() {
            // A few letters are too little to be near anything, but may be left of a longer name.
            let longer = known.iter().filter(|name| word.len() > 1 && abbreviates(word, name));
            if let Some(name) = longer.min_by_key(|name| name.len()) {
                return error.hint(format!("did you mean `{name}`?"));
            }
        }
        error.did_you_mean(word, known)
    }

    /// Arguments between parentheses, and where they end.
    pub(super) fn arguments(&mut self, piped: Option<Operand>) -> Fallible<(Vec<Operand>, u32)> {
        self.expect(Kind::LeftParenthesis, "`(` and the function's arguments")?;
        let mut arguments: Vec<Operand> = piped.into_iter().collect();
        let mut first = true;
        while !self.at(Kind::RightParenthesis) {
            if !first {
                self.expect(Kind::Comma, "`,` or `)`")?;
                if self.at(Kind::RightParenthesis) {
                    break;
                }
            }
            first = false;
            arguments.push(self.expression(LOOSEST)?);
        }
        let close = self.advance()?;
        Ok((arguments, close.end))
    }

    /// The arguments of a function with a predicate: a list, the predicate, for some one more.
    fn predicate_call(
        &mut self,
        predicate: Predicate,
        name: Token,
        piped: Option<Operand>,
    ) -> Fallible<(Vec<Operand>, u32, Nature)> {
        let word = &self.text[name.range()];
        let optional = matches!(predicate, Predicate::Count | Predicate::Sum);
        let third = matches!(predicate, Predicate::SortBy | Predicate::Reduce);
        let missing = |parser: &Self| {
            let message = format!("`{word}` needs a list and a predicate");
            Error::compile(name.start as usize..parser.current.range().end, message)
                .hint(format!("for example `{word}(list, # > 1)`"))
        };
        self.expect(Kind::LeftParenthesis, "`(` and the function's arguments")?;
        let was_piped = piped.is_some();
        let list = match piped {
            Some(piped) => piped,
            None if self.at(Kind::RightParenthesis) => return Err(missing(self)),
            None => self.expression(LOOSEST)?,
        };
        if !list.nature.is_list() && !list.nature.is_unknown() {
            let message = format!("`{word}` takes a list, found {}", list.nature.name());
            return Err(Error::compile(self.range_of(list.node), message));
        }
        let mut arguments = vec![list];
        let mut nature = None;
        if !self.at(Kind::RightParenthesis) {
            if !was_piped {
                self.expect(Kind::Comma, "`,` or `)`")?;
            }
            if !self.at(Kind::RightParenthesis) {
                let body = self.predicate(predicate, list.nature)?;
                self.check_predicate(predicate, body)?;
                nature = Some(body.nature);
                arguments.push(body);
            }
        }
        if nature.is_none() && !optional {
            return Err(missing(self));
        }
        if third && self.at(Kind::Comma) {
            self.advance()?;
            if !self.at(Kind::RightParenthesis) {
                arguments.push(self.expression(LOOSEST)?);
            }
        }
        self.take(Kind::Comma)?;
        let close = self.expect(Kind::RightParenthesis, "`)`")?;
        Ok((arguments, close.end, result(predicate, list.nature, nature)))
    }

    /// A predicate, perhaps between braces.
    fn predicate(&mut self, predicate: Predicate, collection: Nature) -> Fallible<Operand> {
        let braces = self.take(Kind::LeftBrace)?;
        self.predicates.push(PredicateScope {
            collection,
            index: matches!(predicate, Predicate::Map | Predicate::Reduce),
            accumulator: predicate == Predicate::Reduce,
        });
        let body = if braces { self.sequence()? } else { self.expression(LOOSEST)? };
        self.predicates.pop();
        if braces {
            self.expect(Kind::RightBrace, "`}`")?;
        } else if self.at(Kind::Semicolon) {
            return Err(self
                .unexpected("`)`")
                .hint("a predicate of several expressions stands between `{` and `}`"));
        }
        Ok(body)
    }

    fn check_predicate(&self, predicate: Predicate, body: Operand) -> Fallible<()> {
        if body.nature.is_nil() {
            let message = "this predicate yields nothing, ever";
            return Err(Error::compile(self.range_of(body.node), message));
        }
        let free = matches!(
            predicate,
            Predicate::Map | Predicate::Sum | Predicate::GroupBy | Predicate::SortBy | Predicate::Reduce
        );
        if free || body.nature.is_bool() || body.nature.is_unknown() {
            return Ok(());
        }
        let message = format!("expected a boolean from the predicate, found {}", body.nature.name());
        Err(Error::compile(self.range_of(body.node), message))
    }
}

/// Whether a word is what is left of a name without some letters; the first one is there.
fn abbreviates(word: &str, name: &str) -> bool {
    let mut letters = name.chars();
    word.chars().next() == name.chars().next()
        && word.chars().all(|letter| letters.any(|next| next.eq_ignore_ascii_case(&letter)))
}

/// What a function with a predicate yields.
fn result(predicate: Predicate, list: Nature, body: Option<Nature>) -> Nature {
    match predicate {
        Predicate::All | Predicate::None | Predicate::Any | Predicate::One => Base::Bool.into(),
        Predicate::Filter if list.is_unknown() => Nature::LIST,
        Predicate::Filter => list.element().in_list(),
        Predicate::Map => body.unwrap_or(Nature::UNKNOWN).in_list(),
        // A search may come to nothing, so its result may be anything when it comes to that; still the
        // language takes it for what it found.
        Predicate::Find | Predicate::FindLast => list.element(),
        Predicate::Count | Predicate::FindIndex | Predicate::FindLastIndex => Base::Int.into(),
        Predicate::Sum => body.unwrap_or(list.element()),
        Predicate::GroupBy => Base::Groups.into(),
        Predicate::SortBy => list,
        Predicate::Reduce => body.unwrap_or(Nature::UNKNOWN),
    }
}
