//! Benchmarks of ccm against bare programs that do the same work. Run `cargo build --release` first: start-up and
//! memory are measured with `target/release/ccm`. Then run `cargo run --release --package ccm-bench`.
//!
//! Each figure is the median of several rounds: a ratio, whose two sides take turns, or a time per resource.
//! Some have an aim, which is a maximum. Arguments such as `load growth` select parts, also those of `LARGE_PARTS`,
//! which need much time and space.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the bare side of each comparison calls the system directly"
)]
#![expect(clippy::print_stdout, reason = "its figures are its output")]
#![expect(clippy::expect_used, reason = "a benchmark that can't be set up has no result")]

mod apply;
mod approvals;
mod archives;
mod audit;
mod bare;
mod binary;
mod checks;
mod containers;
mod databases;
mod ensure;
mod kernel;
mod manifests;
mod mcp;
mod measure;
mod others;
mod own_etc;
mod policy;
mod redaction;
mod sandbox;
mod secrets;
mod shell;
mod sources;
mod start_up;
mod system;

use std::path::{Path, PathBuf};
use std::time::Duration;

use apply::{BenchManifest, Listener};
use measure::{
    NAME, median, number_within, per, per_within, print, print_within, ratio, ratio_within, time, times,
};
use others::OtherProcesses;

