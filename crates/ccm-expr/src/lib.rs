//! The expression language and path lookup. An [`Expression`] is parsed once, against a [`ParseContext`], and
//! evaluated any number of times in a [`Scope`], bounded in time and memory and without panics.

#![allow(clippy::unnecessary_box_returns, reason = "errors travel boxed until they reach the caller")]

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

pub use error::{Cause, Error, Stage};
pub use expression::Expression;
pub use functions::{FunctionDoc, reference};
pub use jiff::Timestamp;
pub use mentions::{CallMention, Mentions, NameMention};
pub use operators::{OperatorDoc, operators};
pub use scope::{Function, FunctionError, NameKind, ParseContext, Scope};
pub use time::{CalendarPart, DateTime};
pub use value::{Map, Value};
