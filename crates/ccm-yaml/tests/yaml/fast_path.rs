//! The fast path finds the same tree as the full parser, and covers ordinary manifests.

use ccm_model::{Node, SourceId};
use ccm_yaml::{Limits, parse_any, parse_fast};
use proptest::prelude::*;

use crate::properties::{MANIFEST, apply, edits};
use crate::random_tree::{config, layouts, random_trees};

const SOURCE: SourceId = SourceId(3);

/// Returns the manifest of other tests without rare syntax.
fn manifest() -> String {
    let rare =
        [("&data ", ""), (", *nothing", ""), ("!!str ", ""), (" &reload", ""), ("*reload", "{timeout: 5s}")];
    rare.into_iter().fold(MANIFEST.to_owned(), |text, (rare, common)| text.replace(rare, common))
}

fn fast(text: &str) -> Option<Node> {
    parse_fast(SOURCE, text, &Limits::default())
}

/// Compares with the full parser; returns `true` if the fast path parsed the text.
fn agrees(text: &str) -> bool {
    let Some(root) = fast(text) else { return false };
    assert_eq!(parse_any(SOURCE, text, &Limits::default()), Ok(Some(root)), "{text:?}");
    true
}

#[test]
fn ordinary_manifest_syntax_takes_the_fast_path() {
    for text in [
        "a: b\n",
        "a: b",
        "# c\n\na: b # c\n\n  # d\nc: d\n",
        "a:\n  b:\n    c: d\n  e: f\ng: h\n",
        "a:\nb: ~\nc: # d\nd:\n",
        "a:\n  b:\nc: d\n",
        "- a\n- b: c\n  d: e\n- - f\n  - g\n-\n  h: i\n",
        "a:\n- b\n- c\nd:\n  - e\n",
        "- a:\n  - b\n  c: d\n",
        "a: 'it''s' # c\nb: \"x\\n\\t\\\"\\\\y\"\n'c d': e\n\"f\": g\n",
        "a: -x\nb: a:b\nc: http://d:80/e#f\nd: a - b\ne: 1.5\nf: a, [b]\n",
        "a: [b, 'c', {d: e, f: [g]}, [], {}] # h\nb: { c: d , e: \"f\" }\nc: [ ]\n",
        "a: [--b, -c, {--d: e, -f: \"g\"}, -1, --h=i j]\nk: {--l: m}\n",
        "a: |\n  b\n    c\n\n  \td\n\nb: |-\n  c\n\n\nc: |+\n  d\n\n\nd: e\n",
        "a:\n  - b: |\n      c\n    d: e\n  - |\n    f\n",
        "a: >\n  b\n  c\nd: >-\n  e\n  f\n\n",
        "a: |\n  b\n# c\nd: e\n",
        "ä: ö\nb: 'ü'\nc: |\n  ß \u{2028} \u{1f600}\n",
        "a: b {{ c }} d\nb: \"{{ c }}\"\n",
    ] {
        assert!(agrees(text), "{text:?}");
    }
}

#[test]
fn a_manifest_takes_the_fast_path() {
    assert!(agrees(&manifest()));
}

