//! The binary `ccm`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ccm_cli::main()
}
