//! Valid YAML that ccm refuses: position, message and hint.

use ccm_model::SourceId;
use ccm_yaml::{Limits, parse, parse_with_duplicates};

use crate::render::{check, check_same, show};

#[test]
fn expressions_need_quotes() {
    check_same(
        r#"an expression without quotes is a map to YAML | hint: quote it: `"{{ x }}"`"#,
        &[
            ("a: {{ x }}", r#"1:4 "{{ x }}""#),
            ("- {{ x }}", r#"1:3 "{{ x }}""#),
            ("{{ x }}", r#"1:1 "{{ x }}""#),
            ("{{ x }}: b", r#"1:1 "{{ x }}""#),
            ("a: {b: {{ x }}}", r#"1:8 "{{ x }}""#),
        ],
    );
    check(&[
        (
            "a: {{ x }}/etc",
            &[
                r#"1:4 "{{ x }}": an expression without quotes is a map to YAML | hint: quote it: `"{{ x }}/etc"`"#,
            ],
        ),
        (
            r#"a: {{ x["b"] }}"#,
            &[
                r#"1:4 "{{ x[\"b\"] }}": an expression without quotes is a map to YAML | hint: quote it: `'{{ x["b"] }}'`"#,
            ],
        ),
        (
            "a: {{ lookup('b', 'c') }}",
            &[
                r#"1:4 "{{ lookup('b', 'c') }}": an expression without quotes is a map to YAML | hint: quote it: `"{{ lookup('b', 'c') }}"`"#,
            ],
        ),
        (
            "a: [{{ x }}, {{ y }}]",
            &[
                r#"1:5 "{{ x }}": an expression without quotes is a map to YAML | hint: quote it: `"{{ x }}"`"#,
                r#"1:14 "{{ y }}": an expression without quotes is a map to YAML | hint: quote it: `"{{ y }}"`"#,
            ],
        ),
        (
            "a: {{ x | default(1) }} # c",
            &[
                r#"1:4 "{{ x | default(1) }}": an expression without quotes is a map to YAML | hint: quote it: `"{{ x | default(1) }}"`"#,
            ],
        ),
        ("a: {{ x\n  }}", &[r#"1:4 "{{ x": an expression without quotes is a map to YAML | hint: quote it"#]),
        (
            "a: [foo {{ b }}]",
            &[
                r#"1:9 "{{": expected `,` or `]` | 1:4: this `[` is open | hint: quote text that holds brackets, `: ` or `, `"#,
            ],
        ),
        (
            "a: [${ x }]",
            &[
                r#"1:6 "{": expected `,` or `]` | 1:4: this `[` is open | hint: quote text that holds brackets, `: ` or `, `"#,
            ],
        ),
        (
            r#"a: {{ "x" }} {{ y }}"#,
            &[
                r#"1:4 "{{ \"x\" }}": an expression without quotes is a map to YAML | hint: quote it: `'{{ "x" }} {{ y }}'`"#,
            ],
        ),
    ]);
}

#[test]
fn keys_are_unique_scalars() {
    check(&[
        (
            "a: 1\nb: 2\na: 3\na: 4",
            &[
                r#"3:1 "a": the key `a` is given twice: given again here | 1:1: first given here"#,
                r#"4:1 "a": the key `a` is given twice: given again here | 1:1: first given here"#,
            ],
        ),
        (
            "{a: 1, a: 2}",
            &[r#"1:8 "a": the key `a` is given twice: given again here | 1:2: first given here"#],
        ),
        (
            "1: a\n'1': b",
            &[r#"2:1 "'1'": the key `1` is given twice: given again here | 1:1: first given here"#],
        ),
        (
            "a: {b: 1, b: {c: 1, c: 2}, b: 2}\nd: [",
            &[
                r#"1:11 "b": the key `b` is given twice: given again here | 1:5: first given here"#,
                r#"1:21 "c": the key `c` is given twice: given again here | 1:15: first given here"#,
                r#"1:28 "b": the key `b` is given twice: given again here | 1:5: first given here"#,
                r#"2:4 "[": unclosed bracket: this `[` is never closed"#,
            ],
        ),
        (
            "? [a]\n: b",
            &[
                r#"1:3 "[a]": a list can't be a key | hint: quote it if it is meant as text: a key is a scalar"#,
            ],
        ),
        (
            "[a]: b",
            &[
                r#"1:1 "[a]": a list can't be a key | hint: quote it if it is meant as text: a key is a scalar"#,
            ],
        ),
        (
            "{a: b}: c",
            &[
                r#"1:1 "{a: b}": a map can't be a key | hint: quote it if it is meant as text: a key is a scalar"#,
            ],
        ),
        (
            "? a: b\n: c",
            &[
                r#"1:3 "a: b": a map can't be a key | hint: quote it if it is meant as text: a key is a scalar"#,
            ],
        ),
        (
            "<<: *x\na: b",
            &[
                r#"1:1 "<<": merge keys (`<<`) are not supported | hint: use `defaults` for what a list of resources shares"#,
                r#"1:5 "*x": unknown alias `*x` | hint: define the anchor `&x` above or, if this is text, quote it: `"*x"`"#,
            ],
        ),
        (
            "a: &x {b: c}\nd:\n  <<: *x\n  <<: *x",
            &[
                r#"3:3 "<<": merge keys (`<<`) are not supported | hint: use `defaults` for what a list of resources shares"#,
                r#"4:3 "<<": merge keys (`<<`) are not supported | hint: use `defaults` for what a list of resources shares"#,
            ],
        ),
        (
            "- &x [a]\n- *x : b",
            &[
                r#"2:3 "*x": a list or map can't be a key | hint: quote it if it is meant as text: a key is a scalar"#,
            ],
        ),
        (
            "- &x a\n- *x : b\n  a: c",
            &[r#"3:3 "a": the key `a` is given twice: given again here | 2:3: first given here"#],
        ),
        (
            "a: &x [{b: 1, b: 2}]\nc: *x\nd: *x",
            &[r#"1:15 "b": the key `b` is given twice: given again here | 1:9: first given here"#],
        ),
    ]);
}

#[test]
fn unsupported_tags() {
    check(&[
        (
            "a: !vault x",
            &[
                r#"1:4 "!vault": tags such as `!vault` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        (
            "a: !vault |\n  x\nb: c",
            &[
                r#"1:4 "!vault": tags such as `!vault` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        (
            "a: !reference [b, c]",
            &[
                r#"1:4 "!reference": tags such as `!reference` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        (
            "a: !ruby/object:Foo\n  b: c",
            &[
                r#"1:4 "!ruby/object:Foo": tags such as `!ruby/object:Foo` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        (
            "a: !x y: z",
            &[
                r#"1:4 "!x": tags such as `!x` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        (
            "a: !!binary x",
            &[
                r#"1:4 "!!binary": tags such as `!!binary` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        (
            "a: !e!x b",
            &[
                r#"1:4 "!e!x": tags such as `!e!x` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        (
            "a: !<x",
            &[
                r#"1:4 "!<x": tags such as `!<x` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        (
            "a: ! b",
            &[
                r#"1:4 "!": tags such as `!` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        (
            "!x a: b",
            &[
                r#"1:1 "!x": tags such as `!x` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        ("a: !!int b", &[r#"1:4 "!!int": the tag `!!int` does not fit `b`"#]),
        ("a: !!int '5x'", &[r#"1:4 "!!int": the tag `!!int` does not fit `5x`"#]),
        ("a: !!bool yes", &[r#"1:4 "!!bool": the tag `!!bool` does not fit `yes`"#]),
        ("a: !!null x", &[r#"1:4 "!!null": the tag `!!null` does not fit `x`"#]),
        ("a: !!seq {}", &[r#"1:4 "!!seq": the tag `!!seq` does not fit a map"#]),
        ("a: !!map [b]", &[r#"1:4 "!!map": the tag `!!map` does not fit a list"#]),
        ("a: !!str [b]", &[r#"1:4 "!!str": the tag `!!str` does not fit a list"#]),
        ("a: !!map b", &[r#"1:4 "!!map": the tag `!!map` does not fit `b`"#]),
    ]);
}

#[test]
fn aliases_without_an_anchor() {
    check(&[
        (
            "a: *x",
            &[
                r#"1:4 "*x": unknown alias `*x` | hint: define the anchor `&x` above or, if this is text, quote it: `"*x"`"#,
            ],
        ),
        (
            "a: *.txt",
            &[
                r#"1:4 "*.txt": unknown alias `*.txt` | hint: define the anchor `&.txt` above or, if this is text, quote it: `"*.txt"`"#,
            ],
        ),
        (
            "a: [*x, *y]",
            &[
                r#"1:5 "*x": unknown alias `*x` | hint: define the anchor `&x` above or, if this is text, quote it: `"*x"`"#,
                r#"1:9 "*y": unknown alias `*y` | hint: define the anchor `&y` above or, if this is text, quote it: `"*y"`"#,
            ],
        ),
        (
            "a: *x y",
            &[
                r#"1:4 "*x": unknown alias `*x` | hint: define the anchor `&x` above or, if this is text, quote it: `"*x y"`"#,
            ],
        ),
        ("- &x [*x]", &[r#"1:7 "*x": the alias `*x` is inside its own anchor"#]),
        ("&x a: &y {b: *y}", &[r#"1:14 "*y": the alias `*y` is inside its own anchor"#]),
        (
            "a: &x &y z",
            &[
                r#"1:7 "&y": unexpected text after a value | hint: quote the whole value if it is meant as text"#,
            ],
        ),
        (
            "a: *x\nb: &x c",
            &[
                r#"1:4 "*x": unknown alias `*x` | hint: define the anchor `&x` above or, if this is text, quote it: `"*x"`"#,
            ],
        ),
    ]);
}

#[test]
fn documents_directives_and_control_characters() {
    check_same(
        "a second document begins here | hint: remove the `---`, or split the file: only one document is allowed",
        &[
            ("a: 1\n---\nb: 2", r#"2:1 "---""#),
            ("a: 1\n...\nb: 2", r#"3:1 "b:""#),
            ("---\n---\n", r#"2:1 "---""#),
            ("a: 1\n---\n", r#"2:1 "---""#),
        ],
    );
    check_same(
        r"the control character U+0000 is not allowed in YAML | hint: write it as `\x00` in double quotes",
        &[
            ("a: \0", r#"1:4 "\0""#),
            ("a: x\0y", r#"1:5 "\0""#),
            ("a: 1\n\0", r#"2:1 "\0""#),
            ("&\0 a", r#"1:2 "\0""#),
        ],
    );
    check(&[
        ("a: 1\n... b", &[r#"2:5 "b": unexpected text after the end of the document"#]),
        ("%YAML 2.0\n--- a", &[r#"1:1 "%YAML": only YAML 1 is supported"#]),
        ("%YAML 1.2\n%YAML 1.2\n--- a", &[r#"2:1 "%YAML": duplicate version directive"#]),
        (
            "a: 1\n%YAML 1.2\n---\nb: 1",
            &[
                r#"2:1 "%YAML 1.2": a line that begins with `%` is a directive to YAML | hint: quote the text if it is meant as a key or value"#,
            ],
        ),
        (
            "a: \"x\u{1}\"",
            &[
                r#"1:6 "\u{1}": the control character U+0001 is not allowed in YAML | hint: write it as `\x01` in double quotes"#,
            ],
        ),
        (
            "a: |\n  x\u{1b}y",
            &[
                r#"2:4 "\u{1b}": the control character U+001B is not allowed in YAML | hint: write it as `\x1b` in double quotes"#,
            ],
        ),
        (
            "# \u{8}",
            &[
                r#"1:3 "\u{8}": the control character U+0008 is not allowed in YAML | hint: write it as `\x08` in double quotes"#,
            ],
        ),
        (
            "a: \u{7f}",
            &[
                r#"1:4 "\u{7f}": the control character U+007F is not allowed in YAML | hint: write it as `\x7f` in double quotes"#,
            ],
        ),
        (
            "a: \u{fffe}",
            &[
                r#"1:4 "\u{fffe}": the control character U+FFFE is not allowed in YAML | hint: write it as `\ufffe` in double quotes"#,
            ],
        ),
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
