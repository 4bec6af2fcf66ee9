//! `cargo xtask language`: checks that doc comments begin with a noun or with a verb in the third person.

use std::fmt::Write as _;
use std::path::Path;

use crate::sources;

/// Words that begin a clause in place of a noun or a verb.
const FORBIDDEN: &[&str] = &[
    "Whatever", "Who", "Whoever", "Whose", "Whether", "Which", "How", "However", "Where", "When", "Whenever",
    "Why",
];

/// Checks the sources below a folder. Each comment that begins with a forbidden word is an error.
pub(crate) fn check(folder: &Path) -> Result<(), String> {
    let mut found = String::new();
    sources::visit(folder, &mut |path, text| {
        for (number, first) in forbidden(text) {
            let _ = writeln!(found, "{}:{number}: begins with a clause: {first}", path.display());
        }
    })?;
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Returns the first lines of doc comments that begin with a forbidden word, with their numbers.
fn forbidden(text: &str) -> Vec<(usize, &str)> {
    let mut in_comment = false;
    let mut firsts = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim_start)) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim);
        firsts.extend(comment.filter(|_| !in_comment).map(|comment| (number, comment)));
        in_comment = comment.is_some();
    }
    firsts.retain(|(_, first)| {
        FORBIDDEN.contains(&first.split([' ', ',', ':', '.']).next().unwrap_or_default())
    });
    firsts
}

#[cfg(test)]
mod tests {
    use super::forbidden;

    #[test]
    fn first_words_of_doc_comments_count() {
        let text = "//! How it is.\n\n/// Returns it.\n/// How follows is free.\nfn f() {}\n/// Howl.\n/// a\n\n/// How: x\n";
        assert_eq!(forbidden(text), [(1, "How it is."), (9, "How: x")]);
    }
}
