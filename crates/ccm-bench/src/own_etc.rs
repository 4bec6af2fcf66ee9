//! Parts that are measured on a copy of `/etc`.

use std::path::Path;
use std::process::{Command, Stdio};

/// Directory of the part, set in the process that has the copy.
const DIRECTORY: &str = "CCM_BENCH_DIRECTORY";

/// Starts a part again in mounts of its own: there `/etc` is a copy, and the directory is empty and in memory. A script
/// completes both, with the directory as `$1` and a number as `$2`; then `measure` is called with the directory. Nothing
/// else is hidden, so that a checkout may be anywhere.
pub(crate) fn with_own_etc(
    part: &str,
    directory: &Path,
    (script, number): (&str, usize),
    measure: impl FnOnce(&Path),
) {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return measure(Path::new(&directory));
    }
    let script = format!(
        "set -e; mount -t tmpfs -o mode=755 tmpfs \"$1\"; mkdir \"$1/etc\"; cp -a /etc/. \"$1/etc\"; \
         mount --bind \"$1/etc\" /etc; {script}"
    );
    let unshare = |script: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", script, "sh"]).arg(directory).arg(number.to_string());
        unshare
    };
    let can = unshare(&script).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        println!("{part}: skipped, it needs root and mounts of its own");
        return;
    }
    let measured = unshare(&format!("{script}; exec \"$3\" --rows {part}"))
        .arg(std::env::current_exe().expect("this program"))
        .env(DIRECTORY, directory)
        .status()
        .expect("this program");
    assert!(measured.success(), "the benchmark failed");
}
