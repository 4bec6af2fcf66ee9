//! The rules of kinds that can be checked on reading, and the arithmetic that can be done there.

use regex::Regex;

use super::{Operand, Parser};
use crate::error::{Error, Fallible};
use crate::functions::{Builtin, Signature};
use crate::lexer::Token;
use crate::nature::{Base, Nature};
use crate::tree::{Operator, Prefix};
use crate::{Value, pattern};

impl Parser<'_, '_> {
    pub(super) fn check_prefix(&self, prefix: Prefix, token: Token, operand: Operand) -> Fallible<Nature> {
        let nature = operand.nature;
        match prefix {
            Prefix::Not if nature.is_bool() || nature.is_unknown() => Ok(Base::Bool.into()),
            Prefix::Minus | Prefix::Plus if nature.is_number() || nature.is_unknown() => Ok(nature),
            _ => {
                let sign = &self.text[token.range()];
                let expected = if prefix == Prefix::Not { "a boolean" } else { "a number" };
                let message = format!("expected {expected} after `{sign}`, found {}", nature.name());
                Err(Error::compile(self.range_of(operand.node), message))
            }
        }
    }

    /// The kind of an operation, or why there is none.
    pub(super) fn check_binary(
        &self,
        operator: Operator,
        token: Token,
        left: Operand,
        right: Operand,
    ) -> Fallible<Nature> {
        let found = match operator {
            Operator::In => return self.check_in(token, left, right),
            Operator::Coalesce => Some(coalesced(left.nature, right.nature)),
            _ => operation(operator, left.nature, right.nature),
        };
        found.ok_or_else(|| self.mismatch(operator, token, left, right))
    }

    fn mismatch(&self, operator: Operator, token: Token, left: Operand, right: Operand) -> Box<Error> {
        let sign = &self.text[token.range()];
        let message =
            format!("`{sign}` has no meaning between {} and {}", left.nature.name(), right.nature.name());
        let error = Error::compile(token.range(), message);
        let one_text = left.nature.is_text() != right.nature.is_text();
        let one_number = left.nature.is_number() != right.nature.is_number();
        if let Some(hint) = operator.hint_for_text().filter(|_| one_text && one_number) {
            return error.hint(hint);
        }
        match operator {
            Operator::Equal | Operator::NotEqual if one_text && one_number => error.hint(
                "turn the text into a number with int(…) or float(…), or the number into text with string(…)",
            ),
            Operator::Matches | Operator::Contains | Operator::StartsWith | Operator::EndsWith
                if left.nature.is_bool() =>
            {
                error.hint(format!("`not` binds more tightly than `{sign}`: write `a not {sign} b`"))
            }
            Operator::Contains if left.nature.is_list() => error.hint("`element in list` looks into a list"),
            _ => error,
        }
    }

    fn check_in(&self, token: Token, left: Operand, right: Operand) -> Fallible<Nature> {
        let (needle, whole) = (left.nature, right.nature);
        let (expected, right_kind) = match whole.base() {
            Some(Base::Map) => ("text as the key of a map", needle.is_unknown() || needle.is_text()),
            Some(Base::Groups | Base::Unknown) => ("", true),
            _ if whole.is_list() => ("an element of the list's kind", needle.comparable(whole.element())),
            Some(Base::Text) if needle.is_unknown() => ("", true),
            _ => {
                let error = self.mismatch(Operator::In, token, left, right);
                return Err(if whole.is_text() {
                    error.hint("`whole contains part` looks into a text")
                } else {
                    error
                });
            }
        };
        if right_kind {
            return Ok(Base::Bool.into());
        }
        let message = format!("expected {expected}, found {}", needle.name());
        Err(Error::compile(self.range_of(left.node), message))
    }

    pub(super) fn check_conditional(
        &self,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    ) -> Fallible<Nature> {
        if !condition.nature.is_bool() && !condition.nature.is_unknown() {
            let message = format!("expected a boolean as the condition, found {}", condition.nature.name());
            let error = Error::compile(self.range_of(condition.node), message);
            return Err(if condition.nature.is_nil() {
                error
            } else {
                error.hint("compare it with something")
            });
        }
        let (then, otherwise) = (then.nature, otherwise.nature);
        Ok(match (then.is_nil(), otherwise.is_nil()) {
            (true, _) => otherwise,
            (false, true) => then,
            _ if then == otherwise => then,
            _ if then.fits(otherwise) => Nature::LIST,
            _ => Nature::UNKNOWN,
        })
    }

