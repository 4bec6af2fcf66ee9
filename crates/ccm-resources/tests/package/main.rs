//! The package resource on machines that a test invents.
#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod apt;
#[path = "../build/mod.rs"]
mod build;
mod dnf;
mod index;
mod machine;
mod mistakes;
#[path = "../run/mod.rs"]
mod run;

use ccm_model::Resource;

fn package(name: &str, properties: &[(&str, &str)]) -> Resource {
    build::resource("package", name, properties)
}
