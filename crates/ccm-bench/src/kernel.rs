//! Unchanged kernel parameters and mounts, against programs that read the same files.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::apply::{BenchManifest, Listener};
use crate::measure::{ratio_within, times};
use crate::own_etc::with_own_etc;

const PARAMETERS: usize = 200;
const MOUNTS: usize = 50;
const ROUNDS: usize = 101;
/// Maximum ratio.
const AIM: f64 = 2.0;
/// Number of times that a table of mounts is doubled.
const DOUBLINGS: usize = 13;

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
    let script = ": > /etc/fstab; for number in $(seq $2); do \
        mkdir -p \"$1/mounts/$number\"; mount -t tmpfs -o noexec tmpfs \"$1/mounts/$number\"; \
        echo tmpfs \"$1/mounts/$number\" tmpfs noexec 0 0 >> /etc/fstab; done";
    with_own_etc("mounts-steady", scratch, (script, MOUNTS), mounts_here);
}

/// Compares one mount among thousands with a program that reads the table of the kernel, which takes most of the time.
pub(crate) fn large_mount_table(scratch: &Path) {
    let script = "echo tmpfs \"$1/many\" tmpfs defaults 0 0 > /etc/fstab; mkdir \"$1/many\"; \
        mount -t tmpfs tmpfs \"$1/many\"; for number in $(seq $2); do \
        mkdir \"$1/many/$number\"; mount --rbind \"$1/many\" \"$1/many/$number\"; done";
    with_own_etc("mounts-many", scratch, (script, DOUBLINGS), large_mount_table_here);
}

fn large_mount_table_here(directory: &Path) {
    let mount = format!("{}/many: {{device: tmpfs, fstype: tmpfs}}", directory.display());
    let loaded = BenchManifest::new(&format!("ccm:\n  resources:\n    - mount:\n        - {mount}\n"));
    let bare = || std::fs::read_to_string("/proc/self/mountinfo").expect("the table").lines().count();
    let count = bare();
    let (ours, theirs) = times(ROUNDS, || loaded.apply(Listener::None), bare);
    ratio_within(&format!("mounts-many: one of {count}"), ours, theirs, AIM);
}

fn mounts_here(directory: &Path) {
    let above = format!("{}/mounts/", directory.display());
    let mut text = "ccm:\n  resources:\n    - mount:\n".to_owned();
    for number in 1..=MOUNTS {
        let _ =
            writeln!(text, "        - {above}{number}: {{device: tmpfs, fstype: tmpfs, options: noexec}}");
    }
    let loaded = BenchManifest::new(&text);
    let bare = || {
        let count = |path: &str, field: usize| {
            let text = std::fs::read_to_string(path).expect("a table");
            let points = text.lines().filter_map(|line| line.split(' ').nth(field));
            points.filter(|point| point.starts_with(&above)).map(str::to_owned).collect::<Vec<_>>().len()
        };
        assert_eq!((count("/proc/self/mountinfo", 4), count("/etc/fstab", 1)), (MOUNTS, MOUNTS));
    };
    let (ours, theirs) = times(ROUNDS, || loaded.apply(Listener::None), bare);
    ratio_within(&format!("mounts-steady: {MOUNTS}"), ours, theirs, AIM);
}
