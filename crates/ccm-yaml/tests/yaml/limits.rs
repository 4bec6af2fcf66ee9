//! Limits on hostile texts; large ordinary texts pass.

use ccm_model::{DiagnosticKind, SourceId};
use ccm_yaml::{Limits, parse};

use crate::render::{errors, read};

/// Returns the message of the error, because the kind does not tell one limit from another.
fn refused(text: &str, limits: &Limits) -> String {
    let diagnostics = parse(SourceId(0), text, limits).expect_err("the text wants too much");
    assert_eq!(diagnostics.len(), 1, "{:?}", diagnostics.first());
    assert_eq!(diagnostics[0].kind, DiagnosticKind::LimitExceeded);
    let span = diagnostics[0].span().expect("a place");
    assert!(text.get(span.range()).is_some_and(|at| !at.is_empty()), "{span:?}");
    diagnostics[0].message.clone()
}

/// The same nesting in every syntax.
fn nested(levels: usize) -> Vec<(&'static str, String)> {
    let close = |open: &str, close: &str| format!("{}1{}", open.repeat(levels), close.repeat(levels));
    let lines = |line: &dyn Fn(usize) -> String| (0..levels).map(line).collect::<String>();
    vec![
        ("brackets", close("[", "]")),
        ("braces", close("{a: ", "}")),
        ("dashes", format!("{}1", "- ".repeat(levels))),
        ("indentation", lines(&|level| format!("{}a:\n", " ".repeat(level)))),
        ("dashes on lines", lines(&|level| format!("{}-\n", " ".repeat(level)))),
        (
            "dashes below keys",
            lines(&|level| {
                match level % 2 {
                    0 => format!("{}a:\n", "  ".repeat(level / 2)),
                    _ => format!("{}- ", "  ".repeat(level / 2)),
                }
                .replace("- ", "-\n")
            }),
        ),
        (
            "mixed",
            format!(
                "{}{}1{}",
                "- ".repeat(levels / 2),
                "[".repeat(levels - levels / 2),
                "]".repeat(levels - levels / 2)
            ),
        ),
        ("anchors", format!("{}1{}", "&a [".repeat(levels), "]".repeat(levels))),
    ]
}

#[test]
fn depth_is_bounded_in_every_style() {
    let limits = Limits::default();
    for (name, text) in nested(limits.depth) {
        assert!(parse(SourceId(0), &text, &limits).is_ok(), "{name}");
    }
    for (name, text) in nested(limits.depth + 1) {
        let diagnostics = parse(SourceId(0), &text, &limits).expect_err(name);
        assert_eq!(diagnostics[0].kind, DiagnosticKind::LimitExceeded, "{name}");
    }
}

#[test]
fn excessive_depth_is_refused() {
    let many = 1_000_000;
    for text in
        ["[".repeat(many), "{a: ".repeat(many), "- ".repeat(many), "? ".repeat(many), "[{".repeat(many)]
    {
        assert_eq!(refused(&text, &Limits::default()), "nested deeper than 64 levels", "{}", &text[..4]);
    }
    // A higher limit is capped, so that building and dropping fit on the stack.
    let deepest = Limits { depth: usize::MAX, ..Limits::default() };
    assert_eq!(refused(&"[".repeat(many), &deepest), "nested deeper than 512 levels");
    let text = format!("{}{}", "[".repeat(512), "]".repeat(512));
    drop(parse(SourceId(0), &text, &deepest).expect("it fits"));
}

#[test]
fn aliases_obey_the_depth_limit() {
    let levels = |count: usize, inner: &str| format!("{}{inner}{}", "[".repeat(count), "]".repeat(count));
    let text = |count| format!("- &x {}\n- {}", levels(40, ""), levels(count, "*x"));
    assert!(read(&text(23)).is_ok());
    assert_eq!(refused(&text(24), &Limits::default()), "nested deeper than 64 levels");
}

#[test]
fn chains_of_aliases_count_the_depth_of_the_tree() {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for link in 1..1000 {
        text.push_str(&format!("a{link}: &a{link} [*a{}]\n", link - 1));
    }
    assert_eq!(refused(&text, &Limits::default()), "nested deeper than 64 levels");
}