    /// Refuses a variable that would hide something.
    pub(super) fn check_declaration(&self, name: Token) -> Fallible<()> {
        let word = &self.text[name.range()];
        let taken = if self.known.names.iter().any(|(known, _)| *known == word) {
            "a name"
        } else if self.known.functions.iter().any(|function| function.name == word)
            || crate::functions::find(word).is_some()
        {
            "a function"
        } else if self.variables.iter().any(|variable| self.slice(variable.name) == word) {
            "a variable"
        } else {
            return Ok(());
        };
        Err(Error::compile(name.range(), format!("`{word}` is already {taken}"))
            .hint("give the variable another name"))
    }

    /// Checks a call of a function of the language.
    pub(super) fn check_call(
        &self,
        function: &Builtin,
        token: Token,
        arguments: &[Operand],
    ) -> Fallible<Nature> {
        if function.doc.name == "get" && arguments.len() == 2 {
            return self.check_get(arguments[0], arguments[1]);
        }
        let Signature { accepts, result, .. } = function.signature;
        let mut signature = function.signature;
        // A time zone may stand before everything else that date() takes.
        if function.doc.name == "date"
            && arguments.first().is_none_or(|first| first.nature.base() != Some(Base::Zone))
        {
            signature.most = 3;
        }
        check_count(function.doc.name, token, signature.least, signature.most, arguments.len())?;
        for (at, argument) in arguments.iter().enumerate() {
            let Some(accepted) = accepts.get(at).or(accepts.last()) else { continue };
            if !accepted.takes(argument.nature) {
                let message = format!(
                    "`{}` takes {} here, found {}",
                    function.doc.name,
                    accepted.name(),
                    argument.nature.name()
                );
                return Err(Error::compile(self.range_of(argument.node), message));
            }
            // One list among numbers, and the language looks no further.
            let open = argument.nature.is_list() || argument.nature.is_unknown();
            if open && accepted.takes_numbers_and_lists() {
                return Ok(Nature::UNKNOWN);
            }
        }
        let natures: Vec<Nature> = arguments.iter().map(|argument| argument.nature).collect();
        Ok(result(&natures))
    }

    fn check_get(&self, whole: Operand, key: Operand) -> Fallible<Nature> {
        let (whole_nature, key_nature) = (whole.nature, key.nature);
        let expected = match whole_nature.base() {
            Some(Base::Unknown) => return Ok(Nature::UNKNOWN),
            Some(Base::Map) if key_nature.is_text() || key_nature.is_unknown() => return Ok(Nature::UNKNOWN),
            Some(Base::Map) => "text as the key of a map",
            Some(Base::Groups) => return Ok(Nature::LIST),
            _ if whole_nature.is_list() && (key_nature.is_int() || key_nature.is_unknown()) => {
                return Ok(whole_nature.element());
            }
            _ if whole_nature.is_list() => "an integer as the place in a list",
            _ => {
                let message = format!("`get` takes a list or a map, found {}", whole_nature.name());
                return Err(Error::compile(self.range_of(whole.node), message));
            }
        };
        let message = format!("expected {expected}, found {}", key_nature.name());
        Err(Error::compile(self.range_of(key.node), message))
    }

    /// Checks the arguments of a method.
    pub(super) fn check_parameters(
        &self,
        name: &str,
        token: Token,
        parameters: &[Nature],
        arguments: &[Operand],
    ) -> Fallible<()> {
        check_count(name, token, parameters.len(), parameters.len(), arguments.len())?;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            if !argument.nature.is_unknown() && argument.nature != *parameter {
                let message =
                    format!("`{name}` takes {}, found {}", parameter.name(), argument.nature.name());
                return Err(Error::compile(self.range_of(argument.node), message));
            }
        }
        Ok(())
    }

    /// Works out an operation between constants.
    pub(super) fn fold(
        &self,
        operator: Operator,
        token: Token,
        left: Operand,
        right: Operand,
    ) -> Fallible<Option<Value>> {
        let (Some(Value::Int(left)), Some(Value::Int(right))) = (self.constant(left), self.constant(right))
        else {
            return Ok(None);
        };
        let value = match operator {
            Operator::Add => left.wrapping_add(*right),
            Operator::Subtract => left.wrapping_sub(*right),
            Operator::Multiply => left.wrapping_mul(*right),
            Operator::Modulo if *right == 0 => {
                return Err(Error::compile(token.range(), "the remainder of a division by zero"));
            }
            Operator::Modulo => left.wrapping_rem(*right),
            _ => return Ok(None),
        };
        Ok(Some(Value::Int(value)))
    }

    /// Translates a pattern that is known, so that its mistakes show on reading.
    pub(super) fn constant_pattern(&self, right: Operand) -> Fallible<Option<Regex>> {
        let Some(Value::Text(written)) = self.constant(right) else { return Ok(None) };
        pattern::compile(written).map(Some).map_err(|problem| {
            let error = Error::compile(self.range_of(right.node), problem.message);
            if problem.limit { error.because(crate::Cause::Limit) } else { error }
        })
    }
}

