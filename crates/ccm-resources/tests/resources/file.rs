//! The file resource on real files in directories of the tests, and on fake machines.

mod accounts;
mod actions;
mod applying;
#[cfg(feature = "archive")]
mod downloading;
mod errors;
mod failing;
mod fake_machine;
mod links;
mod machine;
mod parents;
mod removing;
mod sensitive;
mod strangers;
mod together;
mod trees;

use ccm_model::Resource;

fn file(name: &str, properties: &[(&str, &str)]) -> Resource {
    crate::build::resource("file", name, properties)
}
