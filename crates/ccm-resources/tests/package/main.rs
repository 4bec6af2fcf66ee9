//! The package resource on fake machines.
#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod apt;
#[path = "../support/build.rs"]
mod build;
mod dnf;
mod errors;
#[path = "../support/gate.rs"]
mod gate;
mod holds;
mod index;
mod machine;
#[path = "../support/run.rs"]
mod run;

use ccm_model::Resource;

fn package(name: &str, properties: &[(&str, &str)]) -> Resource {
    build::resource("package", name, properties)
}
