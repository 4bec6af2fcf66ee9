//! Type checks of the parser, and constant folding.

use regex::Regex;

use super::{Operand, Parser};
use crate::error::{Error, ExprResult, Stage};
use crate::evaluator::NoResult;
use crate::functions::{Builtin, Signature};
use crate::lexer::Token;
use crate::static_type::{Base, StaticType};
use crate::tree::{NodeKind, Operator, Prefix};
use crate::{Value, pattern};

/// Advice on a comparison of a number with text.
const BETWEEN_KINDS: &str =
    "turn the text into a number with int(…) or float(…), or the number into text with string(…)";

impl Parser<'_, '_> {
    pub(super) fn check_prefix(
        &self,
        prefix: Prefix,
        token: Token,
        operand: Operand,
    ) -> ExprResult<StaticType> {
        let static_type = operand.static_type;
        match prefix {
            Prefix::Not if static_type.is_bool() || static_type.is_unknown() => Ok(Base::Bool.into()),
            Prefix::Minus | Prefix::Plus if static_type.is_number() || static_type.is_unknown() => {
                Ok(static_type)
            }
            _ => {
                let sign = &self.text[token.range()];
                let expected = if prefix == Prefix::Not { "a boolean" } else { "a number" };
                let message = format!("expected {expected} after `{sign}`, found {}", static_type.name());
                Err(Error::compile(self.range_of(operand.node), message))
            }
        }
    }

    /// Returns the type of an operation, or an error if the operands do not fit.
    pub(super) fn check_binary(
        &self,
        operator: Operator,
        token: Token,
        left: Operand,
        right: Operand,
    ) -> ExprResult<StaticType> {
        let found = match operator {
            Operator::In => return self.check_in(token, left, right),
            Operator::Coalesce => Some(coalesced(left.static_type, right.static_type)),
            _ => operation(operator, left.static_type, right.static_type),
        };
        found.ok_or_else(|| self.mismatch(operator, token, left, right))
    }

    fn mismatch(&self, operator: Operator, token: Token, left: Operand, right: Operand) -> Box<Error> {
        let sign = &self.text[token.range()];
        let message = format!(
            "`{sign}` has no meaning between {} and {}",
            left.static_type.name(),
            right.static_type.name()
        );
        let error = Error::compile(token.range(), message);
        let one_text = left.static_type.is_text() != right.static_type.is_text();
        let one_number = left.static_type.is_number() != right.static_type.is_number();
        if let Some(hint) = operator.hint_for_text().filter(|_| one_text && one_number) {
            return error.with_hint(hint);
        }
        match operator {
            Operator::Equal | Operator::NotEqual if one_text && one_number => error.with_hint(BETWEEN_KINDS),
            Operator::Matches | Operator::Contains | Operator::StartsWith | Operator::EndsWith
                if left.static_type.is_bool() =>
            {
                error.with_hint(format!("write `a not {sign} b`: `not` binds more tightly than `{sign}`"))
            }
            Operator::Contains if left.static_type.is_list() => {
                error.with_hint("write `element in list` to search a list")
            }
            Operator::Or | Operator::And if right.static_type.is_text() || left.static_type.is_text() => {
                error.with_hint(self.boolean_of_text(operator, sign, left, right))
            }
            _ => error,
        }
    }

    /// Returns advice on `A == 'x' or 'y'`, `A or 'default'` and `A and 'x' or 'y'`.
    fn boolean_of_text(&self, operator: Operator, sign: &str, left: Operand, right: Operand) -> String {
        let written = |operand: Operand| &self.text[self.range_of(operand.node)];
        match (operator, &self.nodes[left.node as usize].kind) {
            (_, NodeKind::Binary(equals @ (Operator::Equal | Operator::NotEqual), subject, _)) => {
                let subject = &self.text[self.range_of(*subject)];
                let equals = if *equals == Operator::Equal { "==" } else { "!=" };
                format!(
                    "compare each value: `{} {sign} {subject} {equals} {}`",
                    written(left),
                    written(right)
                )
            }
            (Operator::Or, _) if !left.static_type.is_bool() => {
                format!("write `{} ?? {}` for a default", written(left), written(right))
            }
            _ => "write `CONDITION ? A : B` to choose a value".to_owned(),
        }
    }

