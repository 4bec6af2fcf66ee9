//! The binary `ccm` as a user runs it.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the machine themselves"
)]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod accounts;
mod apply;
mod approvals;
mod audit;
mod autorequire;
mod backup;
mod branches;
mod captures;
mod check_files;
mod checkouts;
mod completions;
mod confined;
mod confined_verification;
mod confirmation;
mod credentials;
mod data_files;
mod documents;
mod earlier_state;
mod encrypted;
mod encrypted_leaks;
mod endless;
mod ensure;
mod ensure_api;
mod ensure_sessions;
mod errors;
mod eval;
mod examples;
mod executions;
mod expect;
mod explain;
mod exposed_secrets;
mod facts;
mod files;
mod foreach;
mod grants;
mod health;
mod hiera;
mod history;
mod idempotence;
mod init;
mod inputs;
mod interruption;
mod json;
mod lock;
mod machine_policy;
mod manifest_checks;
mod manifests;
mod manual;
mod many_machines;
mod mistakes;
mod packages;
mod pages;
mod pause;
mod pending_refreshes;
mod plans;
mod policy;
mod programs_beside;
mod readers;
mod recipes;
mod record;
mod recorded_diffs;
#[cfg(feature = "archive")]
mod release_runs;
mod releases;
mod render;
mod replaced_program;
mod resource;
mod schema;
mod screens;
mod secrets;
mod security_keys;
mod seed;
mod sessions;
mod several;
mod state;
mod status;
mod terminal;
mod timer;
mod timer_notices;
mod timer_of_package;
mod tool;
mod tool_approvals;
mod tool_daily_work;
mod tracing;
mod trees;
mod units;
mod usage;
mod validate;
mod validators;
mod written_files;

use ccm_testkit::{Called, Ccm, Scratch};

/// A call of the binary in a directory of the test's own.
fn ccm(scratch: &Scratch, args: &[&str]) -> Ccm {
    Ccm::new(env!("CARGO_BIN_EXE_ccm"), scratch).args(args)
}

/// Applies a manifest given as text.
fn apply(scratch: &Scratch, manifest: &str, options: &[&str]) -> Called {
    scratch.write("manifest.yaml", manifest);
    ccm(scratch, &["apply", "manifest.yaml"]).args(options).run()
}

/// Owner and group of new files of the test.
fn owner() -> String {
    ccm_testkit::shell("printf '%s:%s' \"$(id -un)\" \"$(id -gn)\"", std::path::Path::new("/"))
}

/// The text with the directory of the test for `[dir]`.
fn in_place(scratch: &Scratch, text: &str) -> String {
    text.replace("[dir]", &scratch.path().to_string_lossy())
}

/// Applies files given as the lines below `- file:`; `[dir]` in them stands for the directory.
fn apply_files(scratch: &Scratch, files: &str, options: &[&str]) -> Called {
    let files = in_place(scratch, files);
    apply(scratch, &format!("ccm:\n  resources:\n    - file:\n{files}"), options)
}

/// Limits of time for a test whose work has begun before, each for a machine that is busier.
const LIMITS: [&str; 3] = ["300ms", "3s", "30s"];

/// Calls ccm with a limit of time, and again in a new directory with the next one if it ended before the work began.
fn ended_by_limit(
    call: impl Fn(&Scratch, &str) -> Called,
    had_begun: impl Fn(&Scratch, &Called) -> bool,
) -> (Scratch, Called) {
    let calls = LIMITS.iter().map(|limit| {
        let scratch = Scratch::new();
        let called = call(&scratch, limit);
        (scratch, called)
    });
    calls.into_iter().find(|(scratch, called)| had_begun(scratch, called)).expect("work that begins")
}

/// Replaces the limit that ended the run in its report.
fn without_limit(called: Called) -> Called {
    let replaced = |text: String, limit: &&str| text.replace(&format!("after {limit}"), "after [limit]");
    Called { stdout: LIMITS.iter().fold(called.stdout, replaced), ..called }
}

/// An exec that makes a file `begun` and then runs until it is ended, and one behind it.
const ENDLESS: &str = "
        - waits: {provider: shell, command: 'touch [dir]/begun; exec sleep 3600'}
        - 'true':
";

/// Applies them with a limit of time that comes while the first one runs.
fn apply_endless(options: &[&str]) -> (Scratch, Called) {
    let call = |scratch: &Scratch, limit: &str| {
        apply_execs(scratch, ENDLESS, &[options, &["--timeout", limit]].concat())
    };
    ended_by_limit(call, |scratch, _| scratch.has("begun"))
}

/// Applies execs given as the lines below `- exec:`; `[dir]` in them stands for the directory.
fn apply_execs(scratch: &Scratch, execs: &str, options: &[&str]) -> Called {
    let execs = in_place(scratch, execs);
    apply(scratch, &format!("ccm:\n  resources:\n    - exec:\n{execs}"), options)
}
