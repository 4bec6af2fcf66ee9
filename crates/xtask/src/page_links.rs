//! Links of the pages: every file, folder and heading that one leads to exists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::package::layout::is_page;
use crate::package::links::{joined, links};
use crate::pages_below;

/// Folders with pages.
const FOLDERS: [&str; 3] = ["docs", "examples", "manifests"];

/// Returns an error with every link that leads nowhere.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut paths: Vec<PathBuf> = crate::pages_in(root)?;
    for folder in FOLDERS {
        paths.extend(pages_below(&root.join(folder))?);
    }
    let mut pages = BTreeMap::new();
    for path in paths {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        pages.insert(name, text);
    }
    let headings: BTreeMap<&str, Vec<String>> =
        pages.iter().map(|(name, text)| (&**name, anchors(text))).collect();
    let mut errors = Vec::new();
    for (page, text) in &pages {
        for (_, link) in links(text).filter(|(_, link)| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { page.clone() } else { joined(page, path) };
            let known = headings.get(&*target);
            let has_heading =
                anchor.is_empty() || known.is_some_and(|known| known.iter().any(|known| known == anchor));
            if !root.join(&target).exists() || is_page(&target) && !has_heading {
                errors.push(format!("{page}: the link {link} leads nowhere"));
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Returns the anchors of the headings of a page, in their order.
pub(crate) fn anchors(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut title: Option<String> = None;
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match (event, &mut title) {
            (Event::Start(Tag::Heading { .. }), _) => title = Some(String::new()),
            (Event::Text(text) | Event::Code(text), Some(title)) => *title += &text,
            (Event::End(TagEnd::Heading(_)), _) => {
                let first = anchor(&title.take().unwrap_or_default());
                let repeated = (1..).map(|number| format!("{first}-{number}"));
                let mut names = std::iter::once(first.clone()).chain(repeated);
                found.extend(names.find(|name| !found.contains(name)));
            }
            _ => {}
        }
    }
    found
}

/// Returns the anchor that web sites give a heading.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|found| found.is_alphanumeric() || [' ', '-', '_'].contains(found));
    kept.flat_map(char::to_lowercase).map(|found| if found == ' ' { '-' } else { found }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_anchors_of_web_sites() {
        let page = "# What `ensure` means\n\ntext\n\n## A [link](b.md), twice\n\n## A link, twice\n\n```text\n# no\n```\n";
        assert_eq!(anchors(page), ["what-ensure-means", "a-link-twice", "a-link-twice-1"]);
    }

    #[test]
    fn every_link_of_the_pages_leads_somewhere() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert_eq!(check(&root), Ok(()));
    }
}