    fn check_in(&self, token: Token, left: Operand, right: Operand) -> ExprResult<StaticType> {
        let (needle, whole) = (left.static_type, right.static_type);
        let (expected, right_kind) = match whole.base() {
            Some(Base::Map) => ("text as the key of a map", needle.is_unknown() || needle.is_text()),
            Some(Base::Groups | Base::Unknown) => ("", true),
            _ if whole.is_list() => ("an element of the list's type", needle.comparable(whole.element())),
            Some(Base::Text) if needle.is_unknown() => ("", true),
            _ => {
                let error = self.mismatch(Operator::In, token, left, right);
                return Err(
                    error.with_hint_if(whole.is_text(), "write `whole contains part` to search a text")
                );
            }
        };
        if right_kind {
            return Ok(Base::Bool.into());
        }
        let message = format!("expected {expected}, found {}", needle.name());
        let error = Error::compile(self.range_of(left.node), message);
        let element = whole.is_list().then(|| whole.element());
        let is_number_and_text = element.is_some_and(|element| {
            needle.is_text() && element.is_number() || needle.is_number() && element.is_text()
        });
        Err(error.with_hint_if(is_number_and_text, BETWEEN_KINDS))
    }

    pub(super) fn check_conditional(
        &self,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    ) -> ExprResult<StaticType> {
        if !condition.static_type.is_bool() && !condition.static_type.is_unknown() {
            let message =
                format!("expected a boolean as the condition, found {}", condition.static_type.name());
            let error = Error::compile(self.range_of(condition.node), message);
            let is_nil = condition.static_type.is_nil();
            return Err(error.with_hint_if(!is_nil, "compare the value with another"));
        }
        let (then, otherwise) = (then.static_type, otherwise.static_type);
        Ok(match (then.is_nil(), otherwise.is_nil()) {
            (true, _) => otherwise,
            (false, true) => then,
            _ if then == otherwise => then,
            _ if then.fits(otherwise) => StaticType::LIST,
            _ => StaticType::UNKNOWN,
        })
    }

    /// Refuses a variable that would shadow another name.
    pub(super) fn check_declaration(&self, name: Token) -> ExprResult<()> {
        let word = &self.text[name.range()];
        let taken = if self.context.names.iter().any(|(known, _)| *known == word) {
            "a name"
        } else if self.context.functions.iter().any(|function| function.name == word)
            || crate::functions::find(word).is_some()
        {
            "a function"
        } else if self.variables.iter().any(|variable| self.slice(variable.name) == word) {
            "a variable"
        } else {
            return Ok(());
        };
        Err(Error::compile(name.range(), format!("`{word}` is already {taken}"))
            .with_cause(crate::Cause::TakenName)
            .with_hint("give the variable another name"))
    }

    pub(super) fn check_call(
        &self,
        function: &Builtin,
        token: Token,
        arguments: &[Operand],
    ) -> ExprResult<StaticType> {
        if function.doc.name == "get" && arguments.len() == 2 {
            return self.check_get(arguments[0], arguments[1]);
        }
        let Signature { accepts, result, .. } = function.signature;
        let mut signature = function.signature;
        // `date()` accepts a time zone before its other arguments.
        if function.doc.name == "date"
            && arguments.first().is_none_or(|first| first.static_type.base() != Some(Base::Zone))
        {
            signature.most = 3;
        }
        check_count(function.doc.name, token, signature.least, signature.most, arguments.len())?;
        for (at, argument) in arguments.iter().enumerate() {
            let Some(accepted) = accepts.get(at).or(accepts.last()) else { continue };
            if !accepted.takes(argument.static_type) {
                let message = format!(
                    "`{}` takes {} here, found {}",
                    function.doc.name,
                    accepted.name(),
                    argument.static_type.name()
                );
                return Err(Error::compile(self.range_of(argument.node), message));
            }
            // Arguments after the first list are not checked.
            let open = argument.static_type.is_list() || argument.static_type.is_unknown();
            if open && accepted.takes_numbers_and_lists() {
                return Ok(StaticType::UNKNOWN);
            }
        }
        let types: Vec<StaticType> = arguments.iter().map(|argument| argument.static_type).collect();
        Ok(result(&types))
    }

