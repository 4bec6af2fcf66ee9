//! Length of the pages: one that takes longer than a few minutes to read is two pages.

use std::path::Path;

use crate::pages_below;

/// Maximum number of words of a page without its tables, blocks and comments.
const MAX_WORDS: usize = 1500;

/// Returns an error with every page that is too long.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut errors = Vec::new();
    for path in pages_below(&root.join("docs"))? {
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let words = words(&text);
        if words > MAX_WORDS {
            errors
                .push(format!("{name} has {words} words of text, {MAX_WORDS} at most: make two pages of it"));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Returns the number of words of a page without its tables, blocks and comments.
fn words(page: &str) -> usize {
    let blocks = page.split("```").step_by(2);
    let without_comments = blocks.flat_map(|text| {
        let mut parts = text.split("<!--");
        let first = parts.next().into_iter();
        first.chain(parts.filter_map(|part| Some(part.split_once("-->")?.1)))
    });
    let lines = without_comments.flat_map(str::lines).filter(|line| !line.starts_with('|'));
    lines.map(|line| line.split_whitespace().count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_blocks_and_comments_do_not_count() {
        let page =
            "one two\n<!-- no\nno --> three\n\n| no |\n|---|\n\n```text\nno no\n```\nfour <!-- no -->\n";
        assert_eq!(words(page), 4);
    }
}
