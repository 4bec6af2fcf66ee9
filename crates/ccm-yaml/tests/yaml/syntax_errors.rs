//! Syntax errors: position, message and hint.
//!
//! Each line of the tables holds: position, marked text, message; then further labels, then hints.

use crate::render::{check, check_same};

#[test]
fn tabs_are_reported() {
    check_same(
        "a tab is used as indentation | hint: indent with spaces: YAML allows no tabs",
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
            ("a: \"b\n\tc\nd: e", r#"2:1 "\t""#),
        ],
    );
}

#[test]
fn wrong_indentation_is_reported() {
    check_same(
        "the line does not fit the indentation above | hint: indent all entries of a list or map alike",
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
        (
            "a: 1\n  b: 2",
            &[
                r#"2:3 "b: 2": the line does not fit the indentation above | 1:4: value of the key above | hint: indent all entries of a list or map alike"#,
            ],
        ),
        (
            "a: 1\n- b",
            &[r#"2:1 "-": a list element is among the keys of a map | hint: align the `-` with its list"#],
        ),
        (
            "- a: 1\n    b: 2",
            &[
                r#"2:5 "b: 2": the line does not fit the indentation above | 1:6: value of the key above | hint: indent all entries of a list or map alike"#,
            ],
        ),
        (
            "a: |\n    \n  y",
            &[
                r#"3:3 "y": an empty line above is indented deeper than this first line of the block | hint: remove the blanks on the empty line"#,
            ],
        ),
    ]);
}