    fn check_get(&self, whole: Operand, key: Operand) -> ExprResult<StaticType> {
        let (whole_type, key_type) = (whole.static_type, key.static_type);
        let expected = match whole_type.base() {
            Some(Base::Unknown) => return Ok(StaticType::UNKNOWN),
            Some(Base::Map) if key_type.is_text() || key_type.is_unknown() => return Ok(StaticType::UNKNOWN),
            Some(Base::Map) => "text as the key of a map",
            Some(Base::Groups) => return Ok(StaticType::LIST),
            _ if whole_type.is_list() && (key_type.is_int() || key_type.is_unknown()) => {
                return Ok(whole_type.element());
            }
            _ if whole_type.is_list() => "an integer as the index of a list",
            _ => {
                let message = format!("`get` takes a list or a map, found {}", whole_type.name());
                return Err(Error::compile(self.range_of(whole.node), message));
            }
        };
        let message = format!("expected {expected}, found {}", key_type.name());
        Err(Error::compile(self.range_of(key.node), message))
    }

    pub(super) fn check_parameters(
        &self,
        name: &str,
        token: Token,
        parameters: &[StaticType],
        arguments: &[Operand],
    ) -> ExprResult<()> {
        check_count(name, token, parameters.len(), parameters.len(), arguments.len())?;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            if !argument.static_type.is_unknown() && argument.static_type != *parameter {
                let message =
                    format!("`{name}` takes {}, found {}", parameter.name(), argument.static_type.name());
                return Err(Error::compile(self.range_of(argument.node), message));
            }
        }
        Ok(())
    }

    /// Evaluates an operation between constants.
    pub(super) fn fold(
        &self,
        operator: Operator,
        token: Token,
        left: Operand,
        right: Operand,
    ) -> ExprResult<Option<Value>> {
        let (Some(Value::Int(left)), Some(Value::Int(right))) = (self.constant(left), self.constant(right))
        else {
            return Ok(None);
        };
        let value = match operator {
            Operator::Add => left.checked_add(*right),
            Operator::Subtract => left.checked_sub(*right),
            Operator::Multiply => left.checked_mul(*right),
            Operator::Modulo if *right == 0 => {
                return Err(Error::compile(token.range(), "the remainder of a division by zero"));
            }
            // The remainder of the smallest integer and -1 is 0, although their quotient is out of range.
            Operator::Modulo => Some(left.wrapping_rem(*right)),
            _ => return Ok(None),
        };
        let Some(value) = value else {
            let mut error = NoResult::IntegerRange.at(token.range(), &self.text[token.range()]);
            error.stage = Stage::Compile;
            return Err(error);
        };
        Ok(Some(Value::Int(value)))
    }

    /// Compiles a constant pattern, so that its errors are found by parsing.
    pub(super) fn constant_pattern(&self, right: Operand) -> ExprResult<Option<Regex>> {
        let Some(Value::Text(written)) = self.constant(right) else { return Ok(None) };
        pattern::compile(written).map(Some).map_err(|refused| {
            let error = Error::compile(self.range_of(right.node), refused.message);
            if refused.limit { error.with_cause(crate::Cause::Limit) } else { error }
        })
    }
}

