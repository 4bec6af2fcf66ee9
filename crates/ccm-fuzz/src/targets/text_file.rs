//! Lines, blocks and settings of text files: what a change and its undoing leave.

use ccm_model::{
    Node, NodeEntry, NodeKey, NodeMap, NodeValue, Properties, Resource, ResourceId, Scalar, ScalarStyle,
    Span, Spanned,
};
use ccm_resources::edited_text;

pub(super) const WORDS: &[&str] = &[
    "[s]\n",
    "[s \"t\"]\n",
    "k = v\n",
    "k=1\r\n",
    "k: v\n",
    "k\n",
    "  deeper\n",
    "\\\n",
    "# k = 2\n",
    "; why\n",
    "\"a # b\"",
    "\n\n",
    "\t",
    "# BEGIN ccm it\n",
    "# END ccm it\n",
    "\u{feff}",
];

const FORMATS: [&str; 6] = ["", "ini", "git", "systemd", "mysql", "samba"];

pub(super) fn run(input: &[u8]) {
    // Half a line end becomes a whole one where a line is added.
    let half = input.iter().rev().take_while(|byte| **byte == b'\r').count();
    let input = &input[..input.len() - half];
    undone(&[("line", "the line")], "line", input);
    undone(&[("content", "a\nb\n")], "block", input);
    for format in FORMATS {
        let place = [("section", "s"), ("format", format)];
        undone(&[&place[..], &[("key", "new-key"), ("value", "v")]].concat(), "setting", input);
        changed_back(&place, input);
    }
}

/// Adds a part and removes it again, which gives the old bytes.
fn undone(properties: &[(&str, &str)], kind: &str, input: &[u8]) {
    let present = part(kind, properties, false);
    let absent: Vec<_> =
        properties.iter().copied().filter(|(name, _)| !matches!(*name, "value" | "content")).collect();
    let absent = part(kind, &absent, true);
    // What is there already would not be put back.
    if edited_text(&absent, input) != Ok(None) {
        return;
    }
    let Some(added) = edited(&present, input) else { return };
    let removed =
        edited(&absent, &added).unwrap_or_else(|| panic!("{kind} {properties:?}: nothing to remove"));
    // The header of a new section stays, and so does the blank line above it.
    let rest = removed.strip_prefix(input).unwrap_or_else(|| {
        assert_eq!(
            removed.escape_ascii().to_string(),
            input.escape_ascii().to_string(),
            "{kind} {properties:?}"
        );
        &[]
    });
    let is_header = rest.trim_ascii() == b"[s]" && kind == "setting";
    assert!(rest.is_empty() || is_header, "{kind} {properties:?}: {}", rest.escape_ascii());
}

/// Changes a value that is there and changes it back, which gives the old bytes if they were as ccm writes them.
fn changed_back(place: &[(&str, &str)], input: &[u8]) {
    let setting = |value| part("setting", &[place, &[("key", "k"), ("value", value)]].concat(), false);
    for value in ["v", "1"] {
        if edited_text(&setting(value), input) != Ok(None) {
            continue;
        }
        let Some(changed) = edited(&setting("other"), input) else { continue };
        let back = edited(&setting(value), &changed).unwrap_or_else(|| panic!("{place:?}: it stayed"));
        let count = |content: &[u8]| content.split(|byte| *byte == b'\n').count();
        // A value on several lines, or in quotes, is written on one without them.
        let is_plain = !input.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'\\'));
        if is_plain && count(&changed) == count(input) {
            assert_eq!(back.escape_ascii().to_string(), input.escape_ascii().to_string(), "{place:?}");
        }
    }
}

/// Applies a part, after which a second run changes nothing; `None` if there is nothing to change, or the file is refused.
fn edited(part: &Resource, content: &[u8]) -> Option<Vec<u8>> {
    let new = edited_text(part, content).ok()??;
    assert_ne!(new, content, "a change that changes nothing");
    assert_eq!(edited_text(part, &new), Ok(None), "a second run: {}", new.escape_ascii());
    Some(new)
}

fn part(kind: &str, properties: &[(&str, &str)], is_absent: bool) -> Resource {
    let node = |text: &str| Node {
        value: NodeValue::Scalar(Scalar { text: text.into(), style: ScalarStyle::Quoted }),
        span: Span::default(),
    };
    let entry = |(name, value): &(&str, &str)| NodeEntry {
        key: NodeKey { text: (*name).into(), span: Span::default() },
        value: node(value),
    };
    let given =
        [("path", "/f")].into_iter().chain(properties.iter().copied().filter(|(_, value)| !value.is_empty()));
    let given: Vec<_> = given.collect();
    Resource {
        id: ResourceId::new(kind, "it"),
        ensure: is_absent.then(|| Spanned { value: "absent".to_owned(), span: Span::default() }),
        properties: Properties::new(NodeMap::new(given.iter().map(entry).collect()), None),
        ..Resource::default()
    }
}
