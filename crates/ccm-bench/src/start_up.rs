//! The start of a process, by its time, its page faults and its instructions.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::binary::{apply_command, ccm_for, run_true};
use crate::measure::{counts_within, millis, number_within, ratio, times};
use crate::{bare, binary, files_in, manifests};

/// Maximum ratio of `ccm --version` to a program that prints one line.
const AIM: f64 = 2.0;

/// Program that prints one line.
const HELLO: &str = "fn main() { println!(\"hello\"); }";

/// Name of a command, the function that makes it, and its maximum ratio.
type MeasuredCommand<'a> = (&'static str, &'a dyn Fn() -> Command, Option<f64>);

/// Measures processes with one satisfied resource, or without any.
pub(crate) fn run(scratch: &Path) {
    let Some(ccm) = ccm_for("start-up") else { return };
    let manifest = scratch.join("one.yaml");
    let (directory, desired) = files_in(scratch, "one", 1);
    bare::fill(&directory, &desired);
    std::fs::write(&manifest, manifests::files(&directory.display().to_string(), 1)).expect("a manifest");
    let (ours, theirs) = times(30, || binary::run(&ccm, scratch, &manifest), run_true);
    ratio("start-up: one satisfied file, against /bin/true", ours, theirs);
    number_within("  ccm alone", millis(ours), "ms", 5.0);
    let Some(hello) = hello(scratch) else {
        println!("start-up: its page faults and instructions are skipped, rustc compiles no program");
        return;
    };
    let with = |arguments: &[&str]| {
        let mut command = Command::new(&ccm);
        command.args(arguments);
        command
    };
    let (manifest_text, hello) = (manifest.display().to_string(), || Command::new(&hello));
    let (hello_faults, hello_instructions) = (page_faults(&hello), instructions(&hello()));
    let commands: [MeasuredCommand<'_>; 3] = [
        ("ccm --version", &|| with(&["--version"]), Some(AIM)),
        ("ccm validate, one file", &|| with(&["validate", &manifest_text]), None),
        ("ccm apply, one file", &|| apply_command(&ccm, scratch, &manifest), None),
    ];
    for (name, command, aim) in commands {
        counts_within(
            &format!("{name}: page faults, against hello"),
            page_faults(command),
            hello_faults,
            aim,
        );
        match (instructions(&command()), hello_instructions) {
            (Some(ours), Some(theirs)) => {
                counts_within(&format!("{name}: instructions, against hello"), ours, theirs, aim);
            }
            _ => println!("{name}: instructions are skipped, valgrind counts none"),
        }
    }
}

/// Returns the lowest number of page faults of some processes.
fn page_faults(command: &dyn Fn() -> Command) -> i64 {
    let once = || {
        let mut command = command();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        bare::page_faults(command)
    };
    (0..5).map(|_| once()).min().unwrap_or_default()
}

/// Compiles a program that prints one line.
fn hello(scratch: &Path) -> Option<PathBuf> {
    let (source, program) = (scratch.join("hello.rs"), scratch.join("hello"));
    std::fs::write(&source, HELLO).expect("a source");
    let compiled = Command::new("rustc").args(["-O", "-o"]).args([&program, &source]).status();
    compiled.is_ok_and(|status| status.success()).then_some(program)
}

/// Returns the number of instructions that a program executes.
pub(crate) fn instructions(command: &Command) -> Option<i64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap_or(Path::new(".")))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}
