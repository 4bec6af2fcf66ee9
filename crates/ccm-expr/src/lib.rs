//! The expression language and path lookup.
//!
//! An [`Expression`] is read once, against what is [`Known`] of names and functions, and evaluated as often
//! as needed in a [`Scope`]. Whatever it says, evaluating it ends soon, in little memory, without a panic.

#![allow(clippy::unnecessary_box_returns, reason = "errors travel boxed until they reach the caller")]

mod error;
mod evaluator;
mod expression;
mod functions;
mod lexer;
mod limits;
mod literal;
mod mentions;
mod nature;
mod operators;
mod parser;
pub mod path;
mod pattern;
mod scope;
mod time;
mod tree;
mod value;

pub use error::{Cause, Error, Stage};
pub use expression::Expression;
pub use functions::{FunctionDoc, reference};
pub use jiff::Timestamp;
pub use mentions::{CallMention, Mentions, NameMention};
pub use operators::{OperatorDoc, operators};
pub use scope::{Function, FunctionError, Kind, Known, Scope};
pub use time::{CalendarPart, Moment};
pub use value::{Map, Value};
