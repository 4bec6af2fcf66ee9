//! Links between pages of the documentation that are installed in another place than in the checkout.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// Replaces the target of each relative link of a page. `targets` holds the path of each file in the checkout and in
/// the package. A link to a file that is not in the package becomes plain text.
pub(crate) fn with_links_to(targets: &[(String, String)], source: &str, target: &str, page: &str) -> String {
    let mut result = String::new();
    let mut end = 0;
    for (range, link) in links(page) {
        let whole = &page[range.clone()];
        let (mark, whole_link) = if whole.starts_with('!') { whole.split_at(1) } else { ("", whole) };
        let text = &whole_link[1..whole_link.rfind("](").unwrap_or(1)];
        let (path, anchor) = link.split_at(link.find('#').unwrap_or(link.len()));
        let found = targets.iter().find(|(known, _)| *known == joined(source, path));
        let is_elsewhere = path.is_empty() || path.contains("://");
        result += &page[end..range.start];
        result += &match found {
            _ if is_elsewhere => whole.to_owned(),
            Some((_, installed)) => format!("{mark}[{text}]({}{anchor})", relative(target, installed)),
            None => text.to_owned(),
        };
        end = range.end;
    }
    result + &page[end..]
}

/// Returns the range and the target of each link and picture of a page.
pub(crate) fn links(page: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let events = Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter();
    events.filter_map(|(event, range)| match event {
        Event::Start(
            Tag::Link { link_type: LinkType::Inline, dest_url, .. }
            | Tag::Image { link_type: LinkType::Inline, dest_url, .. },
        ) => Some((range, dest_url.into_string())),
        _ => None,
    })
}

/// Returns the path that a link of a page leads to.
pub(crate) fn joined(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the link that leads from a page to another file.
fn relative(page: &str, file: &str) -> String {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (from, to): (Vec<&str>, Vec<&str>) =
        (folder.split('/').filter(|part| !part.is_empty()).collect(), file.split('/').collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    [vec![".."; from.len() - common], to[common..].to_vec()].concat().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_installed_files() {
        let targets = [
            ("README.md", "README.md"),
            ("docs/README.md", "index.md"),
            ("docs/exec.md", "exec.md"),
            ("examples/README.md", "examples/README.md"),
        ];
        let targets = targets.map(|(source, target)| (source.to_owned(), target.to_owned()));
        for (source, target, page, expected) in [
            ("README.md", "README.md", "a [b](docs/exec.md) c", "a [b](exec.md) c"),
            ("README.md", "README.md", "[b\nc](docs/exec.md#in-a-sandbox)", "[b\nc](exec.md#in-a-sandbox)"),
            ("README.md", "README.md", "[a](docs/README.md), [b](#here)", "[a](index.md), [b](#here)"),
            ("README.md", "README.md", "![b](docs/exec.md)", "![b](exec.md)"),
            ("README.md", "README.md", "see [the code](crates/x.rs).", "see the code."),
            ("docs/exec.md", "exec.md", "[a](../README.md) [b](README.md)", "[a](README.md) [b](index.md)"),
            ("docs/exec.md", "exec.md", "[a](../examples/README.md)", "[a](examples/README.md)"),
            ("examples/README.md", "examples/README.md", "[a](../docs/exec.md)", "[a](../exec.md)"),
            ("docs/exec.md", "exec.md", "[a](https://example.net/x)", "[a](https://example.net/x)"),
            ("docs/exec.md", "exec.md", "`a[0](b c)` [", "`a[0](b c)` ["),
        ] {
            assert_eq!(with_links_to(&targets, source, target, page), expected, "{page}");
        }
    }
}
