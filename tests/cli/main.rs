//! The binary `ccm` as a user runs it.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the machine themselves"
)]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod apply;
mod captures;
mod confined;
mod documents;
mod earlier_state;
mod eval;
mod examples;
mod executions;
mod facts;
mod files;
mod hiera;
mod history;
mod idempotence;
mod interruption;
mod json;
mod lock;
mod made_of;
mod manifests;
mod mistakes;
mod owed;
mod packages;
mod record;
mod render;
mod schema;
mod secrets;
mod seed;
mod state;
mod terminal;
mod tracing;
mod units;
mod usage;
mod validate;

use ccm_testkit::{Called, Ccm, Scratch};

/// A call of the binary in a directory of the test's own.
fn ccm(scratch: &Scratch, args: &[&str]) -> Ccm {
    Ccm::new(env!("CARGO_BIN_EXE_ccm"), scratch).args(args)
}

/// Applies a manifest given as text.
fn apply(scratch: &Scratch, manifest: &str, options: &[&str]) -> Called {
    scratch.write("manifest.yaml", manifest);
    ccm(scratch, &["apply", "manifest.yaml"]).args(options).run()
}

/// The text with the directory of the test for `[dir]`.
fn in_place(scratch: &Scratch, text: &str) -> String {
    text.replace("[dir]", &scratch.path().to_string_lossy())
}

/// Applies files given as the lines below `- file:`; `[dir]` in them stands for the directory.
fn apply_files(scratch: &Scratch, files: &str, options: &[&str]) -> Called {
    let files = in_place(scratch, files);
    apply(scratch, &format!("ccm:\n  resources:\n    - file:\n{files}"), options)
}

/// Applies execs given as the lines below `- exec:`; `[dir]` in them stands for the directory.
fn apply_execs(scratch: &Scratch, execs: &str, options: &[&str]) -> Called {
    let execs = in_place(scratch, execs);
    apply(scratch, &format!("ccm:\n  resources:\n    - exec:\n{execs}"), options)
}