#[test]
fn nodes_are_counted_after_aliases_are_expanded() {
    // A map, its list of three, and a list of three such lists.
    let text = "a: &x [1, 2, 3]\nb: [*x, *x, *x]";
    let nodes = 1 + 4 + 1 + 3 * 4;
    assert!(parse(SourceId(0), text, &Limits { nodes, ..Limits::default() }).is_ok());
    let diagnostics =
        parse(SourceId(0), text, &Limits { nodes: nodes - 1, ..Limits::default() }).expect_err("one more");
    assert_eq!(errors(text, &diagnostics), r#"2:13 "*x" limit-exceeded"#);

    let text = "[1, 2, 3]";
    assert!(parse(SourceId(0), text, &Limits { nodes: 4, ..Limits::default() }).is_ok());
    let diagnostics =
        parse(SourceId(0), text, &Limits { nodes: 3, ..Limits::default() }).expect_err("one more");
    assert_eq!(errors(text, &diagnostics), r#"1:8 "3" limit-exceeded"#);
}

#[test]
fn exponential_aliases_end_in_an_error() {
    let limits = Limits { repeated: 100_000, ..Limits::default() };
    let expected = "aliases repeat more than 100000 values";
    let mut laughs = "a0: &a0 [lol]\n".to_owned();
    for level in 1..60 {
        laughs.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            vec![format!("*a{}", level - 1); 10].join(", ")
        ));
    }
    assert_eq!(refused(&laughs, &limits), expected);
    // Few nodes of large texts: copied bytes count.
    let texts = format!("- &x {}\n- [{}]", "y".repeat(1 << 20), "*x, ".repeat(10_000));
    assert_eq!(refused(&texts, &limits), expected);
    let keys = format!("- &x {}\n{}", "y".repeat(1 << 20), "- *x : 1\n".repeat(10_000));
    assert_eq!(refused(&keys, &limits), expected);
}

#[test]
fn unused_anchors_are_free() {
    let text = format!("{}{}{}", "&a [".repeat(60), "1, ".repeat(50_000), "]".repeat(60));
    let limits = Limits { nodes: 50_060, ..Limits::default() };
    assert!(parse(SourceId(0), &text, &limits).is_ok());
}

#[test]
fn errors_are_limited() {
    for text in [
        "a: 1\n".repeat(100_000),
        "- !x y\n".repeat(100_000),
        "- *x\n".repeat(100_000),
        format!("[{}]", "{{ x }}, ".repeat(100_000)),
    ] {
        let diagnostics = read(&text).expect_err("errors");
        assert_eq!(diagnostics.len(), 1000, "{}", &text[..8]);
    }
}

#[test]
fn long_runs_of_comments_are_parsed() {
    let comments = "  # text\n".repeat(100_000);
    for text in [
        format!("{comments}a: b"),
        format!("a:\n{comments}  b: c\n"),
        format!("a:\n{comments}  - b\n{comments}  - c\n{comments}"),
        format!("a: [b,\n{comments} c]\n"),
        format!("a: b\n{comments}"),
        format!("a: |\n  b\n\n{}", comments.replace("  #", "#")),
        format!("a:\n{comments}"),
    ] {
        assert!(read(&text).is_ok(), "{}", &text[..4]);
    }
}

#[test]
fn a_large_manifest_is_parsed() {
    use std::fmt::Write;
    let mut text = "ccm:\n  resources:\n    - exec:\n".to_owned();
    for number in 0..40_000 {
        write!(text, "        - name-{number}:\n            command: /bin/true {number}\n            refresh_only: true\n            timeout: 30s\n").expect("memory");
    }
    let line = "              a line of a configuration file of some length\n".repeat(100);
    while text.len() < 20 << 20 {
        write!(text, "        - file-{}:\n            content: |\n{line}", text.len()).expect("memory");
    }
    let node = read(&text).expect("right").expect("a value");
    assert_eq!(&text[node.span.range()], text.trim_end());
}

#[test]
fn long_scalars_and_long_lines_are_parsed() {
    let many = 200_000;
    for text in [
        format!("a: {}", "xyz ".repeat(many)),
        format!("a: x\n{}", "  yyy\n".repeat(many)),
        format!("a: \"{}\"", "\\n ".repeat(many)),
        format!("a: '{}'", "x\n  ".repeat(many)),
        format!("a: >\n{}", "  x y\n\n".repeat(many)),
        format!("a: [{}]", "1, ".repeat(many)),
        format!("a:\n{}  b: c", "\n".repeat(many)),
        format!("a: {}b", " ".repeat(many)),
        format!("- \n{}", "-\n".repeat(many)),
    ] {
        assert!(read(&text).is_ok(), "{}", &text[..8]);
    }
}
