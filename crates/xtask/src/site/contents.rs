//! Contents of the site: its pages in their order, in groups.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::render::escaped;
use crate::package::links::joined;

/// Pages whose headings are groups and whose links are the pages of these; the heading of each stands for its place.
const FIRST: &str = "index.html";
const TASKS: (&str, &str) = ("Use", "use/index.html");
/// Heading of the pages whose titles are names of manifests.
const TYPES: &str = "Resource types";
const DEVELOPING: (&str, &str) = ("Changing ccm", "developing/index.html");
/// Pages that no other one has to list.
const OTHERS: [(&str, &str); 6] = [
    ("examples/index.html", "Examples"),
    ("manifests/index.html", "Manifests"),
    ("security.html", "Security"),
    ("changelog.html", "Changes"),
    ("contributing.html", "Contributing"),
    ("project.html", "README"),
];

/// Path and title of a page.
pub(super) type ListedPage = (String, String);

/// Pages in their order.
pub(super) struct Contents {
    /// Groups with the paths and titles of their pages.
    groups: Vec<(String, Vec<ListedPage>)>,
}

impl Contents {
    /// Returns the contents of a site, or an error with the pages that have no place in it.
    pub(super) fn of(pages: &BTreeMap<String, String>) -> Result<Self, String> {
        let mut groups = Vec::new();
        for (heading, links) in groups_of(pages, FIRST)? {
            if heading == TASKS.0 {
                groups.push((heading, vec![(TASKS.1.to_owned(), "All tasks".to_owned())]));
                groups.extend(groups_of(pages, TASKS.1)?);
            } else {
                groups.push((heading, links));
            }
        }
        let guide = groups_of(pages, DEVELOPING.1)?.into_iter().flat_map(|(_, links)| links);
        let guide = std::iter::once((DEVELOPING.1.to_owned(), "Guide".to_owned())).chain(guide);
        groups.push((DEVELOPING.0.to_owned(), guide.collect()));
        let others = OTHERS.map(|(path, title)| (path.to_owned(), title.to_owned()));
        groups.push(("More".to_owned(), others.to_vec()));
        let mut known = BTreeSet::from([FIRST.to_owned()]);
        for (heading, links) in &mut groups {
            let is_guide = heading == DEVELOPING.0;
            if heading != TYPES {
                for (_, title) in links.iter_mut() {
                    *title = capitalized(title);
                }
            }
            links.retain(|(path, _)| {
                let belongs = is_guide == path.starts_with("developing/") && pages.contains_key(path);
                belongs && known.insert(path.clone())
            });
        }
        groups.retain(|(_, links)| !links.is_empty());
        let is_missing = |path: &&String| !known.contains(*path) && !path.starts_with("examples/");
        let missing: Vec<&str> = pages.keys().filter(is_missing).map(|path| &**path).collect();
        if missing.is_empty() {
            return Ok(Self { groups });
        }
        Err(format!("docs/README.md and docs/use/README.md have no link to {}", missing.join(", ")))
    }

    /// Returns the pages before and after a page.
    pub(super) fn around(&self, path: &str) -> (Option<&ListedPage>, Option<&ListedPage>) {
        let all: Vec<&ListedPage> = self.groups.iter().flat_map(|(_, links)| links).collect();
        let Some(at) = all.iter().position(|(found, _)| found == path) else { return (None, None) };
        (at.checked_sub(1).map(|at| all[at]), all.get(at + 1).copied())
    }

    /// Returns the contents with the current page marked. `base` leads from the page to the first folder.
    pub(super) fn html(&self, current: &str, base: &str) -> String {
        let mut html = String::new();
        for (heading, links) in &self.groups {
            html += &format!("<h2>{}</h2>\n<ul>\n", escaped(heading));
            for (path, title) in links {
                let mark = if path == current { " aria-current=\"page\"" } else { "" };
                html += &format!("<li><a href=\"{base}{path}\"{mark}>{}</a></li>\n", escaped(title));
            }
            html += "</ul>\n";
        }
        html
    }
}

/// Returns a title with a capital at its beginning.
fn capitalized(title: &str) -> String {
    let mut rest = title.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    first + rest.as_str()
}

type Groups = Vec<(String, Vec<ListedPage>)>;

/// Returns the headings of a page with the paths and texts of the links below them.
fn groups_of(pages: &BTreeMap<String, String>, path: &str) -> Result<Groups, String> {
    let page = pages.get(path).ok_or_else(|| format!("there is no page for {path}"))?;
    let mut groups: Groups = vec![(String::new(), Vec::new())];
    let (mut link, mut text) = (None, String::new());
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                let target = dest_url.split('#').next().unwrap_or_default();
                link = Some(joined(path, target));
                text.clear();
            }
            Event::Start(Tag::Heading { .. }) => text.clear(),
            Event::Text(part) | Event::Code(part) => text += &part,
            Event::End(TagEnd::Heading(_)) => groups.push((text.clone(), Vec::new())),
            Event::End(TagEnd::Link) => {
                if let (Some(target), Some((_, links))) = (link.take(), groups.last_mut()) {
                    links.push((target, text.clone()));
                }
            }
            _ => {}
        }
    }
    Ok(groups)
}
