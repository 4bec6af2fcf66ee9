//! Tests that can't run here, in whole or in part.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;

use crate::isolated::test_name;

/// Variable with the path of the file that lists the skipped tests.
const LIST: &str = "CCM_SKIPPED_TESTS";

/// Records that the current test, or the rest of it, is skipped: prints the reason, and appends it with the name of the
/// test to the file that `CCM_SKIPPED_TESTS` names.
///
/// # Panics
///
/// If the file can't be written, or this thread is not that of a test.
#[expect(clippy::print_stderr, reason = "readers of the test output should see it")]
pub fn skipped(reason: &str) {
    let program = env::current_exe().unwrap_or_else(|error| panic!("this program can't be found: {error}"));
    let program = program.file_name().unwrap_or_default().to_string_lossy();
    // Cargo appends a hash.
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    let test = format!("{program} {}", test_name());
    eprintln!("skipped: {test}: {reason}");
    if let Some(list) = env::var_os(LIST) {
        // One write, since other tests append to the same file.
        let line = format!("{}\t{test}\n", reason.replace('\n', " "));
        let file = OpenOptions::new().create(true).append(true).open(&list);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    }
}
