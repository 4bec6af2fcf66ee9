//! Resource types of ccm, a folder each: properties, state, decision and a file per provider.
//! Adding a type touches its own folder and its line in [`types`].

mod accounts;
mod apply;
#[cfg(test)]
mod decision_table;
mod exec;
mod file;
mod notes;
mod output_tail;
mod package;
mod principal;
mod service;

use ccm_engine::ResourceType;

pub use notes::notes;

/// All resource types. Nothing registers itself anywhere else.
pub fn types() -> Vec<&'static dyn ResourceType> {
    vec![&exec::ExecType, &file::FileType, &package::PackageType, &service::ServiceType, &apply::ApplyType]
}
