//! Syntax errors: position, marked text, kind, positions of further labels, code in the hints.

use crate::render::{check, check_same};

#[test]
fn tabs_are_reported() {
    check_same(
        "indentation | …",
        &[
            ("a:\n\tb: 2", r#"2:1 "\t""#),
            ("a: 1\n\tb: 2", r#"2:1 "\t""#),
            ("a:\n\t- 2", r#"2:1 "\t""#),
            ("- a\n\t- b", r#"2:1 "\t""#),
            ("\ta: 1\n", r#"1:1 "\t""#),
            ("a:\n \tb: c", r#"2:1 " \t""#),
            ("a:\n  - b: c\n\t  d: e", r#"3:1 "\t  ""#),
            ("a: [\n\t1\n]", r#"2:1 "\t""#),
            ("a: |\n\ty", r#"2:1 "\t""#),
            ("-\t- 1", r#"1:2 "\t""#),
            ("port:\t8081\n\tx: 1", r#"2:1 "\t""#),
            ("a: \"b\n\tc\nd: e", r#"2:1 "\t""#),
        ],
    );
}

#[test]
fn wrong_indentation_is_reported() {
    check_same(
        "indentation | …",
        &[
            ("a:\n  b: 1\n c: 2", r#"3:2 "c: 2""#),
            ("a: \"1\"\n  b: 2", r#"2:3 "b: 2""#),
            (" a: 1\nb: 2", r#"2:1 "b: 2""#),
            ("a:\n  - x\n b: 2", r#"3:2 "b: 2""#),
            ("- a\nb: 1", r#"2:1 "b: 1""#),
            ("- a: 1\n b: 2", r#"2:2 "b: 2""#),
            ("a:\n  b:\n    - c\n   - d", r#"4:4 "- d""#),
            ("a: |\n  x\n y: z", r#"3:2 "y: z""#),
            ("a: >\n   x\n  y\n", r#"3:3 "y""#),
        ],
    );
    check(&[
        ("a: 1\n  b: 2", &[r#"2:3 "b: 2" indentation (1:4) | …"#]),
        ("a: 1\n- b", &[r#"2:1 "-" indentation | -"#]),
        ("- a: 1\n    b: 2", &[r#"2:5 "b: 2" indentation (1:6) | …"#]),
        ("a: |\n    \n  y", &[r#"3:3 "y" indentation | …"#]),
    ]);
}

#[test]
fn superfluous_and_missing_colons() {
    check(&[
        ("a: b: c", &[r#"1:5 ":" syntax (1:4) | "b: c""#]),
        ("- a: b: c", &[r#"1:7 ":" syntax (1:6) | "b: c""#]),
        (r#"a: "b": c"#, &[r#"1:7 ":" syntax (1:4) | '"b": c'"#]),
        (r#"a: ${ x ? "a" : "b" }"#, &[r#"1:15 ":" syntax (1:4) | '${ x ? "a" : "b" }'"#]),
        ("a: echo it's: 'b'", &[r#"1:13 ":" syntax (1:4) | "echo it's: 'b'""#]),
        ("a\nb: 1", &[r#"1:1 "a" syntax (2:1)"#]),
        ("- a\n  b: 1", &[r#"1:3 "a" syntax (2:3)"#]),
        ("a: 1\nb\nc: 2", &[r#"2:1 "b" syntax | key: value"#]),
        ("a: 1\nb:c\nd: 2", &[r#"2:1 "b:c" syntax | :"#]),
        ("a: 1\nhttp://b", &[r#"2:1 "http://b" syntax | key: value"#]),
        ("--- a: b", &[r#"1:6 ":" syntax | …"#]),
        (": x", &[r#"1:1 "" missing"#]),
        ("{: x}", &[r#"1:2 "" missing"#]),
    ]);
}

#[test]
fn quotes_and_escapes() {
    check_same(
        "syntax",
        &[(r#"a: "x"#, r#"1:4 "\"""#), ("a: [\"x\nb: 2", r#"1:5 "\"""#), (r#"a: "\"#, r#"1:4 "\"""#)],
    );
    check(&[
        ("a: \"x\nb: 2", &[r#"1:4 "\"" syntax (2:1)"#]),
        ("a: 'x\nb: 2", &[r#"1:4 "'" syntax (2:1)"#]),
        ("- 'x\n", &[r#"1:3 "'" syntax"#]),
        ("a: 'it's'", &[r#"1:8 "s'" syntax | ''"#]),
        (r#"a: "x" y"#, &[r#"1:8 "y" syntax | '"x" y'"#]),
        ("a: 'x' y", &[r#"1:8 "y" syntax | "'x' y""#]),
        (r#"a: "say "x"""#, &[r#"1:10 "x\"\"" syntax | \""#]),
        (r#"a: ["x" y]"#, &[r#"1:9 "y]" syntax | …"#]),
        (r#"a: "\q""#, &[r#"1:5 "\\q" syntax | \\"#]),
        (r#"a: "x\\ \d+""#, &[r#"1:9 "\\d" syntax | \\"#]),
        (r#"a: "\xZZ""#, &[r#"1:5 "\\x" syntax | \\"#]),
        (r#"a: "\u00e""#, &[r#"1:5 "\\u" syntax | \\"#]),
        (r#"a: "\ud800""#, &[r#"1:5 "\\ud800" syntax | \\"#]),
        (r#"a: "\udc00""#, &[r#"1:5 "\\udc00" syntax | \\"#]),
        (r#"a: "\Uffffffff""#, &[r#"1:5 "\\Uffffffff" syntax | \\"#]),
        ("\"x\n---\n\"", &[r#"1:1 "\"" syntax | …"#]),
    ]);
}

#[test]
fn mismatched_brackets() {
    check(&[
        ("a: [1, 2", &[r#"1:4 "[" syntax"#]),
        ("a: {b: 1", &[r#"1:4 "{" syntax"#]),
        ("a: [1, 2\nb: 3", &[r#"2:2 ":" syntax (1:4) | ]"#]),
        ("a: {b: 1\nc: 2", &[r#"2:2 ":" syntax (1:4) | }"#]),
        ("a: [1, 2}", &[r#"1:4 "[" syntax"#]),
        ("a: {b: [}]", &[r#"1:8 "[" syntax"#]),
        ("]", &[r#"1:1 "]" syntax | "]""#]),
        ("a: }", &[r#"1:4 "}" syntax | "}""#]),
        ("[a, b]]", &[r#"1:7 "]" syntax | "]""#]),
        ("a: [b: c: d]", &[r#"1:9 ":" syntax (1:4) | : , , "#]),
        ("a: [- b]", &[r#"1:5 "-" syntax (1:4) | : , , "#]),
        ("a: [,]", &[r#"1:5 ",]" syntax | …"#]),
        ("a: {,}", &[r#"1:5 ",}" syntax | …"#]),
        ("a: [\n  x\n---\n", &[r#"1:4 "[" syntax"#]),
        ("a: [1, 2] 3", &[r#"1:11 "3" syntax | …"#]),
        ("a: {b: 1} c", &[r#"1:11 "c" syntax | …"#]),
    ]);
}

#[test]
fn values_with_reserved_first_characters() {
    check(&[
        ("a: @x", &[r#"1:4 "@x" syntax | "@x""#]),
        ("a: `x`", &[r#"1:4 "`x`" syntax | ", ""#]),
        ("a: %x", &[r#"1:4 "%x" syntax | "%x""#]),
        ("a: * x", &[r#"1:4 "*" syntax | "* x""#]),
        ("a: *", &[r#"1:4 "*" syntax | "*""#]),
        ("a: & x", &[r#"1:4 "&" syntax | "& x""#]),
        ("a: &", &[r#"1:4 "&" syntax | "&""#]),
        ("a: !", &[r#"1:4 "!" unsupported | !"#]),
        ("a: ? b", &[r#"1:4 "?" syntax | "? b""#]),
        ("a: - b", &[r#"1:4 "-" syntax | -, "- b""#]),
        ("a: -", &[r#"1:4 "-" syntax | -, "-""#]),
        ("a: ,b", &[r#"1:4 ",b" syntax | ",b""#]),
        ("a: [@x, b]", &[r#"1:5 "@x," syntax | …"#]),
        ("a: |x\n  y", &[r#"1:4 "|x" syntax | … | "|x""#]),
        ("a: >x", &[r#"1:4 ">x" syntax | … | ">x""#]),
        ("a: | y", &[r#"1:4 "|" syntax | … | "| y""#]),
        ("a: |0\n  y", &[r#"1:4 "|0" indentation"#]),
        ("%x: 1", &[r#"1:1 "%x: 1" syntax | …"#]),
        ("a: b # c\n  d", &[r##"1:6 "#" syntax | |"##]),
        (r##"a: "b"#c"##, &[r##"1:7 "#c" syntax | #"##]),
    ]);
}

#[test]
fn long_keys_are_refused() {
    let key = "ä".repeat(1100);
    let marked = "ä".repeat(40);
    check(&[
        (&format!("{key}: a"), &[&format!("1:1 \"{marked}\" limit-exceeded | …")]),
        (&format!("a: 1\n{key}: a"), &[&format!("2:1 \"{marked}\" limit-exceeded | …")]),
        (&format!("a: 1\n\"{key}\": a"), &[&format!("2:1 \"\\\"{}\" limit-exceeded | …", "ä".repeat(39))]),
    ]);
}
