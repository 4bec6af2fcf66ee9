//! The first step: text of a manifest and its data to the resources that it declares.

mod changed_kinds;
pub(crate) mod children;
pub(crate) mod common_properties;
pub(crate) mod cut_values;
pub(crate) mod data;
pub(crate) mod data_keys;
pub(crate) mod document;
pub(crate) mod draft;
pub(crate) mod entries;
pub(crate) mod folded_lines;
pub(crate) mod foreach;
pub(crate) mod foreign_files;
pub(crate) mod foreign_words;
pub(crate) mod generated;
pub(crate) mod hiera;
mod level_names;
pub(crate) mod levels;
pub(crate) mod other_braces;
pub(crate) mod reader;
pub(crate) mod reserved;
pub(crate) mod resources;
pub(crate) mod shape_errors;
pub(crate) mod types;
