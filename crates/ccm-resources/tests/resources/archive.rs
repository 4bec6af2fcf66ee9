//! The archive resource on real files in directories of the tests, with servers of the tests.

mod downloading;
mod errors;
mod extracting;
mod failing;
mod machine;
mod secrets;
