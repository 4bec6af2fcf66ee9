//! Many resources in one manifest.

use std::fmt::Write as _;

use ccm_testkit::Scratch;

use crate::ccm;

/// Maximum memory of a run for each thousand resources, in KiB, and for the run itself. A run takes about half of
/// this maximum; a list within a list would exceed any such maximum.
const EACH_THOUSAND: usize = 5 * 1024;
const ITSELF: usize = 32 * 1024;

/// A manifest of that many resources, half of them files, half execs that come after them, and the state it asks for.
fn steady(scratch: &Scratch, count: usize) {
    let mut files = String::new();
    let mut execs = String::new();
    for number in 0..count / 2 {
        let path = scratch.at(&format!("files/{}/{number}", number % 50));
        scratch.write(&path, format!("content of {number}\n"));
        let _ = writeln!(files, "        - {path}: {{content: \"content of {number}\\n\"}}");
        let _ = writeln!(execs, "        - x{number}: {{creates: {path}, require: [\"file#{path}\"]}}");
    }
    scratch.write("manifest.yaml", format!("ccm:\n  resources:\n    - file:\n{files}    - exec:\n{execs}"));
}

#[test]
fn memory_does_not_grow_faster_than_the_number_of_resources() {
    for count in [10_000, 40_000] {
        let scratch = Scratch::in_memory();
        steady(&scratch, count);
        let limit = ITSELF + count / 1000 * EACH_THOUSAND;
        let apply = ccm(&scratch, &["apply", "manifest.yaml", "--detailed-exitcodes"]);
        let called = apply.after(&format!("ulimit -d {limit}")).run();
        let end: String = called.stdout.lines().rev().take(3).collect();
        assert_eq!(called.code, 0, "{count} resources in {limit} KiB: {end}{}", called.stderr);
        assert!(end.contains(&format!(": {count} unchanged")), "{end}");
    }
}
