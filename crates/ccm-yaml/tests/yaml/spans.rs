//! Spans of nodes, shown as their text.

use ccm_model::{Node, NodeValue, SourceId};
use ccm_yaml::{Limits, parse};

use crate::render::{read, written};

fn spans(text: &str) -> Vec<&str> {
    let node = read(text).expect("the text is right").expect("it holds a value");
    written(&node, text)
}

#[test]
fn spans_cover_the_text() {
    for (text, expected) in [
        ("a: ä b", &["a: ä b", "a", "ä b"][..]),
        ("ö: \"ä\"\nb: 'ü'", &["ö: \"ä\"\nb: 'ü'", "ö", "\"ä\"", "b", "'ü'"]),
        ("\u{feff}a: b", &["a: b", "a", "b"]),
        ("\u{feff}# ä\nä: |\n  ü\n  b\nc: d", &["ä: |\n  ü\n  b\nc: d", "ä", "|\n  ü\n  b", "c", "d"]),
        ("a: b\n  c\n  d\n\n", &["a: b\n  c\n  d", "a", "b\n  c\n  d"]),
        ("a: \"x\n\n  y\" # z\n", &["a: \"x\n\n  y\"", "a", "\"x\n\n  y\""]),
        ("\"a b\": c", &["\"a b\": c", "\"a b\"", "c"]),
        ("%YAML 1.2\n--- # c\na: b\n...\n", &["a: b", "a", "b"]),
    ] {
        assert_eq!(spans(text), expected, "{text:?}");
    }
}

#[test]
fn the_span_of_a_block_begins_at_its_header() {
    for (text, expected) in [
        ("a: |\n  x\n  y\n\n\nb: c", "|\n  x\n  y"),
        ("a: >-\n  x\n\n  y\n", ">-\n  x\n\n  y"),
        ("a: |+\n  x\n\n", "|+\n  x"),
        ("a: |2- # c | d\n    x  \n   \nb: c", "|2- # c | d\n    x  "),
        ("a: |\n\n\n  x\n# c\nb: c", "|\n\n\n  x"),
        ("a: |", "|"),
        ("a: |- # c\n", "|-"),
        ("a: | # c\nb: c", "|"),
        ("a: |+\n\n\nb: c", "|+"),
        ("a: # | c\n  # > c\n  |\n  x", "|\n  x"),
        ("a: &x # | c\n  |\n  x", "|\n  x"),
        ("a: !!str &x |\n  x", "|\n  x"),
        ("a: &x !!str >\n  x", ">\n  x"),
        ("a: |\r\n  x\r\n  y\r\n\r\nb: c", "|\r\n  x\r\n  y"),
    ] {
        assert_eq!(spans(text).get(2), Some(&expected), "{text:?}");
    }
    for (text, expected) in [
        ("|\n x\n", "|\n x"),
        ("--- |\n x\n...\n", "|\n x"),
        ("--- # | c\n# | c\n>-\n x\n y\n", ">-\n x\n y"),
        ("\u{feff}|\n x", "|\n x"),
    ] {
        assert_eq!(spans(text), [expected], "{text:?}");
    }
}

#[test]
fn lists_and_maps_reach_from_their_first_to_their_last_byte() {
    for (text, expected) in [
        ("- a\n- b\n\n\n", &["- a\n- b", "a", "b"][..]),
        (
            "a:\n  - b\n  - c\n\n# d\ne: f\n",
            &["a:\n  - b\n  - c\n\n# d\ne: f", "a", "- b\n  - c", "b", "c", "e", "f"],
        ),
        ("a:\n- b\n\nc: d", &["a:\n- b\n\nc: d", "a", "- b", "b", "c", "d"]),
        ("a: # - x\n# - y\n- - b\n", &["a: # - x\n# - y\n- - b", "a", "- - b", "- b", "b"]),
        ("a:\n- |\n  x\n", &["a:\n- |\n  x", "a", "- |\n  x", "|\n  x"]),
        ("a: &x\n- b", &["a: &x\n- b", "a", "- b", "b"]),
        ("a:\r\n  b:\r\n    - c\r\n\r\n", &["a:\r\n  b:\r\n    - c", "a", "b:\r\n    - c", "b", "- c", "c"]),
        ("[a, [b ] ] # c", &["[a, [b ] ]", "a", "[b ]", "b"]),
        ("{a: {b: c} }\n", &["{a: {b: c} }", "a", "{b: c}", "b", "c"]),
        ("[a: b , c]", &["[a: b , c]", "a: b", "a", "b", "c"]),
        ("? a\n: b\n", &["? a\n: b", "a", "b"]),
        ("&x a: b", &["&x a: b", "a", "b"]),
        ("- &x\n  a: b\n", &["- &x\n  a: b", "a: b", "a", "b"]),
    ] {
        assert_eq!(spans(text), expected, "{text:?}");
    }
}

#[test]
fn a_missing_value_follows_its_colon_or_dash() {
    for (text, place) in [
        ("a:", "a:|"),
        ("a: \nb: c", "a:| \nb: c"),
        ("a : # d\nb: c", "a :| # d\nb: c"),
        ("{a: }", "{a:| }"),
        ("{a}", "{a|}"),
        ("? a\n", "? a|\n"),
        ("? a\n:\n", "? a\n:|\n"),
        ("- # c\n- b", "-| # c\n- b"),
        ("-\n", "-|\n"),
        ("a:\n  -\n", "a:\n  -|\n"),
        ("a: &x\nb: c", "a: &x|\nb: c"),
        ("a: !!str\nb: c", "a: !!str|\nb: c"),
    ] {
        let mut node = read(text).expect("right").expect("a value");
        while let Some(inner) = match &node.value {
            NodeValue::List(list) => list.first().cloned(),
            NodeValue::Map(map) => map.entries().first().map(|entry| entry.value.clone()),
            NodeValue::Scalar(_) => None,
        } {
            node = inner;
        }
        assert!(node.span.range().is_empty(), "{text:?}");
        let at = node.span.range().start;
        assert_eq!(format!("{}|{}", &text[..at], &text[at..]), place, "{text:?}");
        let whole = spans(text)[0];
        assert_eq!(whole.trim_end(), whole, "{text:?}");
    }
}

#[test]
fn nodes_of_an_alias_have_the_spans_of_the_anchor() {
    let text = "a: &x [1, {b: c}]\nd: *x\n";
    let expected = ["[1, {b: c}]", "1", "{b: c}", "b", "c"];
    let all = spans(text);
    assert_eq!(all[0], text.trim_end());
    assert_eq!(all[1..7], [&["a"][..], &expected].concat());
    assert_eq!(all[7..], [&["d"][..], &expected].concat());
}

#[test]
fn a_collection_may_end_with_an_alias() {
    let text = "a: &x 1\nb:\n  - *x\nc: [2]\n";
    assert_eq!(spans(text)[4], "- *x");
    assert_eq!(spans("- &x [1]\n- - *x\n")[3], "- *x");
}

#[test]
fn a_key_from_an_alias_has_the_span_of_the_alias() {
    let node: Node = read("- &x a\n- *x : b").expect("right").expect("a value");
    let map = node.as_list().and_then(|list| list[1].as_map()).expect("a map");
    assert_eq!(map.entries()[0].key.span.range(), 9..11);
}

#[test]
fn spans_hold_their_source() {
    let source = SourceId(7);
    let node = parse(source, "a: b", &Limits::default()).expect("right").expect("a value");
    assert_eq!(node.span.source, source);
    let errors = parse(source, "a: @", &Limits::default()).expect_err("a error");
    assert_eq!(errors[0].span().map(|span| span.source), Some(source));
}
