//! `ccm push` against stand-ins of ssh, and against a real server.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod approvals;
mod groups;
mod interrupts;
mod pages;
mod run;
mod server;
mod stand_in;
mod sudo;
mod troubles;
