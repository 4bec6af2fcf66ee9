//! The expression language and path lookup.

pub mod path;
mod value;

pub use value::{Map, Value};
