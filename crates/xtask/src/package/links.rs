//! Links between pages of the documentation that are installed in another place than in the checkout.

/// Replaces the target of each relative link of a page. `targets` holds the path of each file in the checkout and in
/// the package. A link to a file that is not in the package becomes plain text.
pub(super) fn with_links_to(targets: &[(String, String)], source: &str, target: &str, page: &str) -> String {
    let mut result = String::new();
    let mut rest = page;
    while let Some((before, text, link, after)) = next_link(rest) {
        result += before;
        let (path, anchor) = link.split_at(link.find('#').unwrap_or(link.len()));
        let found = targets.iter().find(|(known, _)| *known == joined(source, path));
        let is_elsewhere = path.is_empty() || path.contains("://");
        result += &match found {
            _ if is_elsewhere => format!("[{text}]({link})"),
            Some((_, installed)) => format!("[{text}]({}{anchor})", relative(target, installed)),
            None => text.to_owned(),
        };
        rest = after;
    }
    result + rest
}

/// Returns the targets of all links of a page.
#[cfg(test)]
pub(super) fn targets_of(page: &str) -> Vec<&str> {
    let (mut targets, mut rest) = (Vec::new(), page);
    while let Some((_, _, link, after)) = next_link(rest) {
        targets.push(link);
        rest = after;
    }
    targets
}

/// Returns the text before the first link, the text and the target of the link, and the text after the link.
fn next_link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let mut from = 0;
    loop {
        let middle = from + text[from..].find("](")?;
        from = middle + 2;
        let end = middle + text[middle..].find(')')?;
        let Some(start) = text[..middle].rfind('[') else { continue };
        let link = &text[middle + 2..end];
        // Code of an example may look like a link.
        if link.contains(char::is_whitespace)
            || text[start..middle].contains('`') && text[start..middle].matches('`').count() % 2 == 1
        {
            continue;
        }
        return Some((&text[..start], &text[start + 1..middle], link, &text[end + 1..]));
    }
}

/// Returns the path that a link of a page leads to.
pub(super) fn joined(page: &str, link: &str) -> String {
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