/// Part of the benchmark: its name, and its function, which gets a scratch directory.
type BenchmarkPart = (&'static str, fn(&Path));

const PARTS: &[BenchmarkPart] = &[
    // First those that measure the memory of a child: it has the memory of this process until it executes ccm.
    ("redaction", redaction::files),
    ("memory", memory),
    ("start-up", start_up::run),
    ("load", |_| load()),
    ("growth", growth),
    ("expressions", |_| expressions()),
    ("hierarchy", |_| hierarchy()),
    ("ensure", ensure::run),
    ("files-steady", files_steady),
    ("files-attributes", files_attributes),
    ("files-applied", files_applied),
    ("files-create", files_create),
    ("tree-steady", tree_steady),
    ("lines-steady", lines_steady),
    ("archives", archives::run),
    ("exec-run", |_| exec_run()),
    ("sandbox", sandbox::run),
    ("checks", checks::run),
    ("containers", containers::run),
    ("shell", |_| shell::measure()),
    ("exec-steady", |_| exec_steady()),
    ("packages-steady", system::packages),
    ("services-steady", system::services),
    ("services-missing", system::missing_services),
    ("parameters-steady", kernel::parameters),
    ("mounts-steady", kernel::mounts),
    ("mounts-many", kernel::large_mount_table),
    ("users-steady", databases::users),
    ("repositories-steady", databases::repositories),
    ("checkouts-steady", databases::checkouts),
    ("events", events),
    ("redaction", |_| redaction::measure()),
    ("shapes", |_| shapes()),
    ("policy-load", |_| policy::load()),
    ("policy", |_| policy::analysis()),
    ("policy-apply", policy::apply),
    ("approvals", |_| approvals::measure()),
    ("audit", |_| audit::measure()),
    ("mcp", mcp::run),
    ("sources", sources::run),
    ("secrets", secrets::run),
];

/// Parts that only run if they are selected.
const LARGE_PARTS: [BenchmarkPart; 1] = [("archives-500mb", archives::run_large)];

fn main() {
    let mut selected: Vec<String> = std::env::args().skip(1).collect();
    // With `--rows` (see system.rs), the parent process has printed the heading.
    let rows_alone = selected.first().is_some_and(|first| first == "--rows");
    if rows_alone {
        selected.remove(0);
    } else {
        println!("{:<NAME$} {:>12} {:>12} {:>8}   aim", "", "ccm", "bare", "ratio");
    }
    let is_selected = |name: &str| selected.iter().any(|selected| selected == name);
    let others = OtherProcesses::observe();
    let parts = PARTS.iter().filter(|(name, _)| selected.is_empty() || is_selected(name));
    for (_, measure) in parts.chain(LARGE_PARTS.iter().filter(|(name, _)| is_selected(name))) {
        let scratch = tempfile::tempdir().expect("a directory");
        measure(scratch.path());
    }
    if !rows_alone {
        others.print();
    }
}

/// Makes a directory, and returns it with the content for files in it.
fn files_in(scratch: &Path, name: &str, count: u32) -> (PathBuf, Vec<String>) {
    let directory = scratch.join(name);
    std::fs::create_dir(&directory).expect("a directory");
    (directory, (0..count).map(manifests::content).collect())
}

/// Compares unchanged files with a program that opens, stats, reads and compares them.
fn files_steady(scratch: &Path) {
    for count in [1, 100, 1_000, 10_000] {
        let (directory, desired) = files_in(scratch, &format!("steady-{count}"), count);
        bare::fill(&directory, &desired);
        let loaded = BenchManifest::new(&manifests::files(&directory.display().to_string(), count));
        let rounds = if count < 1_000 { 101 } else { 15 };
        let (ours, theirs) =
            times(rounds, || loaded.apply(Listener::None), || bare::compare(&directory, &desired));
        // With few files, the run itself takes most of the time.
        let aim = (count >= 1_000).then_some(1.5);
        ratio_within(&format!("files-steady: {count} of 1 KiB"), ours, theirs, aim);
    }
}

/// Compares an unchanged tree, of which nothing is to be removed, with a program that walks both directories and stats
/// and reads every file.
fn tree_steady(scratch: &Path) {
    const DIRECTORIES: u32 = 100;
    const FILES: u32 = 100;
    let [source, tree] = ["source", "tree"].map(|name| {
        let (directory, _) = files_in(scratch, name, 0);
        for number in 0..DIRECTORIES {
            let below = directory.join(number.to_string());
            std::fs::create_dir(&below).expect("a directory");
            let contents: Vec<String> = (0..FILES).map(manifests::content).collect();
            bare::fill(&below, &contents);
        }
        directory
    });
    let loaded =
        BenchManifest::new(&manifests::tree(&source.display().to_string(), &tree.display().to_string()));
    let bare = || bare::walk(&source) + bare::walk(&tree);
    let (ours, theirs) = times(15, || loaded.apply(Listener::None), bare);
    ratio_within("tree-steady: 10000 of 1 KiB in 100 directories", ours, theirs, 1.5);
}

/// Measures files without `content`, which are never read.
fn files_attributes(scratch: &Path) {
    const COUNT: u32 = 1_000;
    let (owner, group) = bare::owners(scratch);
    let [large, tiny] = [("large", 64 << 20), ("tiny", 1)].map(|(name, length)| {
        let (directory, _) = files_in(scratch, name, 0);
        for number in 0..COUNT {
            let file = std::fs::File::create(directory.join(number.to_string())).expect("a file");
            file.set_len(length).expect("a length");
        }
        BenchManifest::new(&manifests::files_without_content(
            &directory.display().to_string(),
            COUNT,
            &owner,
            &group,
        ))
    });
    let (large, tiny) = times(15, || large.apply(Listener::None), || tiny.apply(Listener::None));
    let name = "files-attributes: 1000 of 64 MiB / 1000 of 1 byte";
    print_within(name, large.as_secs_f64() / tiny.as_secs_f64(), 1.2);
}

/// Compares a whole process for files of 1 KiB, whose report is read from a pipe, with the bare calls.
fn files_applied(scratch: &Path) {
    let Some(ccm) = binary::ccm_for("files-applied") else { return };
    for count in [1_000, 5_000] {
        let (directory, desired) = files_in(scratch, &format!("applied-{count}"), count);
        bare::fill(&directory, &desired);
        let (owner, group) = bare::owners(&directory);
        let manifest = scratch.join(format!("applied-{count}.yaml"));
        let text = manifests::owned_files(&directory.display().to_string(), count, &owner, &group);
        std::fs::write(&manifest, text).expect("a manifest");
        let apply = || binary::apply_and_read(&ccm, scratch, &manifest);
        let bare = || {
            binary::run_true();
            bare::compare(&directory, &desired);
        };
        let (ours, theirs) = times(15, apply, bare);
        ratio_within(&format!("files-applied: {count} of 1 KiB, by a process"), ours, theirs, 3.0);
    }
}

/// Measures the listeners of events, per unchanged file.
fn events(scratch: &Path) {
    for count in [1_000, 10_000] {
        let (directory, desired) = files_in(scratch, &format!("events-{count}"), count);
        bare::fill(&directory, &desired);
        let loaded = BenchManifest::new(&manifests::files(&directory.display().to_string(), count));
        for (name, listener, aim) in [
            ("the text report", Listener::Text, 1.0),
            ("the events as JSON", Listener::Events, 5.0),
            ("the record of the run", Listener::Store, 5.0),
        ] {
            let (with, without) = times(25, || loaded.apply(listener), || loaded.apply(Listener::None));
            let name = format!("{name}: {count} files, extra time per file");
            per_within(&name, with.saturating_sub(without), count, aim);
        }
    }
}

/// Checks that the time grows no faster than the number of files. Loading is measured in a fresh process each
/// time, because a used process can reuse its memory.
fn growth(scratch: &Path) {
    let Some(ccm) = binary::ccm_for("growth") else { return };
    let time_to_validate = |count: u32, text: &str| {
        let manifest = scratch.join(format!("{count}.yaml"));
        std::fs::write(&manifest, text).expect("a manifest");
        time(7, || binary::validate(&ccm, &manifest))
    };
    let base_time = time_to_validate(1, &manifests::files("/srv", 1));
    let mut per_file = Vec::new();
    for count in [10_000, 40_000] {
        let (directory, desired) = files_in(scratch, &format!("growth-{count}"), count);
        bare::fill(&directory, &desired);
        let text = manifests::files(&directory.display().to_string(), count);
        let load = time_to_validate(count, &text).saturating_sub(base_time);
        let loaded = BenchManifest::new(&text);
        let (ours, theirs) =
            times(5, || loaded.apply(Listener::None), || bare::compare(&directory, &desired));
        let seconds_per_file = |all: Duration| all.as_secs_f64() / f64::from(count);
        per_file.push([seconds_per_file(load), seconds_per_file(ours), seconds_per_file(theirs)]);
    }
    for (kind, name) in ["load", "check", "bare program"].into_iter().enumerate() {
        // Each pass over a text costs more once it is larger than the caches.
        let aim = [Some(1.3), Some(1.2), None][kind];
        print_within(
            &format!("growth: {name} per file, 40000 files / 10000 files"),
            per_file[1][kind] / per_file[0][kind],
            aim,
        );
    }
}

/// Compares the creation of files with the bare calls that are as safe.
fn files_create(scratch: &Path) {
    const COUNT: u32 = 1_000;
    let mut rounds = 0;
    let mut fresh = |kind: &str| {
        rounds += 1;
        files_in(scratch, &format!("{kind}-{rounds}"), COUNT)
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let (directory, _) = fresh("create");
        let loaded = BenchManifest::new(&manifests::files(&directory.display().to_string(), COUNT));
        ours.push(time(1, || loaded.apply(Listener::None)));
        let (directory, desired) = fresh("bare");
        theirs.push(time(1, || bare::create(&directory, &desired)));
    }
    ratio("files-create: 1000 of 1 KiB", median(&mut ours), median(&mut theirs));
}

/// Compares unchanged lines with a program that reads each file once and searches it for its lines.
fn lines_steady(scratch: &Path) {
    const FILES: u32 = 100;
    const LINES_PER_FILE: u32 = 10;
    for (name, size) in [("4 KiB", 4 << 10), ("64 KiB", 64 << 10)] {
        let (directory, _) = files_in(scratch, &format!("lines-{size}"), 0);
        let content = |number: u32| -> String {
            let filling =
                (0..size / 64).map(|line| format!("{:<63}\n", format!("# file {number} line {line}")));
            let lines = (0..LINES_PER_FILE).map(|line| manifests::line(number, line) + "\n");
            filling.chain(lines).collect()
        };
        bare::fill(&directory, &(0..FILES).map(content).collect::<Vec<_>>());
        let text = manifests::lines(&directory.display().to_string(), FILES, LINES_PER_FILE);
        let loaded = BenchManifest::new(&text);
        let desired: Vec<Vec<String>> = (0..FILES)
            .map(|number| (0..LINES_PER_FILE).map(|line| manifests::line(number, line)).collect())
            .collect();
        let (ours, theirs) =
            times(101, || loaded.apply(Listener::None), || bare::find_lines(&directory, &desired));
        ratio_within(&format!("lines-steady: 1000 in 100 files of {name}"), ours, theirs, 1.5);
    }
}

/// Measures loading, from text to catalog.
fn load() {
    let mut each = Vec::new();
    for count in [1_000, 10_000] {
        let text = manifests::satisfied_execs(count);
        let took = time(7, || BenchManifest::new(&text));
        per_within(&format!("load: {count} small execs, each"), took, count, 5.0);
        each.push(took.as_secs_f64() / f64::from(count));
        let text = manifests::files("/srv", count);
        let took = time(7, || BenchManifest::new(&text));
        per_within(&format!("load: {count} files of 1 KiB, each"), took, count, 5.0);
    }
    print("load: time per exec, 10000 execs / 1000 execs", each[1] / each[0]);
    let count = 10_000;
    for (name, repeated, written) in [
        ("", manifests::repeated_execs(count), manifests::satisfied_execs(count)),
        (
            " with three expressions",
            manifests::repeated_execs_with_three_values(count),
            manifests::execs_with_three_values(count, true),
        ),
    ] {
        let (ours, theirs) = times(7, || BenchManifest::new(&repeated), || BenchManifest::new(&written));
        ratio_within(&format!("load: {count} execs{name} by foreach, or written"), ours, theirs, 1.0);
    }
}

fn expressions() {
    for count in [1_000, 10_000] {
        let (with, without) = (
            manifests::execs_with_three_values(count, true),
            manifests::execs_with_three_values(count, false),
        );
        let (ours, theirs) = times(9, || BenchManifest::new(&with), || BenchManifest::new(&without));
        ratio(&format!("load: {count}, three expressions each, or none"), ours, theirs);
    }
}

/// Checks that the time for each key of each level does not grow with their number.
fn hierarchy() {
    let mut each = Vec::new();
    for (levels, keys) in [(5, 10_000), (50, 1_000), (50, 10_000)] {
        let text = manifests::hierarchy(levels, keys);
        let took = time(3, || BenchManifest::new(&text));
        per(&format!("hierarchy: {levels} levels of {keys} keys, each"), took, levels * keys);
        each.push(took.as_secs_f64() / f64::from(levels * keys));
    }
    print("hierarchy: time per key, 500000 keys / 50000 keys", each[2] / each[0].max(each[1]));
}

fn exec_run() {
    for count in [100, 1_000] {
        let loaded = BenchManifest::new(&manifests::commands(count));
        let rounds = if count == 100 { 9 } else { 3 };
        let (ours, theirs) = times(rounds, || loaded.apply(Listener::None), || bare::spawn_true(count));
        ratio(&format!("exec-run: /bin/true {count} times"), ours, theirs);
    }
}

/// Measures commands that `creates` prevents.
fn exec_steady() {
    for count in [1_000, 10_000] {
        let loaded = BenchManifest::new(&manifests::satisfied_execs(count));
        let (ours, theirs) = times(9, || loaded.apply(Listener::None), || bare::stat(count));
        ratio(&format!("exec-steady: {count} with creates"), ours, theirs);
        per("  each", ours, count);
        let text = time(9, || loaded.apply(Listener::Text));
        per("  extra time for the text report, each", text.saturating_sub(ours), count);
        let changing = BenchManifest::new(&manifests::commands(count)).in_noop();
        let silent = time(9, || changing.apply(Listener::None));
        let text = time(9, || changing.apply(Listener::Text));
        per(
            "  extra time for the text report of what would change, each",
            text.saturating_sub(silent),
            count,
        );
    }
}

/// Checks that the time for each resource does not grow with long chains and wide fans.
fn shapes() {
    for (name, make) in [
        ("chain of requires", manifests::chain as fn(u32) -> String),
        ("sources with 10 subscribers each", manifests::fans),
    ] {
        let mut each = Vec::new();
        for count in [1_100, 11_000] {
            let text = make(count);
            let loading = time(5, || BenchManifest::new(&text));
            let loaded = BenchManifest::new(&text);
            let walking = time(5, || loaded.apply(Listener::None));
            per(&format!("{name}: {count} loaded, each"), loading, count);
            per(&format!("{name}: {count} walked, each"), walking, count);
            each.push((loading + walking).as_secs_f64() / f64::from(count));
        }
        print(&format!("{name}: time per resource, 11000 / 1100"), each[1] / each[0]);
    }
}

fn memory(scratch: &Path) {
    let Some(ccm) = binary::ccm_for("memory") else { return };
    let mut used = Vec::new();
    for (count, aim) in [(1, 80.0), (10_000, 80.0), (40_000, 320.0)] {
        let (directory, desired) = files_in(scratch, &format!("memory-{count}"), count);
        bare::fill(&directory, &desired);
        let manifest = scratch.join("many.yaml");
        std::fs::write(&manifest, manifests::files(&directory.display().to_string(), count))
            .expect("a manifest");
        let kibibytes = bare::peak_memory(binary::apply_command(&ccm, scratch, &manifest));
        let mebibytes = i32::try_from(kibibytes).map_or(f64::NAN, f64::from) / 1024.0;
        number_within(&format!("memory: {count} files of 1 KiB"), mebibytes, "MiB", aim);
        used.push(mebibytes);
    }
    let growth = (used[2] - used[0]) / (used[1] - used[0]) / 4.0;
    print_within("memory: per file, 40000 files / 10000 files", growth, 1.2);
}
