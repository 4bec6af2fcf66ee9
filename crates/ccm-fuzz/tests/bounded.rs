//! Every target with its corpus and a bounded number of mutations.
//!
//! `CCM_FUZZ_SECONDS=600 cargo test --release -p ccm-fuzz` runs longer.

use ccm_fuzz::{Effort, TARGETS, endure, target};
use ccm_testkit::{Scratch, repository, wait_until};

/// Defines a test for each target, with a number of inputs that takes a moment.
macro_rules! endured {
    ($($name:ident: $inputs:literal,)*) => {
        $(
            #[test]
            fn $name() {
                endure(target(stringify!($name)), Effort::from_environment($inputs));
            }
        )*

        #[test]
        fn every_target_is_tested() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

endured! {
    approval: 2000,
    assignments: 2000,
    commands: 500,
    dotenv: 2000,
    expression: 2000,
    facts: 1000,
    glob: 3000,
    granted: 3000,
    history: 500,
    interpolation: 2000,
    launcher: 2000,
    ledger: 1000,
    manifest: 200,
    path: 2000,
    policy: 150,
    redaction: 40,
    rules: 300,
    shell: 5000,
    template: 200,
    text_file: 1000,
    words: 3000,
    yaml: 500,
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads the repository itself")]
fn every_target_has_a_program_for_cargo_fuzz() {
    let manifest = std::fs::read_to_string(repository("tests/fuzz/Cargo.toml")).expect("a file");
    for target in TARGETS {
        let program = format!("tests/fuzz/fuzz_targets/{}.rs", target.name);
        let text = std::fs::read_to_string(repository(&program)).expect("a file");
        assert!(text.contains(&format!("target(\"{}\")", target.name)), "{text}");
        assert!(manifest.contains(&format!("name = \"{}\"\n", target.name)), "{}", target.name);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test starts itself once more")]
fn killed_loop_prints_its_input_and_leaves_no_file() {
    use std::process::{Command, Stdio};
    let scratch = Scratch::new();
    let itself = std::env::current_exe().expect("a program");
    let mut running = Command::new(itself)
        .args(["words", "--exact"])
        .env("CCM_FUZZ_SECONDS", "3600")
        .env("TMPDIR", scratch.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process");
    let pid = running.id();
    // Before the first input, the process that prints it may not have started yet.
    wait_until("the loop has an input", || {
        let mut open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.any(|entry| {
            let path = std::fs::read_link(entry.path()).unwrap_or_default();
            let is_filled = || std::fs::metadata(entry.path()).is_ok_and(|file| file.len() > 0);
            path.starts_with(scratch.path()) || path.starts_with("/memfd:input (deleted)") && is_filled()
        })
    });
    running.kill().expect("it runs");
    let output = running.wait_with_output().expect("its output");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("the process ended while words was given this"), "{stderr}");
    assert_eq!(scratch.names(), Vec::<String>::new());
}
