//! Attacks from inside of sandboxes, in every combination of users and layers that this machine offers.
//!
//! A probe is one attempt to get out. This program makes all probes when ccm starts it again in a sandbox, and
//! compares each result with the promise of `docs/internals/safe-commands.md`.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the machine themselves"
)]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]
#![expect(unsafe_code, reason = "an attack calls the kernel with any arguments")]

mod calls;
mod changes;
mod combinations;
mod controls;
mod files;
mod ground;
mod ipc;
mod kernel;
mod leaks;
mod network;
mod probe;
mod processes;
mod races;

/// Returns the program ccm, which is also the launcher of sandboxes.
fn ccm() -> std::path::PathBuf {
    std::env::var_os("CCM_TEST_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_ccm").into(), Into::into)
}
