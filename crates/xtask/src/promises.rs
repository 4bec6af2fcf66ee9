//! Tests that are named in the source of a page, beside the promises that they check.

use std::collections::BTreeSet;
use std::path::Path;

use crate::sources;

/// Beginning of a comment with names of tests, separated by commas.
const MARKER: &str = "<!-- tests: ";

/// Returns an error with the tests that a page names and that no file of the checkout defines.
pub(crate) fn check(root: &Path, page: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(root.join(page)).map_err(|error| format!("{page}: {error}"))?;
    let missing = undefined(root, named(&text)).map_err(|error| format!("{page}: {error}"))?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("{page} names tests that do not exist: {}", missing.join(", ")))
}

/// Returns the names of functions that no file of the checkout defines.
pub(crate) fn undefined<'n>(
    root: &Path,
    names: impl Iterator<Item = &'n str>,
) -> Result<Vec<String>, String> {
    let mut missing: BTreeSet<String> = names.map(|name| format!("fn {name}(")).collect();
    for folder in ["crates", "tests"] {
        sources::visit(&root.join(folder), &mut |_, text| missing.retain(|name| !text.contains(&**name)))?;
    }
    Ok(missing.iter().map(|name| name[3..name.len() - 1].to_owned()).collect())
}

fn named(page: &str) -> impl Iterator<Item = &str> {
    let comments = page.split(MARKER).skip(1).filter_map(|rest| rest.split("-->").next());
    comments.flat_map(|names| names.split(',').map(str::trim))
}
