//! Loads manifests with resource types of these tests.

#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod captures;
mod children;
mod claims;
mod conditions;
mod credentials;
mod data;
mod data_files;
mod data_merges;
mod data_without_effect;
mod declarations;
mod document;
mod encrypted;
mod expressions;
mod facts;
mod fake;
mod file_uses;
mod foreach;
mod health_checks;
mod late;
mod machine;
mod other_programs;
mod paths;
mod properties;
mod references;
mod render;
mod robustness;
mod schema;
mod shapes;
mod size;
mod templates;
mod unchecked;
mod values;
