//! The service resource on a fake machine.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]

#[path = "../support/build.rs"]
mod build;
mod changing;
mod errors;
#[path = "../support/gate.rs"]
mod gate;
mod machine;
mod reading;
mod reloading;
#[path = "../support/run.rs"]
mod run;

use ccm_model::Resource;

fn service(name: &str, properties: &[(&str, &str)]) -> Resource {
    build::resource("service", name, properties)
}
