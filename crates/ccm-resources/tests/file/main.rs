//! The file resource on real files in directories of the tests' own, and on machines that a test invents.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod applying;
mod build;
mod failing;
mod invented;
mod machine;
mod mistakes;
