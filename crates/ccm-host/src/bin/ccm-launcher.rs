//! The launcher by itself, for programs that run commands through this crate and are no launcher themselves.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Not started as one: there is nothing else that it does.
    ccm_host::launcher::begin().unwrap_or(ExitCode::from(2))
}
