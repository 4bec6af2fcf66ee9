//! The exec type on a machine that the test invents.

mod confined;
#[cfg(feature = "docker")]
mod containers;
mod errors;
mod executors;
mod expecting;
mod gated;
mod machine;
mod running;
mod sensitive;
mod trying;

use ccm_model::Resource;

fn exec(name: &str, properties: &[(&str, &str)]) -> Resource {
    crate::build::resource("exec", name, properties)
}
