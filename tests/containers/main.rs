//! The binary `ccm` with commands in containers, as a user runs it. Tests that need a Docker daemon start one of their
//! own as root, and are skipped elsewhere.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]

mod checks;
mod dying;
mod noop;
mod refusing;
mod reporting;
mod secrets;

use ccm_testkit::{Called, Ccm, IMAGE, Scratch};

/// A call of the binary in a directory of the test's own.
fn ccm(scratch: &Scratch, args: &[&str]) -> Ccm {
    Ccm::new(env!("CARGO_BIN_EXE_ccm"), scratch).args(args)
}

/// Returns a manifest with an executor `box` at an Engine, and these execs.
fn manifest(host: &str, settings: &str, execs: &[&str]) -> String {
    let executor = format!("kind: docker, image: '{IMAGE}', host: '{host}', network_mode: none{settings}");
    let execs = execs.join("\n        - ");
    format!("ccm:\n  executors:\n    box: {{{executor}}}\n  resources:\n    - exec:\n        - {execs}\n")
}

/// Applies a manifest given as text.
fn apply(scratch: &Scratch, manifest: &str, options: &[&str]) -> Called {
    scratch.write("manifest.yaml", manifest);
    ccm(scratch, &["apply", "manifest.yaml"]).args(options).run()
}

/// Settings of a container that is removed.
const REMOVED: &str = ", auto_remove: true";
