//! Rules of Goss, their matchers, and their errors.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod bounds;
mod errors;
mod goss;
mod matchers;
mod naive;
mod subjects;
mod support;
mod xml;
