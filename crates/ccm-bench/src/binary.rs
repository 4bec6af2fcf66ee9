//! Running the release binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The release binary, if it was built: beside this program.
pub(crate) fn ccm() -> Option<PathBuf> {
    let ccm = std::env::current_exe().ok()?.with_file_name("ccm");
    ccm.exists().then_some(ccm)
}

pub(crate) fn run(ccm: &Path, args: &[&str], manifest: &Path) {
    let status =
        Command::new(ccm).args(args).arg(manifest).stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "ccm failed");
}

pub(crate) fn run_true() {
    let status = Command::new("/bin/true").stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "/bin/true failed");
}