#[test]
fn other_syntax_is_left_to_the_full_parser() {
    for text in [
        "",
        "# a\n",
        "a\n",
        "[a]\n",
        " a: b\n",
        "a: b\n---\nc: d\n",
        "a: b\n...\n",
        "\u{feff}a: b\n",
        "a: b\r\n",
        "a:\tb\n",
        "a: b\n\tc: d\n",
        "a: b\n  c\n",
        "a: 'b\n  c'\n",
        "a: b: c\n",
        "a : b\n",
        "a: &b c\n",
        "a: *b\n",
        "a: !!str b\n",
        "? a\n: b\n",
        "<<: a\n",
        "a: {{ b }}\n",
        "a: [b: c]\n",
        "a: [b,\n  c]\n",
        "a: {b}\n",
        "a: {b: }\n",
        "a: {\"b\":c}\n",
        "a: [-, b]\n",
        "a: 'b' c\n",
        "a: 'b'#c\n",
        "a: @b\n",
        "a: b\na: c\n",
        "a: |2\n   b\n",
        "a: |\n\n  b\n",
        "a: |\n  b\n    \n",
        "a: |\n  b\n  \t\n",
        "a: |\n  b",
        "a: |\n  b\n c: d\n",
        "a: |\n  b\n # c\n",
        "a: |\nb: c\n",
        "a: >\n  b\n\n  c\n",
        "a: >\n  b\n    c\n",
        "a: \"\\x41\"\n",
        "a: \u{7}\n",
        "a: \u{85}\n",
        "- a\n  b: c\n",
        "- a\n b\n",
        "-\n- a\n",
        "a:\n    b: c\n  d: e\n",
        "- a: b\n c: d\n",
    ] {
        assert_eq!(fast(text), None, "{text:?}");
    }
    let long = format!("{}: b\n", "a".repeat(1001));
    assert_eq!(fast(&long), None);
}

#[test]
fn limits_equal_those_of_the_full_parser() {
    let deep = |levels: usize| -> String {
        (0..levels).flat_map(|level| [" ".repeat(level), "a:\n".to_owned()]).collect()
    };
    let brackets = |levels: usize| format!("a: {}{}\n", "[".repeat(levels - 1), "]".repeat(levels - 1));
    let limits = Limits { depth: 5, nodes: 100, ..Limits::default() };
    for text in [deep(5), brackets(5)] {
        assert!(parse_fast(SOURCE, &text, &limits).is_some(), "{text:?}");
        assert!(parse_any(SOURCE, &text, &limits).is_ok(), "{text:?}");
    }
    for text in [deep(6), brackets(6)] {
        assert_eq!(parse_fast(SOURCE, &text, &limits), None, "{text:?}");
        assert!(parse_any(SOURCE, &text, &limits).is_err(), "{text:?}");
    }
    let deepest = Limits { depth: 100_000, nodes: 1_000_000, ..Limits::default() };
    for text in [deep(512), brackets(512), "- ".repeat(512) + "a\n"] {
        assert!(parse_fast(SOURCE, &text, &deepest).is_some());
    }
    for text in [deep(513), brackets(513), "- ".repeat(513) + "a\n"] {
        assert!(parse_fast(SOURCE, &text, &deepest).is_none());
    }
    for (count, fits) in [(99, true), (100, false)] {
        let text = "- a\n".repeat(count);
        assert_eq!(parse_fast(SOURCE, &text, &limits).is_some(), fits);
        assert_eq!(parse_any(SOURCE, &text, &limits).is_ok(), fits);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..config() })]

    #[test]
    fn any_text_has_the_tree_of_the_full_parser(
        text in "([ab0ä~]|[ \n]|[ \n]|: |: |\n- |\n|\n  |- |: |:|-|[\\[\\]{},?!&*|>'\"%@`#\\\\.<\t\r]|, |\\{\\{|---\n|\\|\n  |>-\n  ){0,24}"
    ) {
        agrees(&text);
    }

    #[test]
    fn any_lines_have_the_tree_of_the_full_parser(
        lines in prop::collection::vec("( {0,4})(- |- - |)(a|b|'c'|\"d\"|ä e|)(:|: |: \\||: >|: \\|-|: \\|\\+|: >-|)(f|'g'|\\[h, i\\]|\\{j: k\\}|l m|#| #n|)", 0..8)
    ) {
        agrees(&(lines.join("\n") + "\n"));
    }

    #[test]
    fn mutated_manifests_have_the_tree_of_the_full_parser(edits in edits()) {
        agrees(&apply(&edits, &manifest()));
    }

    #[test]
    fn random_trees_equal_those_of_the_full_parser(tree in random_trees(), layout in layouts()) {
        agrees(&layout.write(&tree));
    }
}
