//! Names in the guide for people who change ccm: files, folders, links and tests have to exist.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{pages_in, promises};

/// Folder of the guide.
pub(crate) const FOLDER: &str = "docs/developing";

/// Page with which the guide begins.
const FIRST_PAGE: &str = "CONTRIBUTING.md";

/// Page of the folder with links to all others.
const INDEX: &str = "README.md";

/// Beginnings of the paths in backticks that are checked, from the root of the checkout.
const BEGINNINGS: [&str; 8] =
    [".cargo/", ".ci/", "crates/", "docs/", "examples/", "manifests/", "packaging/", "tests/"];

/// Parts of a path that stand for the name of something new.
const PLACEHOLDERS: [&str; 3] = ["NAME", "PROVIDER", "*"];

/// Least number of underscores that make a word the name of a test.
const UNDERSCORES_OF_TEST: usize = 3;

/// Returns an error with everything that the guide names and that does not exist, and every page without a link to it.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut pages = pages_in(&root.join(FOLDER))?;
    pages.push(root.join(FIRST_PAGE));
    pages.sort();
    let (mut errors, mut tests) = (Vec::new(), BTreeSet::new());
    for page in &pages {
        let shown = page.strip_prefix(root).unwrap_or(page).display();
        let text = std::fs::read_to_string(page).map_err(|error| format!("{shown}: {error}"))?;
        let text = without_blocks(&text);
        let paths = code(&text).filter(|word| is_path(word)).map(existing_part);
        let missing = paths.filter(|path| !root.join(path).exists());
        let unknown =
            code(&text).filter(|word| is_source_file(word) && !has_file(&root.join("crates"), word));
        let missing = missing.chain(unknown);
        let folder = page.parent().unwrap_or(root);
        let broken = links(&text).filter(|link| !folder.join(link).exists());
        errors
            .extend(missing.chain(broken).map(|name| format!("{shown} names {name}, which does not exist")));
        tests.extend(code(&text).filter(|word| is_test(word)).map(str::to_owned));
    }
    let undefined = promises::undefined(root, tests.iter().map(String::as_str));
    let undefined = undefined.map_err(|error| format!("tests of the guide: {error}"))?;
    errors.extend(
        undefined.iter().map(|test| format!("the guide names the test {test}, which does not exist")),
    );
    let index = Path::new(FOLDER).join(INDEX);
    let text = std::fs::read_to_string(root.join(&index))
        .map_err(|error| format!("{}: {error}", index.display()))?;
    let names =
        pages.iter().filter(|page| page.starts_with(root.join(FOLDER))).filter_map(|page| page.file_name());
    let unlisted = names.filter(|name| *name != INDEX && !links(&text).any(|link| *name == link));
    errors.extend(unlisted.map(|name| format!("{} has no link to {}", index.display(), name.display())));
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Returns a page without its blocks of code.
fn without_blocks(page: &str) -> String {
    let parts = page.split("```").step_by(2);
    parts.collect()
}

/// Returns the words in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).flat_map(str::split_whitespace)
}

fn is_path(word: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
}

/// Returns `true` for the name of a source file without its folders.
fn is_source_file(word: &str) -> bool {
    let is_source = Path::new(word).extension().is_some_and(|extension| extension == "rs");
    is_source && !word.contains('/') && existing_part(word) == word
}

/// Returns `true` if a folder has a file of this name, at any depth.
fn has_file(folder: &Path, name: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        entry.file_name() == name
            || entry.file_type().is_ok_and(|kind| kind.is_dir()) && has_file(&entry.path(), name)
    })
}

/// Returns a path up to the first part that stands for something new.
fn existing_part(path: &str) -> &str {
    let is_new = |part: &&str| PLACEHOLDERS.iter().any(|placeholder| part.contains(placeholder));
    let length: usize = path.split_inclusive('/').take_while(|part| !is_new(part)).map(str::len).sum();
    &path[..length]
}

fn is_test(word: &str) -> bool {
    let is_name = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    is_name && word.matches('_').count() >= UNDERSCORES_OF_TEST
}

/// Returns the files that links of a page lead to.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tests_and_links_are_found_outside_of_blocks() {
        let page =
            "see `cargo test tests/cli`, [a](b.md#c) and `a_b_c_d`\n```text\n`crates/x`\n```\n`d.rs` [e](#f)";
        let text = without_blocks(page);
        assert_eq!(code(&text).filter(|word| is_path(word)).collect::<Vec<_>>(), ["tests/cli"]);
        assert_eq!(code(&text).filter(|word| is_test(word)).collect::<Vec<_>>(), ["a_b_c_d"]);
        assert_eq!(links(&text).collect::<Vec<_>>(), ["b.md"]);
    }

    #[test]
    fn names_of_something_new_need_not_exist() {
        assert_eq!(existing_part("docs/NAME.md"), "docs/");
        assert_eq!(existing_part("crates/*/src/lib.rs"), "crates/");
        assert_eq!(existing_part("docs/reference/types/exec.md"), "docs/reference/types/exec.md");
    }
}
