//! Reader of pages that accepts what ccm writes and nothing else.

/// Tag of a page.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
}

/// Reads all tags of a page, and checks that each text and each value is escaped, and that each tag is closed.
pub(crate) fn tags(page: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").unwrap_or(page);
    while let Some(start) = rest.find('<') {
        // The style has its own digest.
        let is_style = open.last().is_some_and(|name| name == "style");
        if !is_style {
            assert_is_escaped(&rest[..start]);
        }
        let (tag, after) = rest[start + 1..].split_once('>').expect("an end of a tag");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closes another tag");
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let found = read_tag(tag);
        if !is_empty && !["meta", "br"].contains(&&*found.name) {
            open.push(found.name.clone());
        }
        tags.push(found);
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    tags
}

fn read_tag(tag: &str) -> Tag {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "<{tag}>");
    let mut attributes = Vec::new();
    while !rest.trim_start().is_empty() {
        rest = rest.trim_start();
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let (attribute, after) = rest.split_at(end);
        assert!(attribute.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "<{tag}>");
        let (value, after) = match after.strip_prefix("=\"") {
            Some(after) => after.split_once('"').expect("an end of a value"),
            None => ("", after),
        };
        assert_is_escaped(value);
        attributes.push((attribute.to_owned(), value.to_owned()));
        rest = after;
    }
    Tag { name: name.to_owned(), attributes }
}

fn assert_is_escaped(text: &str) {
    let is_wrong = |character: char| {
        matches!(character, '>' | '"') || character != '\n' && ccm_model::steers_terminal(character)
    };
    assert!(!text.contains(is_wrong), "{text:?}");
    for after in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        assert!(known.iter().any(|entity| after.starts_with(entity)), "{text:?}");
    }
}
