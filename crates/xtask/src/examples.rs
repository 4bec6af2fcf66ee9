//! `cargo xtask language`: checks that examples in comments are run, and that no time is spent on crates without any.

use std::fmt::Write as _;
use std::path::Path;

use crate::sources;

/// Setting of a library whose comments have no examples. Looking for them takes seconds in each crate.
const WITHOUT: &str = "doctest = false";

/// Checks each crate of a folder. One whose setting does not fit its comments is an error.
pub(crate) fn check(folder: &Path) -> Result<(), String> {
    let mut found = String::new();
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    for entry in std::fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let path = entry.map_err(|error| failed(folder, error))?.path();
        if !path.join("src/lib.rs").exists() {
            continue;
        }
        let manifest = path.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).map_err(|error| failed(&manifest, error))?;
        let mut has_examples = false;
        sources::visit(&path.join("src"), &mut |_, text| has_examples |= is_run(text))?;
        let advice = match (has_examples, text.contains(WITHOUT)) {
            (true, true) => "has examples that nobody runs: remove",
            (false, false) => "has no examples: write below `[lib]`",
            _ => continue,
        };
        let _ = writeln!(found, "{} {advice} `{WITHOUT}`", path.display());
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Returns `true` if a doc comment of a source has a block of Rust.
fn is_run(text: &str) -> bool {
    let mut is_open = false;
    for line in text.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(kind) = comment.and_then(|comment| comment.trim().strip_prefix("```")) else { continue };
        is_open = !is_open;
        if is_open && matches!(kind.split(',').next(), Some("" | "rust" | "no_run" | "should_panic")) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_run;

    #[test]
    fn blocks_of_rust_are_examples() {
        for (text, expected) in [
            ("/// ```\n/// f();\n/// ```\n", true),
            ("//! ```no_run\n//! ```\n", true),
            ("/// ```text\n/// a\n/// ```\n", false),
            ("    /// ```rust,should_panic\n    /// ```\n", true),
            ("// ```\n// ```\n", false),
            ("let block = \"```\";\n", false),
        ] {
            assert_eq!(is_run(text), expected, "{text}");
        }
    }
}
