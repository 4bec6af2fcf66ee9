//! Shell texts at random, as ccm reads them and as shells do.
//!
//! `CCM_TEST_SHELL_TEXTS` sets their number, and `CCM_FUZZ_SEED` selects other ones.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod blinded;
mod matching;
mod parsers;
mod programs;

use std::path::Path;

/// Returns the number of texts.
fn count(usual: u64) -> u64 {
    number("CCM_TEST_SHELL_TEXTS").unwrap_or(usual)
}

fn seed() -> u64 {
    number("CCM_FUZZ_SEED").unwrap_or(20)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// Returns `true` if a shell is on this machine. Records a skip otherwise.
fn has(shell: &str) -> bool {
    let exists = Path::new(shell).exists();
    if !exists {
        ccm_testkit::skipped(&format!("{shell} is not installed"));
    }
    exists
}