/// The kind of an operation between two kinds, if it has a meaning.
fn operation(operator: Operator, left: Nature, right: Nature) -> Option<Nature> {
    let is = |nature: Nature, base| nature.base() == Some(base);
    // Where one side is unknown, the other has to be of a kind that the operator knows.
    let maybe = |test: &dyn Fn(Nature) -> bool| {
        left.is_unknown() && right.is_unknown()
            || left.is_unknown() && test(right)
            || right.is_unknown() && test(left)
    };
    let both = |test: fn(Nature) -> bool| test(left) && test(right);
    let pair = |first, second| is(left, first) && is(right, second);
    let float = Some(Base::Float.into());
    let boolean = Some(Base::Bool.into());
    let numeric = if both(Nature::is_int) { Base::Int } else { Base::Float };
    let measured =
        |nature: Nature| nature.is_number() || is(nature, Base::Moment) || is(nature, Base::Duration);
    match operator {
        Operator::Equal | Operator::NotEqual => left.comparable(right).then_some(Base::Bool.into()),
        Operator::Or | Operator::And if both(Nature::is_bool) || maybe(&Nature::is_bool) => boolean,
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let ordered = both(Nature::is_number)
                || both(Nature::is_text)
                || pair(Base::Moment, Base::Moment)
                || pair(Base::Duration, Base::Duration)
                || maybe(&|nature| measured(nature) || nature.is_text());
            ordered.then_some(Base::Bool.into())
        }
        Operator::Add if both(Nature::is_text) => Some(Base::Text.into()),
        Operator::Add | Operator::Subtract | Operator::Multiply if both(Nature::is_number) => {
            Some(numeric.into())
        }
        Operator::Add if pair(Base::Moment, Base::Duration) || pair(Base::Duration, Base::Moment) => {
            Some(Base::Moment.into())
        }
        Operator::Subtract if pair(Base::Moment, Base::Duration) => Some(Base::Moment.into()),
        Operator::Subtract if pair(Base::Moment, Base::Moment) => Some(Base::Duration.into()),
        Operator::Add | Operator::Subtract | Operator::Multiply if pair(Base::Duration, Base::Duration) => {
            Some(Base::Duration.into())
        }
        Operator::Multiply
            if left.is_number() && is(right, Base::Duration)
                || is(left, Base::Duration) && right.is_number() =>
        {
            Some(Base::Duration.into())
        }
        Operator::Add => maybe(&|nature| measured(nature) || nature.is_text()).then_some(Nature::UNKNOWN),
        Operator::Subtract => maybe(&measured).then_some(Nature::UNKNOWN),
        Operator::Multiply => {
            maybe(&|nature| nature.is_number() || is(nature, Base::Duration)).then_some(Nature::UNKNOWN)
        }
        Operator::Divide | Operator::Power if both(Nature::is_number) || maybe(&Nature::is_number) => float,
        Operator::Modulo if both(Nature::is_int) || maybe(&Nature::is_int) => Some(Base::Int.into()),
        Operator::Range if both(Nature::is_int) || maybe(&Nature::is_int) => Some(Base::Ints.into()),
        Operator::Matches if is(left, Base::Bytes) && right.is_text() => boolean,
        Operator::Matches | Operator::Contains | Operator::StartsWith | Operator::EndsWith
            if both(Nature::is_text) || maybe(&Nature::is_text) =>
        {
            boolean
        }
        _ => None,
    }
}

/// The kind of `left ?? right`.
fn coalesced(left: Nature, right: Nature) -> Nature {
    match (left.is_nil(), right.is_nil()) {
        (true, _) => right,
        (false, true) => left,
        _ if right.fits(left) => left,
        _ => Nature::UNKNOWN,
    }
}

/// Refuses a call with too few or too many arguments.
pub(super) fn check_count(name: &str, token: Token, least: usize, most: usize, found: usize) -> Fallible<()> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    let takes = match (least, most) {
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "one argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) => format!("{least} to {most} arguments"),
    };
    Err(Error::compile(token.range(), format!("`{name}` takes {takes}, found {found}")))
}
