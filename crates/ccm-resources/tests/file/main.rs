//! The file resource on real files in directories of the tests' own, and on machines that a test invents.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod accounts;
mod applying;
#[path = "../build/mod.rs"]
mod build;
mod failing;
mod invented;
mod machine;
mod mistakes;
#[path = "../run/mod.rs"]
mod run;
mod sensitive;

use ccm_model::Resource;

fn file(name: &str, properties: &[(&str, &str)]) -> Resource {
    build::resource("file", name, properties)
}
