//! The functions of the language: one table with what each takes, yields and does.

mod accepts;
mod aggregate;
pub(crate) mod base64;
mod bits;
mod convert;
mod dates;
pub(crate) mod lists;
pub(crate) mod maps;
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
use crate::nature::Nature;

/// A function of the language, for its documentation.
#[derive(Clone, Copy, Debug)]
pub struct FunctionDoc {
    /// Its name.
    pub name: &'static str,
    /// What it works on: a heading to group it under.
    pub group: &'static str,
    /// How it is called.
    pub signature: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// Expressions and what each yields, as an expression.
    pub examples: &'static [(&'static str, &'static str)],
}

/// Every function of the language, grouped by what it works on.
pub fn reference() -> &'static [FunctionDoc] {
    static DOCS: LazyLock<Vec<FunctionDoc>> =
        LazyLock::new(|| table::TABLE.iter().map(|function| function.doc).collect());
    &DOCS
}

/// A function with a predicate, which the evaluator runs itself.
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

/// How a function does its work.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    Predicate(Predicate),
    Plain(fn(&mut Call<'_>) -> Result<Value, Problem>),
}

/// What a function takes and yields, as far as it is known before anything is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Signature {
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// What each argument may be; the last holds for all that follow.
    pub(crate) accepts: &'static [Accepts],
    pub(crate) result: fn(&[Nature]) -> Nature,
}

pub(crate) struct Builtin {
    pub(crate) doc: FunctionDoc,
    pub(crate) signature: Signature,
    pub(crate) run: Run,
}

/// A call in progress.
pub(crate) struct Call<'a> {
    pub(crate) arguments: &'a [Value],
    pub(crate) budget: &'a mut Budget,
    pub(crate) now: &'a dyn Fn() -> Timestamp,
}

/// Why a function can't do its work.
#[derive(Debug)]
pub(crate) enum Problem {
    /// Something is wrong with one argument, by its place.
    Argument(usize, String),
    /// The same, with a way to go on.
    Hinted(usize, String, String),
    /// A budget is used up.
    Limit(Exhausted),
}

impl From<Exhausted> for Problem {
    fn from(exhausted: Exhausted) -> Self {
        Self::Limit(exhausted)
    }
}

/// The function of that name, with its index.
pub(crate) fn find(name: &str) -> Option<(u16, &'static Builtin)> {
    static INDEX: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
        (0..).zip(table::TABLE.iter()).map(|(at, function)| (function.doc.name, at)).collect()
    });
    let at = *INDEX.get(name)?;
    Some((at, by_index(at)))
}

pub(crate) fn by_index(at: u16) -> &'static Builtin {
    table::TABLE[usize::from(at)]
}

/// The names of all functions.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    table::TABLE.iter().map(|function| function.doc.name)
}

impl<'a> Call<'a> {
    fn expected(&self, at: usize, expected: &str) -> Problem {
        let found = self.arguments.get(at).map_or("nothing", Value::kind);
        Problem::Argument(at, format!("expected {expected}, found {found}"))
    }

    fn text(&self, at: usize) -> Result<&'a str, Problem> {
        match self.arguments.get(at) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(self.expected(at, "text")),
        }
    }

    /// A whole number; a fraction is cut off, as the language does where it counts.
    fn count(&self, at: usize) -> Result<i64, Problem> {
        match self.arguments.get(at) {
            Some(Value::Int(number)) => Ok(*number),
            #[allow(clippy::cast_possible_truncation, reason = "cutting off is what is meant")]
            Some(Value::Float(number)) => Ok(*number as i64),
            _ => Err(self.expected(at, "an integer")),
        }
    }

    fn integer(&self, at: usize) -> Result<i64, Problem> {
        match self.arguments.get(at) {
            Some(Value::Int(number)) => Ok(*number),
            _ => Err(self.expected(at, "an integer")),
        }
    }

    fn list(&self, at: usize) -> Result<Arc<Vec<Value>>, Problem> {
        match self.arguments.get(at) {
            Some(Value::List(list)) => Ok(Arc::clone(list)),
            Some(Value::Bytes(bytes)) => {
                Ok(Arc::new(bytes.iter().map(|byte| Value::Int((*byte).into())).collect()))
            }
            _ => Err(self.expected(at, "a list")),
        }
    }

    /// Text that a function made.
    fn made_text(&mut self, text: String) -> Result<Value, Problem> {
        self.budget.bytes(text.len())?;
        Ok(Value::text(text))
    }

    /// A list that a function made.
    fn made_list(&mut self, elements: Vec<Value>) -> Result<Value, Problem> {
        self.budget.elements(elements.len())?;
        Ok(Value::List(Arc::new(elements)))
    }
}
