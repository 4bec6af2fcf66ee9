//! Checkouts with the git of this machine, from repositories in a directory of the test.

mod checkouts;
mod directories;
mod errors;
mod hostile;
mod machine;
mod renamed;
