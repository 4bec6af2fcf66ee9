//! Texts and their trees.

use crate::render::tree;

#[test]
fn scalars_keep_their_text_and_style() {
    for (text, expected) in [
        ("a: 0644", "{a: 0644}"),
        ("a: 5.10", "{a: 5.10}"),
        ("a: yes", "{a: yes}"),
        ("a: 1:30", "{a: 1:30}"),
        ("a: ~", "{a: ~}"),
        ("a:", "{a: _}"),
        ("a: http://x#y", "{a: http://x#y}"),
        ("a: b c  # d", "{a: b c}"),
        ("a: -b", "{a: -b}"),
        ("a: b\n  c\n\n  d", "{a: b c\nd}"),
        ("a: '0644'", r#"{a: "0644"}"#),
        ("a: 'it''s'", r#"{a: "it's"}"#),
        (r#"a: "x\ty\u00e4\"\\""#, r#"{a: "x\tyä\"\\"}"#),
        ("a: \"x\n  y\"", r#"{a: "x y"}"#),
        (r#"a: "\x00\e""#, r#"{a: "\0\u{1b}"}"#),
        ("a: |\n  x\n   y\n\nb: c", r#"{a: |"x\n y\n", b: c}"#),
        ("a: |-\n  x\n", r#"{a: |"x"}"#),
        ("a: |+\n  x\n\n", r#"{a: |"x\n\n"}"#),
        ("a: |2\n    x\n", r#"{a: |"  x\n"}"#),
        ("a: >\n  x\n  y\n", r#"{a: |"x y\n"}"#),
        ("a: |\nb: c", r#"{a: |"", b: c}"#),
        ("a: |\n  x\n    ", r#"{a: |"x\n  "}"#),
        ("a: |\n  x\n    \n", r#"{a: |"x\n  \n"}"#),
        ("a: |\n  x\n    \n  ", r#"{a: |"x\n  \n"}"#),
        ("a: |\n  x\n  ", r#"{a: |"x\n"}"#),
        ("a: |\n  x\n ", r#"{a: |"x\n"}"#),
        ("a: |-\n  x\n    ", r#"{a: |"x\n  "}"#),
        ("a: |+\n  x\n    ", r#"{a: |"x\n  "}"#),
        ("a: |2\n    x\n   ", r#"{a: |"  x\n "}"#),
        ("a: >\n  x\n    ", r#"{a: |"x\n  "}"#),
        ("a: |\n\n    ", r#"{a: |""}"#),
        ("- |\n  x\n- |\n  y\n   ", r#"[|"x\n", |"y\n "]"#),
        ("a: x {{ b }}", "{a: x {{ b }}}"),
        ("a: ${ b }", "{a: ${ b }}"),
        ("just text", "just text"),
        ("''", r#""""#),
    ] {
        assert_eq!(tree(text), expected, "{text:?}");
    }
}

#[test]
fn lists_and_maps_nest_in_every_style() {
    for (text, expected) in [
        ("[]", "[]"),
        ("{}", "{}"),
        ("- a\n- b", "[a, b]"),
        ("-\n- b\n-", "[_, b, _]"),
        ("- - a\n  - b\n- c", "[[a, b], c]"),
        ("a:\n- b\n- c\nd: e", "{a: [b, c], d: e}"),
        ("a:\n  - b: c\n    d: e\n  - f", "{a: [{b: c, d: e}, f]}"),
        ("a: [b, c,]", "{a: [b, c]}"),
        ("a: {b: c, d, e: }", "{a: {b: c, d: _, e: _}}"),
        ("[a: b, {c: d}]", "[{a: b}, {c: d}]"),
        ("{\"a\":1,'b':2}", "{a: 1, b: 2}"),
        ("a: [\n  1,\n  2\n]", "{a: [1, 2]}"),
        ("? a\n: b\n? c", "{a: b, c: _}"),
        ("1: a\ntrue: b\nnull: c", "{1: a, true: b, null: c}"),
        ("'<<': a", "{<<: a}"),
        ("a:\n  b:\n    c: d\n  e: f", "{a: {b: {c: d}, e: f}}"),
    ] {
        assert_eq!(tree(text), expected, "{text:?}");
    }
}

#[test]
fn a_text_without_a_value_has_no_document() {
    for text in [
        "",
        "\n",
        "\u{feff}",
        "# nothing\n",
        "---\n",
        "---\n...\n",
        "~",
        "null",
        "--- # x\n",
        "!!null",
        "%YAML 1.2\n---\n",
    ] {
        assert_eq!(tree(text), "-", "{text:?}");
    }
}

#[test]
fn document_markers_are_no_content() {
    for text in [
        "a: b",
        "a: b\n",
        "a: b\r\n",
        "\u{feff}a: b",
        "---\na: b\n",
        "a: b\n...\n",
        "%YAML 1.2\n---\na: b\n...\n# end\n",
        "%TAG ! tag:x\n---\na: b",
        "# before\na: b # behind\n# after",
        "\n\na: b\n\n",
    ] {
        assert_eq!(tree(text), "{a: b}", "{text:?}");
    }
}

#[test]
fn core_tags_set_the_type() {
    for (text, expected) in [
        ("!!str 5", r#""5""#),
        ("!!str", r#""""#),
        ("!!str '5'", r#""5""#),
        ("!!str |\n  5\n", r#"|"5\n""#),
        ("!!int 5", "5"),
        ("!!int \"5\"", "5"),
        ("!!float '1.5'", "1.5"),
        ("!!float 5", "5"),
        ("!!bool 'true'", "true"),
        ("a: !!null ''", "{a: _}"),
        ("a: !!null", "{a: _}"),
        ("!!seq [a]", "[a]"),
        ("a: !!map\n  b: c", "{a: {b: c}}"),
        ("!<tag:yaml.org,2002:str> 5", r#""5""#),
        ("!!str a: b", "{a: b}"),
        ("!!str <<: b", "{<<: b}"),
    ] {
        assert_eq!(tree(text), expected, "{text:?}");
    }
}

#[test]
fn aliases_are_expanded() {
    for (text, expected) in [
        ("a: &x 1\nb: *x", "{a: 1, b: 1}"),
        ("a: &x\nb: *x", "{a: _, b: _}"),
        ("&x a: *x", "{a: a}"),
        ("a: &x {b: [c, d]}\ne: [*x, *x]", "{a: {b: [c, d]}, e: [{b: [c, d]}, {b: [c, d]}]}"),
        ("a: &x [&y b, *y]\nc: *x\nd: *y", "{a: [b, b], c: [b, b], d: b}"),
        ("- &x a\n- *x\n- &x b\n- *x", "[a, a, b, b]"),
        ("- &x\n  a: |\n    t\n- *x", r#"[{a: |"t\n"}, {a: |"t\n"}]"#),
        ("- &x a\n- *x : b", "[a, {a: b}]"),
        ("- &x \"e\\tf\"\n- *x", r#"["e\tf", "e\tf"]"#),
        ("&all\n- &x [a]\n- &y [*x, *x]\n- *y", "[[a], [[a], [a]], [[a], [a]]]"),
    ] {
        assert_eq!(tree(text), expected, "{text:?}");
    }
}
