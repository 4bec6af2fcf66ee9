//! Running the release binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the release binary beside this program, if it was built.
pub(crate) fn ccm() -> Option<PathBuf> {
    let ccm = std::env::current_exe().ok()?.with_file_name("ccm");
    ccm.exists().then_some(ccm)
}

/// Returns the release binary, or prints that a part of the benchmark is skipped without it.
pub(crate) fn ccm_for(part: &str) -> Option<PathBuf> {
    let ccm = ccm();
    if ccm.is_none() {
        println!("{part}: skipped, there is no target/release/ccm");
    }
    ccm
}

pub(crate) fn run(ccm: &Path, scratch: &Path, manifest: &Path) {
    let status = apply_command(ccm, scratch, manifest).status();
    assert!(status.is_ok_and(|status| status.success()), "ccm failed");
}

/// Applies a manifest, and reads the text report from a pipe.
pub(crate) fn apply_and_read(ccm: &Path, scratch: &Path, manifest: &Path) -> Vec<u8> {
    let output =
        apply_with(ccm, &[], scratch, manifest).stdout(Stdio::piped()).stderr(Stdio::inherit()).output();
    let output = output.expect("ccm");
    assert!(output.status.success(), "ccm failed");
    output.stdout
}

pub(crate) fn validate(ccm: &Path, manifest: &Path) {
    let status =
        Command::new(ccm).arg("validate").arg(manifest).stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "ccm failed");
}

/// Returns the command that applies a manifest, with its state in the scratch directory.
pub(crate) fn apply_command(ccm: &Path, scratch: &Path, manifest: &Path) -> Command {
    apply_with(ccm, &["-q"], scratch, manifest)
}

fn apply_with(ccm: &Path, options: &[&str], scratch: &Path, manifest: &Path) -> Command {
    let mut command = Command::new(ccm);
    command.arg("apply").args(options).arg("--state-dir").arg(scratch.join("state")).arg(manifest);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

pub(crate) fn run_true() {
    let status = Command::new("/bin/true").stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "/bin/true failed");
}
