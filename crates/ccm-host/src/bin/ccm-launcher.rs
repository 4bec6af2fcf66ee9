//! The launcher as a program of its own, for programs that run commands through this crate and are no
//! launcher themselves.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Started by hand: it has no other use.
    ccm_host::launcher::begin().unwrap_or(ExitCode::from(2))
}
