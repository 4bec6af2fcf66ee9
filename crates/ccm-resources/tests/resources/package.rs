//! The package resource on fake machines.

mod apt;
mod dnf;
mod errors;
mod holds;
mod index;
mod machine;
mod virtual_names;

use ccm_model::Resource;

fn package(name: &str, properties: &[(&str, &str)]) -> Resource {
    crate::build::resource("package", name, properties)
}
