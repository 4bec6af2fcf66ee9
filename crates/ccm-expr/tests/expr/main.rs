//! Tests of the expression language from the outside.

mod cases;
mod world;
