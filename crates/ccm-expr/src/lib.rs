//! The expression language and path lookup.

mod value;

pub use value::{Map, Value};