/// Type of an operation; `None` if the operands do not fit.
fn operation(operator: Operator, left: StaticType, right: StaticType) -> Option<StaticType> {
    let is = |static_type: StaticType, base| static_type.base() == Some(base);
    // If one side is unknown, the operator still has to accept the other.
    let maybe = |test: &dyn Fn(StaticType) -> bool| {
        left.is_unknown() && right.is_unknown()
            || left.is_unknown() && test(right)
            || right.is_unknown() && test(left)
    };
    let both = |test: fn(StaticType) -> bool| test(left) && test(right);
    let pair = |first, second| is(left, first) && is(right, second);
    let float = Some(Base::Float.into());
    let boolean = Some(Base::Bool.into());
    let numeric = if both(StaticType::is_int) { Base::Int } else { Base::Float };
    let measured = |static_type: StaticType| {
        static_type.is_number() || is(static_type, Base::DateTime) || is(static_type, Base::Duration)
    };
    match operator {
        Operator::Equal | Operator::NotEqual => left.comparable(right).then_some(Base::Bool.into()),
        Operator::Or | Operator::And if both(StaticType::is_bool) || maybe(&StaticType::is_bool) => boolean,
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let ordered = both(StaticType::is_number)
                || both(StaticType::is_text)
                || pair(Base::DateTime, Base::DateTime)
                || pair(Base::Duration, Base::Duration)
                || maybe(&|static_type| measured(static_type) || static_type.is_text());
            ordered.then_some(Base::Bool.into())
        }
        Operator::Add if both(StaticType::is_text) => Some(Base::Text.into()),
        Operator::Add | Operator::Subtract | Operator::Multiply if both(StaticType::is_number) => {
            Some(numeric.into())
        }
        Operator::Add if pair(Base::DateTime, Base::Duration) || pair(Base::Duration, Base::DateTime) => {
            Some(Base::DateTime.into())
        }
        Operator::Subtract if pair(Base::DateTime, Base::Duration) => Some(Base::DateTime.into()),
        Operator::Subtract if pair(Base::DateTime, Base::DateTime) => Some(Base::Duration.into()),
        Operator::Add | Operator::Subtract | Operator::Multiply if pair(Base::Duration, Base::Duration) => {
            Some(Base::Duration.into())
        }
        Operator::Multiply
            if left.is_number() && is(right, Base::Duration)
                || is(left, Base::Duration) && right.is_number() =>
        {
            Some(Base::Duration.into())
        }
        Operator::Add => maybe(&|static_type| measured(static_type) || static_type.is_text())
            .then_some(StaticType::UNKNOWN),
        Operator::Subtract => maybe(&measured).then_some(StaticType::UNKNOWN),
        Operator::Multiply => {
            maybe(&|static_type| static_type.is_number() || is(static_type, Base::Duration))
                .then_some(StaticType::UNKNOWN)
        }
        Operator::Divide | Operator::Power
            if both(StaticType::is_number) || maybe(&StaticType::is_number) =>
        {
            float
        }
        Operator::Modulo if both(StaticType::is_int) || maybe(&StaticType::is_int) => Some(Base::Int.into()),
        Operator::Range if both(StaticType::is_int) || maybe(&StaticType::is_int) => Some(Base::Ints.into()),
        Operator::Matches if is(left, Base::Bytes) && right.is_text() => boolean,
        Operator::Matches | Operator::Contains | Operator::StartsWith | Operator::EndsWith
            if both(StaticType::is_text) || maybe(&StaticType::is_text) =>
        {
            boolean
        }
        _ => None,
    }
}

fn coalesced(left: StaticType, right: StaticType) -> StaticType {
    match (left.is_nil(), right.is_nil()) {
        (true, _) => right,
        (false, true) => left,
        _ if right.fits(left) => left,
        _ => StaticType::UNKNOWN,
    }
}

/// Refuses a call with too few or too many arguments.
pub(super) fn check_count(
    name: &str,
    token: Token,
    least: usize,
    most: usize,
    found: usize,
) -> ExprResult<()> {
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
