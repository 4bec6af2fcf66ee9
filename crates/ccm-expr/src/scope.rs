//! What the caller lends an expression: names, functions, and the moment that counts as now.

use std::error::Error as StdError;

use jiff::Timestamp;

use crate::Value;

/// What is known of a name before it has a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Not a thing.
    #[default]
    Anything,
    /// Null.
    Nothing,
    /// A boolean.
    Boolean,
    /// An integer.
    Integer,
    /// A number that need not be whole.
    Number,
    /// Text.
    Text,
    /// A list.
    List,
    /// A map.
    Map,
}

/// A function that the caller provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many arguments it needs.
    pub least: usize,
    /// How many arguments it takes.
    pub most: usize,
}

/// What is known before anything is evaluated: with it, a misspelt function is a mistake on reading.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The names that the scope will have; `let` may not hide them. Others may exist.
    pub names: &'a [(&'a str, Kind)],
    /// Every function that the scope will have.
    pub functions: &'a [Function<'a>],
}

/// Why a function of the caller refused.
#[derive(Debug, Default, thiserror::Error)]
#[error("{message}")]
pub struct FunctionError {
    /// What is wrong.
    pub message: String,
    /// How to go on.
    pub hints: Vec<String>,
    /// Name that was probably meant, which one of the hints names too.
    pub nearest: Option<Box<str>>,
    /// What lies beneath.
    #[source]
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

impl FunctionError {
    /// A refusal that says no more than this.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }
}

/// Where an expression is evaluated.
pub trait Scope {
    /// The value of a top-level name, if there is one.
    fn name(&self, name: &str) -> Option<Value>;

    /// Every top-level name: for `$env`, and to find the one that was meant.
    fn names(&self) -> Vec<String>;

    /// Calls a function that was known on reading, with as many arguments as it takes.
    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, FunctionError>;

    /// The moment that `now()` yields.
    fn now(&self) -> Timestamp;

    /// Whether a missing key of a map is a mistake, be it named outright as in `Facts.host.inof` or worked out
    /// as in `Facts[key]`. After `?.`, before `??`, in `get()` and with `in` it never is.
    fn strict(&self) -> bool {
        false
    }
}
