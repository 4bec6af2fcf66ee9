//! The file resource on real files in directories of the tests, and on fake machines.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod accounts;
mod actions;
mod applying;
#[path = "../support/build.rs"]
mod build;
#[cfg(feature = "archive")]
mod downloading;
mod errors;
mod failing;
mod fake_machine;
mod links;
mod machine;
mod parents;
mod removing;
#[path = "../support/run.rs"]
mod run;
mod sensitive;
mod strangers;
mod trees;

use ccm_model::Resource;

fn file(name: &str, properties: &[(&str, &str)]) -> Resource {
    build::resource("file", name, properties)
}
