//! The exec type on a machine that the test invents.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]

#[path = "../support/build.rs"]
mod build;
mod confined;
#[cfg(feature = "docker")]
mod containers;
mod errors;
mod executors;
mod expecting;
#[path = "../support/gate.rs"]
mod gate;
mod gated;
mod machine;
#[path = "../support/run.rs"]
mod run;
mod running;
mod sensitive;
mod trying;

use ccm_model::Resource;

fn exec(name: &str, properties: &[(&str, &str)]) -> Resource {
    build::resource("exec", name, properties)
}