#[test]
fn superfluous_and_missing_colons() {
    check(&[
        (
            "a: b: c",
            &[
                r#"1:5 ":": unexpected `:` in a value | 1:4: the value begins here | hint: quote it: `"b: c"`"#,
            ],
        ),
        (
            "- a: b: c",
            &[
                r#"1:7 ":": unexpected `:` in a value | 1:6: the value begins here | hint: quote it: `"b: c"`"#,
            ],
        ),
        (
            r#"a: "b": c"#,
            &[
                r#"1:7 ":": unexpected `:` in a value | 1:4: the value begins here | hint: quote it: `'"b": c'`"#,
            ],
        ),
        (
            r#"a: ${ x ? "a" : "b" }"#,
            &[
                r#"1:15 ":": unexpected `:` in a value | 1:4: the value begins here | hint: quote it: `'${ x ? "a" : "b" }'`"#,
            ],
        ),
        (
            "a: echo it's: 'b'",
            &[
                r#"1:13 ":": unexpected `:` in a value | 1:4: the value begins here | hint: quote it: `"echo it's: 'b'"`"#,
            ],
        ),
        ("a\nb: 1", &[r#"1:1 "a": expected `:` after `a` | 2:1: this is a key"#]),
        ("- a\n  b: 1", &[r#"1:3 "a": expected `:` after `a` | 2:3: this is a key"#]),
        (
            "a: 1\nb\nc: 2",
            &[
                r#"2:1 "b": expected `key: value`, found `b` | hint: indent a text of several lines deeper than its key"#,
            ],
        ),
        (
            "a: 1\nb:c\nd: 2",
            &[r#"2:1 "b:c": expected `key: value`, found `b:c` | hint: add a blank after the `:`"#],
        ),
        (
            "a: 1\nhttp://b",
            &[
                r#"2:1 "http://b": expected `key: value`, found `http://b` | hint: indent a text of several lines deeper than its key"#,
            ],
        ),
        (
            "--- a: b",
            &[
                r#"1:6 ":": a map can't begin on the line of the `---` | hint: put its first key on the next line"#,
            ],
        ),
        (": x", &[r#"1:1 "": the key before this `:` is missing"#]),
        ("{: x}", &[r#"1:2 "": the key before this `:` is missing"#]),
    ]);
}

#[test]
fn quotes_and_escapes() {
    check_same(
        r#"unclosed quote: this `"` is never closed"#,
        &[(r#"a: "x"#, r#"1:4 "\"""#), ("a: [\"x\nb: 2", r#"1:5 "\"""#), (r#"a: "\"#, r#"1:4 "\"""#)],
    );
    check(&[
        (
            "a: \"x\nb: 2",
            &[
                r#"1:4 "\"": unclosed quote: this `"` is never closed | 2:1: it can't continue on a line with this indentation"#,
            ],
        ),
        (
            "a: 'x\nb: 2",
            &[
                r#"1:4 "'": unclosed quote: this `'` is never closed | 2:1: it can't continue on a line with this indentation"#,
            ],
        ),
        ("- 'x\n", &[r#"1:3 "'": unclosed quote: this `'` is never closed"#]),
        (
            "a: 'it's'",
            &[
                r#"1:8 "s'": unexpected text after the closing quote | hint: in single quotes, write a quote as `''`"#,
            ],
        ),
        (
            r#"a: "x" y"#,
            &[
                r#"1:8 "y": unexpected text after the closing quote | hint: if the quotes are part of the text, quote it: `'"x" y'`"#,
            ],
        ),
        (
            "a: 'x' y",
            &[
                r#"1:8 "y": unexpected text after the closing quote | hint: if the quotes are part of the text, quote it: `"'x' y"`"#,
            ],
        ),
        (
            r#"a: "say "x"""#,
            &[
                r#"1:10 "x\"\"": unexpected text after the closing quote | hint: in double quotes, write a quote as `\"`"#,
            ],
        ),
        (
            r#"a: ["x" y]"#,
            &[
                r#"1:9 "y]": unexpected text after the closing quote | hint: if the quotes are part of the text, quote it"#,
            ],
        ),
        (
            r#"a: "\q""#,
            &[
                r#"1:5 "\\q": unknown escape `\q` | hint: write a backslash as `\\`, or use single quotes, where it is just a backslash"#,
            ],
        ),
        (
            r#"a: "x\\ \d+""#,
            &[
                r#"1:9 "\\d": unknown escape `\d` | hint: write a backslash as `\\`, or use single quotes, where it is just a backslash"#,
            ],
        ),
        (
            r#"a: "\xZZ""#,
            &[
                r#"1:5 "\\x": the escape `\x` needs 2 hexadecimal digits | hint: write a backslash as `\\`, or use single quotes, where it is just a backslash"#,
            ],
        ),
        (
            r#"a: "\u00e""#,
            &[
                r#"1:5 "\\u": the escape `\u` needs 4 hexadecimal digits | hint: write a backslash as `\\`, or use single quotes, where it is just a backslash"#,
            ],
        ),
        (
            r#"a: "\ud800""#,
            &[
                r#"1:5 "\\ud800": the escape `\ud800` is half of a surrogate pair | hint: write a backslash as `\\`, or use single quotes, where it is just a backslash"#,
            ],
        ),
        (
            r#"a: "\udc00""#,
            &[
                r#"1:5 "\\udc00": the escape `\udc00` is half of a surrogate pair | hint: write a backslash as `\\`, or use single quotes, where it is just a backslash"#,
            ],
        ),
        (
            r#"a: "\Uffffffff""#,
            &[
                r#"1:5 "\\Uffffffff": the escape `\Uffffffff` names no character | hint: write a backslash as `\\`, or use single quotes, where it is just a backslash"#,
            ],
        ),
        (
            "\"x\n---\n\"",
            &[
                r#"1:1 "\"": a quoted text can't hold a line that begins with `---` or `...` | hint: close the quote before this line"#,
            ],
        ),
    ]);
}

#[test]
fn mismatched_brackets() {
    check(&[
        ("a: [1, 2", &[r#"1:4 "[": unclosed bracket: this `[` is never closed"#]),
        ("a: {b: 1", &[r#"1:4 "{": unclosed bracket: this `{` is never closed"#]),
        (
            "a: [1, 2\nb: 3",
            &[
                r#"2:2 ":": unexpected `:` in brackets | 1:4: this `[` is open | hint: close the bracket with `]`"#,
            ],
        ),
        (
            "a: {b: 1\nc: 2",
            &[r#"2:2 ":": expected `,` or `}` | 1:4: this `{` is open | hint: close the bracket with `}`"#],
        ),
        ("a: [1, 2}", &[r#"1:4 "[": `[` is closed by `}`: opened here"#]),
        ("a: {b: [}]", &[r#"1:8 "[": `[` is closed by `}`: opened here"#]),
        ("]", &[r#"1:1 "]": this `]` closes nothing | hint: quote it: `"]"`"#]),
        ("a: }", &[r#"1:4 "}": this `}` closes nothing | hint: quote it: `"}"`"#]),
        ("[a, b]]", &[r#"1:7 "]": this `]` closes nothing | hint: quote it: `"]"`"#]),
        (
            "a: [b: c: d]",
            &[
                r#"1:9 ":": expected `,` or `]` | 1:4: this `[` is open | hint: quote text that holds brackets, `: ` or `, `"#,
            ],
        ),
        (
            "a: [- b]",
            &[
                r#"1:5 "-": a list in brackets has no `-` before its elements | 1:4: this `[` is open | hint: quote text that holds brackets, `: ` or `, `"#,
            ],
        ),
        ("a: [,]", &[r#"1:5 ",]": expected a value, found `,` | hint: quote it"#]),
        ("a: {,}", &[r#"1:5 ",}": expected a value, found `,` | hint: quote it"#]),
        ("a: [\n  x\n---\n", &[r#"1:4 "[": unclosed bracket: this `[` is never closed"#]),
        (
            "a: [1, 2] 3",
            &[
                r#"1:11 "3": unexpected text after a value | hint: quote the whole value if it is meant as text"#,
            ],
        ),
        (
            "a: {b: 1} c",
            &[
                r#"1:11 "c": unexpected text after a value | hint: quote the whole value if it is meant as text"#,
            ],
        ),
    ]);
}

#[test]
fn values_with_reserved_first_characters() {
    check(&[
        ("a: @x", &[r#"1:4 "@x": a value can't begin with `@` | hint: quote it: `"@x"`"#]),
        ("a: `x`", &[r#"1:4 "`x`": a value can't begin with a backtick | hint: quote it: `"`x`"`"#]),
        ("a: %x", &[r#"1:4 "%x": a value can't begin with `%` | hint: quote it: `"%x"`"#]),
        ("a: * x", &[r#"1:4 "*": a value can't begin with `*` | hint: quote it: `"* x"`"#]),
        ("a: *", &[r#"1:4 "*": a value can't begin with `*` | hint: quote it: `"*"`"#]),
        ("a: & x", &[r#"1:4 "&": a value can't begin with `&` | hint: quote it: `"& x"`"#]),
        ("a: &", &[r#"1:4 "&": a value can't begin with `&` | hint: quote it: `"&"`"#]),
        (
            "a: !",
            &[
                r#"1:4 "!": tags such as `!` are not supported | hint: quote the value if its `!` is meant as text"#,
            ],
        ),
        ("a: ? b", &[r#"1:4 "?": a value can't begin with `?` | hint: quote it: `"? b"`"#]),
        (
            "a: - b",
            &[
                r#"1:4 "-": a list can't begin on this line | hint: put the `-` on a line of its own, or, if it is text, quote it: `"- b"`"#,
            ],
        ),
        (
            "a: -",
            &[
                r#"1:4 "-": a list can't begin on this line | hint: put the `-` on a line of its own, or, if it is text, quote it: `"-"`"#,
            ],
        ),
        ("a: ,b", &[r#"1:4 ",b": expected a value, found `,` | hint: quote it: `",b"`"#]),
        ("a: [@x, b]", &[r#"1:5 "@x,": a value can't begin with `@` | hint: quote it"#]),
        (
            "a: |x\n  y",
            &[
                r#"1:4 "|x": unexpected text after `|` | hint: begin the text of the block on the next line | hint: quote it: `"|x"`"#,
            ],
        ),
        (
            "a: >x",
            &[
                r#"1:4 ">x": unexpected text after `>` | hint: begin the text of the block on the next line | hint: quote it: `">x"`"#,
            ],
        ),
        (
            "a: | y",
            &[
                r#"1:4 "|": unexpected text after `|` | hint: begin the text of the block on the next line | hint: quote it: `"| y"`"#,
            ],
        ),
        ("a: |0\n  y", &[r#"1:4 "|0": a block can't be indented by 0"#]),
        (
            "%x: 1",
            &[
                r#"1:1 "%x: 1": a line that begins with `%` is a directive to YAML | hint: quote the text if it is meant as a key or value"#,
            ],
        ),
        (
            "a: b # c\n  d",
            &[
                r##"1:6 "#": a comment is not allowed inside a text of several lines | hint: put the comment above the text, or put the text in quotes or after `|`"##,
            ],
        ),
        (
            r##"a: "b"#c"##,
            &[
                r##"1:7 "#c": a comment needs a blank before its `#` | hint: quote the text if `#` is part of it"##,
            ],
        ),
    ]);
}

#[test]
fn long_keys_are_refused() {
    let key = "ä".repeat(1100);
    let message =
        r#"": a key is longer than 1024 characters | hint: use a short name, and write the text as a value"#;
    let marked = "ä".repeat(40);
    check(&[
        (&format!("{key}: a"), &[&format!("1:1 \"{marked}{message}")]),
        (&format!("a: 1\n{key}: a"), &[&format!("2:1 \"{marked}{message}")]),
        (&format!("a: 1\n\"{key}\": a"), &[&format!("2:1 \"\\\"{}{message}", "ä".repeat(39))]),
    ]);
}
