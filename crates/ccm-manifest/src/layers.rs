//! Check of what the steps of loading may know: none knows a later one that needs its result.

#![expect(clippy::disallowed_methods, reason = "a test reads the source of this crate")]

use std::path::{Path, PathBuf};

/// Returns the source files of a step, which is a file with a folder beside it.
fn sources(step: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut found) = (vec![root.join(step)], vec![root.join(step).with_extension("rs")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the source") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

#[test]
fn no_step_knows_the_check_of_the_catalog() {
    for step in ["read", "resolve", "late"] {
        let sources = sources(step);
        assert!(sources.len() > 1, "{step} has no files");
        for path in sources {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let found: Vec<&str> = text.lines().filter(|line| line.contains("crate::check")).collect();
            assert!(found.is_empty(), "{} knows {found:?}", path.display());
        }
    }
}
