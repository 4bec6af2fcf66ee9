//! The launcher as a program, for programs that run commands through this crate but are no launchers.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Started by hand: it has no other use.
    ccm_host::launcher::begin().unwrap_or(ExitCode::from(2))
}
