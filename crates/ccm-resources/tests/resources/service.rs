//! The service resource on a fake machine.

mod changing;
mod errors;
mod machine;
mod reading;
mod reloading;
mod truth;

use ccm_model::Resource;

fn service(name: &str, properties: &[(&str, &str)]) -> Resource {
    crate::build::resource("service", name, properties)
}
