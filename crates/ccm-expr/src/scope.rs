//! Interface to the embedding program: names, functions and the current time.

use std::error::Error as StdError;

use ccm_model::DiagnosticKind;
use jiff::Timestamp;

use crate::Value;

/// Kind of a name, known before evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameKind {
    /// Any value.
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

/// Function of the embedding program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// Name.
    pub name: &'a str,
    /// Minimum number of arguments.
    pub min_arguments: usize,
    /// Maximum number of arguments.
    pub max_arguments: usize,
}

/// Names and functions known to the parser, so that a misspelt function is a parse error.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseContext<'a> {
    /// Names that the scope will have; `let` may not shadow them. Others may exist.
    pub names: &'a [(&'a str, NameKind)],
    /// Functions that the scope will have.
    pub functions: &'a [Function<'a>],
}

/// Error of a function of the embedding program.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct FunctionError {
    /// Kind of the diagnostic.
    pub kind: DiagnosticKind,
    /// Message.
    pub message: String,
    /// Hints in the imperative.
    pub hints: Vec<String>,
    /// Name that was probably meant; one of the hints holds the name too.
    pub nearest: Option<Box<str>>,
    /// Underlying error.
    #[source]
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

impl FunctionError {
    /// Builds an error without hints.
    pub fn new(kind: DiagnosticKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new(), nearest: None, source: None }
    }
}

/// Scope of an evaluation.
pub trait Scope {
    /// Returns the value of a top-level name.
    fn name(&self, name: &str) -> Option<Value>;

    /// Returns every top-level name, for `$env` and for suggestions.
    fn names(&self) -> Vec<String>;

    /// Calls a function of the [`ParseContext`], with a number of arguments that it accepts.
    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, FunctionError>;

    /// Returns the time for `now()`.
    fn now(&self) -> Timestamp;

    /// Returns `true` if a missing key of a map is an error, for constant keys (`Facts.host.inof`) and
    /// computed ones. After `?.`, before `??`, in `get()` and with `in` it never is.
    fn strict(&self) -> bool {
        false
    }
}
