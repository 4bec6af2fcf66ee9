//! Tests of the expression language from the outside.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that can't go on should say so and fail")]

mod cases;
mod dates;
mod language;
mod limits;
mod paths;
mod reference;
mod scope;
mod spans;
