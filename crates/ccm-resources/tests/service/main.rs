//! The service resource on a fake machine.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]

#[path = "../build/mod.rs"]
mod build;
mod changing;
mod errors;
#[path = "../gate/mod.rs"]
mod gate;
mod machine;
mod reading;
mod reloading;
#[path = "../run/mod.rs"]
mod run;

use ccm_model::Resource;

fn service(name: &str, properties: &[(&str, &str)]) -> Resource {
    build::resource("service", name, properties)
}
