//! Preparation of data: hierarchies, annotations, interpolation and templates. Files come in as text, and the
//! caller evaluates expressions.

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
