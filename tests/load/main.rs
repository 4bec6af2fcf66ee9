//! Many resources, many runs at once, many runs in a row.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod at_once;
mod in_a_row;
mod resources;

use ccm_testkit::{Ccm, Scratch};

/// A call of the binary in a directory of the test's own.
fn ccm(scratch: &Scratch, args: &[&str]) -> Ccm {
    Ccm::new(env!("CARGO_BIN_EXE_ccm"), scratch).args(args)
}
