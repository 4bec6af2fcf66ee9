//! The machine as ccm sees it: files and processes.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the machine themselves"
)]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod executor;
mod files;
mod hostile;
mod state;
