//! The resource types of ccm, a folder each.
//!
//! In each folder: properties, state, the decision between the two, and a file per provider. A new type is
//! its folder and its line in [`types`].

mod accounts;
mod apply;
#[cfg(test)]
mod decision_table;
mod exec;
mod file;
mod output_tail;
mod package;
mod principal;
mod service;

use ccm_engine::ResourceType;

/// Every resource type there is. Nothing registers itself anywhere else.
pub fn types() -> Vec<&'static dyn ResourceType> {
    vec![&exec::ExecType, &file::FileType, &package::PackageType, &service::ServiceType, &apply::ApplyType]
}
