//! The log of audits as an auditor reads it.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read and change the files of the log themselves, and start the program of the auditor"
)]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod forwarding;
mod open_ssh;
mod recorder;
mod tampering;
