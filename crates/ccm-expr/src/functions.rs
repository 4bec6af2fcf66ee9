//! Functions of the language: one table of signatures and implementations.

mod accepts;
mod aggregate;
mod bits;
mod convert;
mod dates;
mod lists;
pub(crate) mod maps;
mod number_text;
mod numbers;
pub(crate) mod sorting;
mod table;
mod text;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;

pub(crate) use accepts::Accepts;

use crate::Value;
use crate::limits::{Budget, Exhausted};
use crate::static_type::StaticType;

/// Documentation of a function of the language.
#[derive(Clone, Copy, Debug)]
pub struct FunctionDoc {
    /// Name.
    pub name: &'static str,
    /// Group: the kind of values that the function works on.
    pub group: &'static str,
    /// Call with its parameters.
    pub signature: &'static str,
    /// Description in one line.
    pub description: &'static str,
    /// Expressions, each with its value written as an expression.
    pub examples: &'static [(&'static str, &'static str)],
}

/// Returns every function of the language, by group.
pub fn reference() -> &'static [FunctionDoc] {
    static DOCS: LazyLock<Vec<FunctionDoc>> =
        LazyLock::new(|| table::TABLE.iter().map(|function| function.doc).collect());
    &DOCS
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Predicate {
    All,
    None,
    Any,
    One,
    Filter,
    Map,
    Count,
    Find,
    FindIndex,
    FindLast,
    FindLastIndex,
    Sum,
    GroupBy,
    SortBy,
    Reduce,
}

#[derive(Clone, Copy)]
pub(crate) enum Implementation {
    Predicate(Predicate),
    Plain(fn(&mut FunctionCall<'_>) -> ValueResult),
}

/// Arguments and result of a function, as far as the parser can check them.
#[derive(Clone, Copy)]
pub(crate) struct Signature {
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Kinds of each argument; the last entry holds for all that follow.
    pub(crate) accepts: &'static [Accepts],
    pub(crate) result: fn(&[StaticType]) -> StaticType,
}

pub(crate) struct Builtin {
    pub(crate) doc: FunctionDoc,
    pub(crate) signature: Signature,
    pub(crate) run: Implementation,
}

pub(crate) struct FunctionCall<'a> {
    pub(crate) arguments: &'a [Value],
    pub(crate) budget: &'a mut Budget,
    pub(crate) now: &'a dyn Fn() -> Timestamp,
}

#[derive(Debug)]
pub(crate) enum CallError {
    Argument(usize, String),
    Hinted(usize, String, String),
    /// A budget is used up.
    Limit(Exhausted),
}

type ValueResult = Result<Value, CallError>;

impl From<Exhausted> for CallError {
    fn from(exhausted: Exhausted) -> Self {
        Self::Limit(exhausted)
    }
}

pub(crate) fn find(name: &str) -> Option<(u16, &'static Builtin)> {
    static INDEX: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
        (0..).zip(table::TABLE.iter()).map(|(at, function)| (function.doc.name, at)).collect()
    });
    let at = *INDEX.get(name)?;
    Some((at, by_index(at)))
}

pub(crate) fn by_index(at: u16) -> &'static Builtin {
    &table::TABLE[usize::from(at)]
}

/// Returns the number of `what` in the argument at an index.
fn not_negative(number: i64, at: usize, what: &str) -> Result<usize, CallError> {
    let message = || format!("expected a number of {what}, found a negative number");
    usize::try_from(number).map_err(|_| CallError::Argument(at, message()))
}

pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    table::TABLE.iter().map(|function| function.doc.name)
}

impl<'a> FunctionCall<'a> {
    fn expected(&self, at: usize, expected: &str) -> CallError {
        let found = self.arguments.get(at).map_or("nothing", Value::kind);
        CallError::Argument(at, format!("expected {expected}, found {found}"))
    }

    fn text(&self, at: usize) -> Result<&'a str, CallError> {
        match self.arguments.get(at) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(self.expected(at, "text")),
        }
    }

    /// Returns an integer argument; a float loses its fraction.
    fn count(&self, at: usize) -> Result<i64, CallError> {
        match self.arguments.get(at) {
            Some(Value::Int(number)) => Ok(*number),
            #[allow(clippy::cast_possible_truncation, reason = "cutting off is what is meant")]
            Some(Value::Float(number)) => Ok(*number as i64),
            _ => Err(self.expected(at, "an integer")),
        }
    }

    fn integer(&self, at: usize) -> Result<i64, CallError> {
        match self.arguments.get(at) {
            Some(Value::Int(number)) => Ok(*number),
            _ => Err(self.expected(at, "an integer")),
        }
    }

    fn list(&self, at: usize) -> Result<Arc<Vec<Value>>, CallError> {
        self.arguments.get(at).and_then(Value::elements).ok_or_else(|| self.expected(at, "a list"))
    }

    fn new_text(&mut self, text: String) -> ValueResult {
        self.budget.bytes(text.len())?;
        Ok(Value::text(text))
    }

    fn new_list(&mut self, elements: Vec<Value>) -> ValueResult {
        self.budget.elements(elements.len())?;
        Ok(Value::List(Arc::new(elements)))
    }
}
