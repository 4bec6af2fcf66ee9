//! Doc comments and declared items of Rust source text, found line by line.

use std::path::{Path, PathBuf};

pub(crate) struct SourceFile {
    pub(crate) crate_name: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn at(&self, line: usize) -> String {
        let path = self.path.to_string_lossy();
        let from = path.rfind(&format!("{}/src/", self.crate_name)).unwrap_or_default();
        format!("{}:{line}", &path[from..])
    }
}

/// Returns each doc comment's first line and its number.
pub(crate) fn doc_comments(text: &str) -> Vec<(usize, &str)> {
    let mut comments = Vec::new();
    let mut in_comment = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let content = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if let Some(content) = content.filter(|_| !in_comment) {
            comments.push((number, content.trim()));
        }
        in_comment = content.is_some();
    }
    comments
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) line: usize,
    /// `struct`, `fn`, ….
    pub(crate) keyword: &'static str,
    pub(crate) name: String,
    /// `true` for `pub` with or without a scope.
    pub(crate) is_public: bool,
    is_indented: bool,
}

impl Item {
    /// Returns `true` for types and traits, but not for associated types: their trait names those.
    pub(crate) fn is_type(&self) -> bool {
        ["struct", "enum", "union", "trait"].contains(&self.keyword)
            || (self.keyword == "type" && !self.is_indented)
    }
}

const KEYWORDS: &[&str] = &["struct", "enum", "union", "trait", "type", "fn", "const", "static", "mod"];

/// Returns the items outside the inline test modules of a file.
pub(crate) fn items(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        if line.starts_with("#[cfg(test)]") {
            let inline = lines.next().is_some_and(|(_, module)| module.ends_with('{'));
            if inline {
                lines.by_ref().find(|(_, line)| line.starts_with('}'));
            }
        } else if let Some(item) = item(number, line) {
            items.push(item);
        }
    }
    items
}

fn item(line: usize, text: &str) -> Option<Item> {
    let trimmed = text.trim_start();
    let is_indented = trimmed.len() < text.len();
    let unscoped = trimmed.strip_prefix("pub").map(|rest| match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or("", |(_, rest)| rest),
        None => rest,
    });
    let public = unscoped.filter(|rest| rest.starts_with(' '));
    let is_public = public.is_some();
    let declaration = public.unwrap_or(trimmed);
    let mut words = declaration.split_whitespace().peekable();
    loop {
        let word = words.next()?;
        let is_qualifier = match word {
            "const" => matches!(words.peek(), Some(&"fn" | &"unsafe" | &"async")),
            _ => ["async", "unsafe", "extern", "\"C\""].contains(&word),
        };
        if !is_qualifier {
            let keyword = KEYWORDS.iter().find(|keyword| **keyword == word)?;
            let name = identifier(words.next()?).to_owned();
            return (!name.is_empty()).then_some(Item { line, keyword, name, is_public, is_indented });
        }
    }
}

fn identifier(text: &str) -> &str {
    let end = text.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(text.len());
    &text[..end]
}

/// Returns the words of a name in `snake_case`, `CamelCase` or `UPPER_CASE`, in lower case.
pub(crate) fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if letter != '_' {
            words.last_mut().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        }
        after_lower = letter.is_lowercase();
    }
    words.into_iter()
}

/// File or directory of a module that only exists in tests.
pub(crate) struct TestModule(PathBuf);

impl TestModule {
    pub(crate) fn holds(&self, path: &Path) -> bool {
        path == self.0.with_extension("rs") || path.starts_with(&self.0)
    }
}

/// Returns the modules that are declared behind `#[cfg(test)]` in a file of their own.
pub(crate) fn test_modules(sources: &[SourceFile]) -> Vec<TestModule> {
    let mut modules = Vec::new();
    for SourceFile { path, text, .. } in sources {
        let names = text.split("#[cfg(test)]\n").skip(1).filter_map(|rest| {
            let name = identifier(rest.trim_start_matches("pub(crate) ").strip_prefix("mod ")?);
            rest.split_once(name)?.1.starts_with(';').then_some(name)
        });
        let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|root| path.ends_with(root));
        let folder = if is_root { path.with_file_name("") } else { path.with_extension("") };
        modules.extend(names.map(|name| TestModule(folder.join(name))));
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, &'static str, bool)> {
        items(text).into_iter().map(|item| (item.name, item.keyword, item.is_public)).collect()
    }

    #[test]
    fn items_are_found_behind_qualifiers() {
        let text =
            "pub(crate) async fn a() {}\npub const fn b() {}\nconst C: u8 = 1;\npub static D: u8 = 1;\n";
        let expected = [("a", "fn", true), ("b", "fn", true), ("C", "const", false), ("D", "static", true)];
        assert_eq!(names(text), expected.map(|(name, keyword, public)| (name.to_owned(), keyword, public)));
    }

    #[test]
    fn uses_comments_and_statements_declare_nothing() {
        assert_eq!(names("pub use d::E;\n// struct F\nlet type_ = 1;").len(), 0);
    }

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words("is_owed").collect::<Vec<_>>(), ["is", "owed"]);
        assert_eq!(words("OwedRefresh2").collect::<Vec<_>>(), ["owed", "refresh2"]);
        assert_eq!(words("MAX_LEN").collect::<Vec<_>>(), ["max", "len"]);
    }
}
