//! Preparation of data: hierarchies, annotations, interpolation and templates. Files come in as text, and the
//! caller evaluates expressions.
//!
//! [`hierarchy`] reads and selects the levels of a hierarchy, [`layers`] puts data, files and assignments upon each
//! other, and [`merge`] merges two values. [`annotations`] are comments such as `@validate`, checked with
//! [`validators`]. [`interpolation`] finds expressions within texts, and [`templates`] renders templates.
//!
//! This crate must never open a file, read the environment or look at the machine.

pub mod annotations;
pub mod assignment;
pub mod dotenv;
pub mod fact_words;
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
