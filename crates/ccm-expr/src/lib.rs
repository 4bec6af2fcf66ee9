//! The expression language and path lookup. An [`Expression`] is parsed once, against a [`ParseContext`], and
//! evaluated any number of times in a [`Scope`], bounded in time and memory and without panics.
//!
//! [`Value`] is what an expression works with and returns. [`path`] looks values up by a path such as `a.b[0]`.
//! [`reference()`] and [`operators()`] describe the language for its documentation.
//!
//! This crate must never read a file, the environment or the clock: names, functions and the time come from the scope.

#![allow(clippy::unnecessary_box_returns, reason = "errors travel boxed until they reach the caller")]

mod comparisons;
mod error;
mod evaluator;
mod expression;
mod functions;
mod lexer;
mod limits;
mod literal;
mod mentions;
mod operators;
mod parser;
pub mod path;
mod pattern;
mod scope;
mod static_type;
mod time;
mod tree;
mod value;

pub use comparisons::{Comparison, LetterCase, Relation, Subject, lookup_path};
pub use error::{Cause, Error, Stage};
pub use expression::Expression;
pub use functions::{FunctionDoc, reference};
pub use jiff::Timestamp;
pub use mentions::{CallMention, Mentions, NameMention};
pub use operators::{OperatorDoc, operators};
pub use pattern::{PatternError, compile_regex};
pub use scope::{Function, FunctionError, NameKind, ParseContext, Scope};
pub use time::{CalendarPart, DateTime};
pub use value::{Map, Value};
