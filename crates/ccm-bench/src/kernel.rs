//! Unchanged kernel parameters and mounts, against programs that read the same files.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::apply::{BenchManifest, Listener};
use crate::measure::{ratio_within, times};

const PARAMETERS: usize = 200;
const MOUNTS: usize = 50;
const ROUNDS: usize = 101;
/// Maximum ratio.
const AIM: f64 = 2.0;

/// Set in the process that has the mounts.
const MOUNTED: &str = "CCM_BENCH_MOUNTED";

/// Compares parameters with a program that reads them and the file with their values.
pub(crate) fn parameters(scratch: &Path) {
    let mut found = Vec::new();
    // Others change by themselves.
    collect(Path::new("/proc/sys/net"), &mut found);
    found.sort_unstable();
    found.truncate(PARAMETERS);
    if found.len() < PARAMETERS {
        println!(
            "parameters-steady: skipped, this kernel shows less than {PARAMETERS} parameters that can be changed"
        );
        return;
    }
    let file = scratch.join("parameters.conf");
    let (mut saved, mut text) = (String::new(), "ccm:\n  resources:\n    - sysctl:\n".to_owned());
    let _ = writeln!(text, "        - defaults: {{file: {}}}", file.display());
    for (path, value) in &found {
        let name = path.strip_prefix("/proc/sys").unwrap_or(path).display();
        let _ = writeln!(saved, "{name} = {value}");
        let _ = writeln!(text, "        - {name}: {{value: {value:?}}}");
    }
    std::fs::write(&file, saved).expect("a file");
    // A parameter that changes meanwhile is left alone.
    let loaded = BenchManifest::new(&text).in_noop();
    let bare = || {
        let saved = std::fs::read_to_string(&file).expect("the file");
        let saved: HashMap<&str, &str> = saved.lines().filter_map(|line| line.split_once(" = ")).collect();
        assert_eq!(saved.len(), PARAMETERS);
        for (path, value) in &found {
            let text = std::fs::read_to_string(path).expect("a parameter");
            assert!(text.split_whitespace().eq(value.split(' ')), "{} changed", path.display());
        }
    };
    let (ours, theirs) = times(ROUNDS, || loaded.apply(Listener::None), bare);
    ratio_within(&format!("parameters-steady: {PARAMETERS}"), ours, theirs, AIM);
}

/// Adds the parameters below a directory that can be changed and have a value on one line.
fn collect(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            collect(&path, found);
            continue;
        }
        let can_be_changed = metadata.permissions().mode() & 0o600 == 0o600;
        let Some(text) = std::fs::read_to_string(&path).ok().filter(|_| can_be_changed) else { continue };
        let value = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
        if !value.is_empty() && text.lines().count() == 1 && value.chars().all(is_plain) {
            found.push((path, value));
        }
    }
}

/// Compares mounts with a program that reads the table of the kernel and `/etc/fstab`.
pub(crate) fn mounts(scratch: &Path) {
    if std::env::var_os(MOUNTED).is_some() {
        return mounts_here();
    }
    let script = "mount -t tmpfs tmpfs /mnt && cp -a /etc/passwd /etc/group /mnt && : > /mnt/fstab && \
        mount --bind /mnt /etc && umount /mnt && mount -t tmpfs tmpfs /srv && for number in $(seq $1); do \
        mkdir /srv/$number && mount -t tmpfs -o noexec tmpfs /srv/$number && \
        echo tmpfs /srv/$number tmpfs noexec 0 0 >> /etc/fstab || exit; done";
    let unshare = |command: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", command, "sh", &MOUNTS.to_string()]).current_dir(scratch);
        unshare
    };
    let can = unshare(script).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        println!("mounts-steady: skipped, it needs root and mounts of its own");
        return;
    }
    let this = std::env::current_exe().expect("this program");
    let measured = unshare(&format!("{script}; exec \"$2\" --rows mounts-steady"))
        .arg(this)
        .env(MOUNTED, "yes")
        .status()
        .expect("this program");
    assert!(measured.success(), "the benchmark failed");
}

fn mounts_here() {
    let mut text = "ccm:\n  resources:\n    - mount:\n".to_owned();
    for number in 1..=MOUNTS {
        let _ = writeln!(text, "        - /srv/{number}: {{device: tmpfs, fstype: tmpfs, options: noexec}}");
    }
    let loaded = BenchManifest::new(&text);
    let bare = || {
        let count = |path: &str, field: usize| {
            let text = std::fs::read_to_string(path).expect("a table");
            let points = text.lines().filter_map(|line| line.split(' ').nth(field));
            points.filter(|point| point.starts_with("/srv/")).map(str::to_owned).collect::<Vec<_>>().len()
        };
        assert_eq!((count("/proc/self/mountinfo", 4), count("/etc/fstab", 1)), (MOUNTS, MOUNTS));
    };
    let (ours, theirs) = times(ROUNDS, || loaded.apply(Listener::None), bare);
    ratio_within(&format!("mounts-steady: {MOUNTS}"), ours, theirs, AIM);
}
