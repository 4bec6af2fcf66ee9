//! Valid YAML that ccm refuses.

use ccm_model::SourceId;
use ccm_yaml::{Limits, parse, parse_with_duplicates};

use crate::render::{check, check_same, show};

#[test]
fn expressions_need_quotes() {
    check_same(
        r#"syntax | "{{ x }}""#,
        &[
            ("a: {{ x }}", r#"1:4 "{{ x }}""#),
            ("- {{ x }}", r#"1:3 "{{ x }}""#),
            ("{{ x }}", r#"1:1 "{{ x }}""#),
            ("{{ x }}: b", r#"1:1 "{{ x }}""#),
            ("a: {b: {{ x }}}", r#"1:8 "{{ x }}""#),
        ],
    );
    check(&[
        ("a: {{ x }}/etc", &[r#"1:4 "{{ x }}" syntax | "{{ x }}/etc""#]),
        (r#"a: {{ x["b"] }}"#, &[r#"1:4 "{{ x[\"b\"] }}" syntax | '{{ x["b"] }}'"#]),
        ("a: {{ lookup('b', 'c') }}", &[r#"1:4 "{{ lookup('b', 'c') }}" syntax | "{{ lookup('b', 'c') }}""#]),
        (
            "a: [{{ x }}, {{ y }}]",
            &[r#"1:5 "{{ x }}" syntax | "{{ x }}""#, r#"1:14 "{{ y }}" syntax | "{{ y }}""#],
        ),
        ("a: {{ x | default(1) }} # c", &[r#"1:4 "{{ x | default(1) }}" syntax | "{{ x | default(1) }}""#]),
        ("a: {{ x\n  }}", &[r#"1:4 "{{ x" syntax | …"#]),
        ("a: [foo {{ b }}]", &[r#"1:9 "{{" syntax (1:4) | : , , "#]),
        ("a: [${ x }]", &[r#"1:6 "{" syntax (1:4) | : , , "#]),
        (r#"a: {{ "x" }} {{ y }}"#, &[r#"1:4 "{{ \"x\" }}" syntax | '{{ "x" }} {{ y }}'"#]),
    ]);
}

#[test]
fn keys_are_unique_scalars() {
    check(&[
        ("a: 1\nb: 2\na: 3\na: 4", &[r#"3:1 "a" duplicate-key (1:1)"#, r#"4:1 "a" duplicate-key (1:1)"#]),
        ("{a: 1, a: 2}", &[r#"1:8 "a" duplicate-key (1:2)"#]),
        ("1: a\n'1': b", &[r#"2:1 "'1'" duplicate-key (1:1)"#]),
        (
            "a: {b: 1, b: {c: 1, c: 2}, b: 2}\nd: [",
            &[
                r#"1:11 "b" duplicate-key (1:5)"#,
                r#"1:21 "c" duplicate-key (1:15)"#,
                r#"1:28 "b" duplicate-key (1:5)"#,
                r#"2:4 "[" syntax"#,
            ],
        ),
        ("? [a]\n: b", &[r#"1:3 "[a]" wrong-type | …"#]),
        ("[a]: b", &[r#"1:1 "[a]" wrong-type | …"#]),
        ("{a: b}: c", &[r#"1:1 "{a: b}" wrong-type | …"#]),
        ("? a: b\n: c", &[r#"1:3 "a: b" wrong-type | …"#]),
        ("<<: *x\na: b", &[r#"1:1 "<<" unsupported | defaults"#, r#"1:5 "*x" unknown-reference | &x, "*x""#]),
        (
            "a: &x {b: c}\nd:\n  <<: *x\n  <<: *x",
            &[r#"3:3 "<<" unsupported | defaults"#, r#"4:3 "<<" unsupported | defaults"#],
        ),
        ("- &x [a]\n- *x : b", &[r#"2:3 "*x" wrong-type | …"#]),
        ("- &x a\n- *x : b\n  a: c", &[r#"3:3 "a" duplicate-key (2:3)"#]),
        ("a: &x [{b: 1, b: 2}]\nc: *x\nd: *x", &[r#"1:15 "b" duplicate-key (1:9)"#]),
    ]);
}

#[test]
fn unsupported_tags() {
    check(&[
        ("a: !vault x", &[r#"1:4 "!vault" unsupported | !"#]),
        ("a: !vault |\n  x\nb: c", &[r#"1:4 "!vault" unsupported | !"#]),
        ("a: !reference [b, c]", &[r#"1:4 "!reference" unsupported | !"#]),
        ("a: !ruby/object:Foo\n  b: c", &[r#"1:4 "!ruby/object:Foo" unsupported | !"#]),
        ("a: !x y: z", &[r#"1:4 "!x" unsupported | !"#]),
        ("a: !!binary x", &[r#"1:4 "!!binary" unsupported | !"#]),
        ("a: !e!x b", &[r#"1:4 "!e!x" unsupported | !"#]),
        ("a: !<x", &[r#"1:4 "!<x" unsupported | !"#]),
        ("a: ! b", &[r#"1:4 "!" unsupported | !"#]),
        ("!x a: b", &[r#"1:1 "!x" unsupported | !"#]),
        ("a: !!int b", &[r#"1:4 "!!int" wrong-type"#]),
        ("a: !!int '5x'", &[r#"1:4 "!!int" wrong-type"#]),
        ("a: !!bool yes", &[r#"1:4 "!!bool" wrong-type"#]),
        ("a: !!null x", &[r#"1:4 "!!null" wrong-type"#]),
        ("a: !!seq {}", &[r#"1:4 "!!seq" wrong-type"#]),
        ("a: !!map [b]", &[r#"1:4 "!!map" wrong-type"#]),
        ("a: !!str [b]", &[r#"1:4 "!!str" wrong-type"#]),
        ("a: !!map b", &[r#"1:4 "!!map" wrong-type"#]),
    ]);
}

#[test]
fn aliases_without_an_anchor() {
    check(&[
        ("a: *x", &[r#"1:4 "*x" unknown-reference | &x, "*x""#]),
        ("a: *.txt", &[r#"1:4 "*.txt" unknown-reference | &.txt, "*.txt""#]),
        (
            "a: [*x, *y]",
            &[r#"1:5 "*x" unknown-reference | &x, "*x""#, r#"1:9 "*y" unknown-reference | &y, "*y""#],
        ),
        ("a: *x y", &[r#"1:4 "*x" unknown-reference | &x, "*x y""#]),
        ("- &x [*x]", &[r#"1:7 "*x" cycle"#]),
        ("&x a: &y {b: *y}", &[r#"1:14 "*y" cycle"#]),
        ("a: &x &y z", &[r#"1:7 "&y" syntax | …"#]),
        ("a: *x\nb: &x c", &[r#"1:4 "*x" unknown-reference | &x, "*x""#]),
    ]);
}

#[test]
fn documents_directives_and_control_characters() {
    check_same(
        "unsupported | ---",
        &[
            ("a: 1\n---\nb: 2", r#"2:1 "---""#),
            ("a: 1\n...\nb: 2", r#"3:1 "b:""#),
            ("---\n---\n", r#"2:1 "---""#),
            ("a: 1\n---\n", r#"2:1 "---""#),
        ],
    );
    check_same(
        r"syntax | \x00",
        &[
            ("a: \0", r#"1:4 "\0""#),
            ("a: x\0y", r#"1:5 "\0""#),
            ("a: 1\n\0", r#"2:1 "\0""#),
            ("&\0 a", r#"1:2 "\0""#),
        ],
    );
    check(&[
        ("a: 1\n... b", &[r#"2:5 "b" syntax"#]),
        ("%YAML 2.0\n--- a", &[r#"1:1 "%YAML" unsupported"#]),
        ("%YAML 1.2\n%YAML 1.2\n--- a", &[r#"2:1 "%YAML" syntax"#]),
        ("a: 1\n%YAML 1.2\n---\nb: 1", &[r#"2:1 "%YAML 1.2" syntax | …"#]),
        ("a: \"x\u{1}\"", &[r#"1:6 "\u{1}" syntax | \x01"#]),
        ("a: |\n  x\u{1b}y", &[r#"2:4 "\u{1b}" syntax | \x1b"#]),
        ("# \u{8}", &[r#"1:3 "\u{8}" syntax | \x08"#]),
        ("a: \u{7f}", &[r#"1:4 "\u{7f}" syntax | \x7f"#]),
        ("a: \u{fffe}", &[r#"1:4 "\u{fffe}" syntax | \ufffe"#]),
    ]);
}

#[test]
fn duplicate_keys_leave_a_tree_of_all_values() {
    let limits = Limits::default();
    for (text, expected, count) in [
        ("a: 1\na: 2\nb: 3", "{a: 1, b: 3}", 1),
        ("a: [1]\nb: 2\na: [3]\na: 4", "{a: [1, 3], b: 2}", 2),
        ("a: {b: 1, c: {d: 1}}\na: {b: 2, c: {e: 3}, f: 4}", "{a: {b: 1, c: {d: 1, e: 3}, f: 4}}", 1),
        ("x: &x {a: [1], a: [2]}\ny: *x", "{x: {a: [1, 2]}, y: {a: [1, 2]}}", 1),
        ("a: 1\nb: 2", "{a: 1, b: 2}", 0),
    ] {
        let (tree, duplicates) = parse_with_duplicates(SourceId(0), text, &limits).expect("a tree");
        assert_eq!((&*show(&tree.expect("a map")), duplicates.len()), (expected, count), "{text}");
        assert_eq!(
            parse(SourceId(0), text, &limits).map_err(|errors| errors.len()).err(),
            (count > 0).then_some(count)
        );
    }
    // Other errors leave no tree, and neither do more errors than are kept.
    for text in ["a: 1\na: 2\nb: !no 1".to_owned(), "a: 1\n".repeat(2_000)] {
        let errors = parse_with_duplicates(SourceId(0), &text, &limits).expect_err("no tree");
        assert!(errors.len() > 1, "{errors:?}");
    }
}
