//! Tests that are named in the source of a page, beside the promises that they check.

use std::collections::BTreeSet;
use std::path::Path;

/// Beginning of a comment with names of tests, separated by commas.
const MARKER: &str = "<!-- tests: ";

/// Returns an error with the tests that a page names and that no file below the folders defines.
pub(crate) fn check(page: &Path, folders: &[&Path]) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", page.display());
    let text = std::fs::read_to_string(page).map_err(failed)?;
    let mut missing: BTreeSet<String> = named(&text).map(|name| format!("fn {name}(")).collect();
    for folder in folders {
        remove_defined(folder, &mut missing).map_err(failed)?;
    }
    if missing.is_empty() {
        return Ok(());
    }
    let missing: Vec<_> = missing.iter().map(|name| &name[3..name.len() - 1]).collect();
    Err(format!("{} names tests that do not exist: {}", page.display(), missing.join(", ")))
}

fn named(page: &str) -> impl Iterator<Item = &str> {
    let comments = page.split(MARKER).skip(1).filter_map(|rest| rest.split("-->").next());
    comments.flat_map(|names| names.split(',').map(str::trim))
}

fn remove_defined(folder: &Path, missing: &mut BTreeSet<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_defined(&path, missing)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path)?;
            missing.retain(|name| !text.contains(name.as_str()));
        }
    }
    Ok(())
}
