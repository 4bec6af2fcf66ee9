//! Data before it is used: where its values come from, what is asked of them, and the texts that name them.
//!
//! Values in, values out. Nothing here opens a file or evaluates an expression: files come in as text, and
//! whoever calls evaluates.

pub mod annotations;
pub mod assignment;
pub mod dotenv;
pub mod facts;
pub mod hierarchy;
pub mod interpolation;
pub mod layers;
pub mod merge;
pub mod nodes;
pub mod printed;
pub mod templates;
pub mod validators;

#[cfg(test)]
mod testing;
