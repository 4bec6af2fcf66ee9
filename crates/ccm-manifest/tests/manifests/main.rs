//! Manifests in, catalogs or mistakes out, with types that only these tests know.

#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod document;
mod expressions;
mod fake;
mod paths;
mod properties;
mod references;
mod robustness;
mod schema;
mod shapes;
mod size;
