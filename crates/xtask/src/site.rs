//! `cargo xtask site DIR`: the manual as a web site, of the pages of this checkout.
//!
//! The site is made of files alone, with a search of its own, and asks no other server. Its contents are the links of the
//! pages `docs/README.md` and `docs/use/README.md`: a page that they leave out is an error.

mod contents;
mod render;

use std::collections::BTreeMap;
use std::path::Path;

use contents::Contents;

use crate::package::layout::{files_below, is_page};
use crate::package::links::with_links_to;

const PAGE: &str = include_str!("site/page.html");
const STYLE: &str = include_str!("site/style.css");
const SCRIPT: &str = include_str!("site/site.js");

/// Pages of the first folder, with their places in the site.
const FIRST_PAGES: [(&str, &str); 4] = [
    ("README.md", "project.html"),
    ("SECURITY.md", "security.html"),
    ("CHANGELOG.md", "changelog.html"),
    ("CONTRIBUTING.md", "contributing.html"),
];

/// Writes the site into a directory.
pub(crate) fn build(root: &Path, directory: &Path) -> Result<(), String> {
    let site = files(root)?;
    for (name, content) in &site {
        let path = directory.join(name);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        std::fs::create_dir_all(path.parent().unwrap_or(directory)).map_err(failed)?;
        std::fs::write(&path, content).map_err(failed)?;
    }
    println!("wrote {} files; begin with {}", site.len(), directory.join("index.html").display());
    Ok(())
}

/// Returns all files of the site by their paths in it.
fn files(root: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let (mut pages, mut site) = (Vec::new(), BTreeMap::new());
    let read = |name: &str| std::fs::read(root.join(name)).map_err(|error| format!("{name}: {error}"));
    for (source, target) in FIRST_PAGES {
        pages.push((source.to_owned(), target.to_owned(), read(source)?));
    }
    site.insert("LICENSE".to_owned(), read("LICENSE")?);
    for folder in ["docs", "examples", "manifests"] {
        for (name, content) in files_below(&root.join(folder))? {
            let source = format!("{folder}/{name}");
            let target = source.strip_prefix("docs/").unwrap_or(&source).to_owned();
            if is_page(&name) {
                pages.push((source, page_path(&target), content));
            } else {
                site.insert(target, content);
            }
        }
    }
    let mut targets: Vec<(String, String)> =
        pages.iter().map(|(source, target, _)| (source.clone(), target.clone())).collect();
    let others = site.keys().map(|target| {
        let is_of_docs =
            !target.starts_with("examples/") && !target.starts_with("manifests/") && target != "LICENSE";
        (if is_of_docs { format!("docs/{target}") } else { target.clone() }, target.clone())
    });
    targets.extend(others);
    let mut texts = BTreeMap::new();
    for (source, target, content) in pages {
        let text = String::from_utf8(content).map_err(|error| format!("{source}: {error}"))?;
        texts.insert(target.clone(), with_links_to(&targets, &source, &target, &text));
    }
    let contents = Contents::of(&texts)?;
    let mut index = Vec::new();
    for (target, text) in &texts {
        site.insert(target.clone(), page(target, text, &contents).into_bytes());
        render::add_sections(target, text, &mut index);
    }
    let index = serde_json::to_string(&index).map_err(|error| format!("the index: {error}"))?;
    site.insert("search-index.js".to_owned(), format!("window.searchIndex = {index};\n").into_bytes());
    site.insert("style.css".to_owned(), STYLE.as_bytes().to_vec());
    site.insert("site.js".to_owned(), SCRIPT.as_bytes().to_vec());
    Ok(site)
}

/// Returns the path of a page in the site.
fn page_path(source: &str) -> String {
    let stem = source.strip_suffix(".md").unwrap_or(source);
    format!("{}.html", stem.strip_suffix("README").map_or(stem.to_owned(), |folder| format!("{folder}index")))
}

/// Returns a page of the site.
fn page(target: &str, text: &str, contents: &Contents) -> String {
    let base = "../".repeat(target.matches('/').count());
    let (previous, next) = contents.around(target);
    let link = |page: Option<&contents::ListedPage>, before: &str, after: &str| {
        page.map_or_else(String::new, |(path, title)| {
            format!("<a href=\"{base}{path}\">{before}{}{after}</a>", render::escaped(title))
        })
    };
    let parts = [
        ("[title]", render::escaped(&render::title(text))),
        ("[contents]", contents.html(target, &base)),
        ("[previous]", link(previous, "← ", "")),
        ("[next]", link(next, "", " →")),
        ("[base]", base.clone()),
        ("[text]", render::html(text)),
    ];
    // The text comes last, because it may hold the names of the others.
    parts.iter().fold(PAGE.to_owned(), |page, (name, part)| page.replace(name, part))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::package::links::joined;

    fn checkout() -> BTreeMap<String, Vec<u8>> {
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).expect("a site")
    }

    fn is_html(name: &str) -> bool {
        Path::new(name).extension().is_some_and(|extension| extension == "html")
    }

    /// Returns the values of an attribute.
    fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
        let begin = format!(" {attribute}=\"");
        page.split(&*begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    #[test]
    fn every_link_of_the_site_leads_to_a_file_of_the_site() {
        let site = checkout();
        let html = |name: &str| String::from_utf8_lossy(&site[name]).into_owned();
        let names: Vec<&String> = site.keys().filter(|name| is_html(name)).collect();
        assert!(names.len() > 60, "{names:?}");
        let anchors: BTreeMap<&str, BTreeSet<String>> = names
            .iter()
            .map(|name| (&***name, values(&html(name), "id").into_iter().map(str::to_owned).collect()))
            .collect();
        for name in &names {
            let page = html(name);
            for link in [values(&page, "href"), values(&page, "src")].concat() {
                if link.contains("://") || link.starts_with("data:") {
                    continue;
                }
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = if path.is_empty() { (*name).clone() } else { joined(name, path) };
                assert!(site.contains_key(&target), "{name}: {link}");
                let known =
                    anchors.get(&*target).is_none_or(|anchors| anchor.is_empty() || anchors.contains(anchor));
                assert!(known, "{name}: {link}");
            }
        }
    }

    #[test]
    fn a_page_asks_no_other_server() {
        for (name, content) in checkout() {
            let text = String::from_utf8_lossy(&content);
            if is_html(&name) {
                let foreign = values(&text, "src").into_iter().find(|source| source.contains("//"));
                assert_eq!(foreign, None, "{name}");
                assert!(text.matches("<script").count() <= 1, "{name}");
            }
        }
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
        assert!(!SCRIPT.contains("://"));
    }

    #[test]
    fn pages_have_paths_that_servers_find() {
        for (source, expected) in [
            ("README.md", "index.html"),
            ("use/README.md", "use/index.html"),
            ("use/timer.md", "use/timer.html"),
        ] {
            assert_eq!(page_path(source), expected);
        }
    }
}
