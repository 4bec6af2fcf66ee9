//! Kinds and spans of errors, and mentions.

use ccm_expr::{Cause, Error, Expression, ParseContext};

use crate::scope::{FUNCTIONS, JsonScope};

const NAMES: &str = r#"{"Facts": {"host": {"info": {"os": "linux"}}}, "Data": {"n": null, "t": "secret"}}"#;

/// Formats an error as `kind: text | code in a hint`; `…` is a hint without code.
fn line(text: &str, error: &Error) -> String {
    let mut line = format!("{}: {}", error.cause.kind(), &text[error.range.clone()]);
    for hint in &error.hints {
        let code: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
        line += &format!(" | {}", if code.is_empty() { "…".to_owned() } else { code.join(", ") });
    }
    line
}

#[test]
fn errors_carry_kind_span_and_hint() {
    let scope = JsonScope { strict: true, ..JsonScope::new(NAMES) };
    for (text, expected) in [
        ("1 + \"a\"", "invalid-operand: + | …"),
        ("Fcats.host", "unknown-name: Fcats | Facts"),
        ("Facts.host.inof", "unknown-name: inof | info"),
        ("Facts[\"hots\"].x", "unknown-name: \"hots\" | host"),
        ("1 + lookpu('a')", "unknown-function: lookpu | lookup"),
        ("{a: 1}.b", "unknown-name: b"),
        ("{a: {bat: 1}}.a.bta", "unknown-name: bta | bat"),
        ("{a: nil}.a.b", "invalid-operand: b | ?., ??"),
        ("nothing(1)", "unknown-function: nothing"),
        ("Data.n.x", "invalid-operand: x | ?., ??"),
        ("Data.t + 1", "invalid-operand: Data.t + 1 | …"),
        ("Data.t * 2", "invalid-operand: Data.t * 2 | …"),
        ("Data.t + Facts.host", "invalid-operand: Data.t + Facts.host | …"),
        ("upr('x')", "unknown-function: upr | upper"),
        ("nil ?? 1 == 1", "expression-syntax: == | …"),
        ("1 = 1", "expression-syntax: = | ==, =, let"),
        ("let Data = 1; Data", "reserved-name: Data | …"),
        ("1..1000000000", "limit-exceeded: 1..1000000000"),
        ("lookup('nope.x')", "unknown-name: lookup('nope.x')"),
        ("len", "unknown-name: len | len(…)"),
        ("split(\"a\")", "invalid-operand: split"),
        ("upper(5)", "invalid-operand: 5"),
        ("int(\"2.0\")", "invalid-operand: \"2.0\" | …"),
        ("int(\" 2\")", "invalid-operand: \" 2\" | …"),
        ("int(Data.t)", "invalid-operand: Data.t"),
        ("join([Data.n])", "invalid-operand: [Data.n] | …"),
    ] {
        let error = scope.evaluate(text).expect_err(text);
        assert_eq!(line(text, &error), expected, "{text}");
    }
}

#[test]
fn messages_name_operands_counts_and_paths() {
    let scope = JsonScope { strict: true, ..JsonScope::new(NAMES) };
    for (text, message) in [
        ("1 + \"a\"", "`+` has no meaning between an integer and text"),
        ("Data.n.x", "`Data.n.x`: nil (null) has no key `x`"),
        ("Data.t * 2", "`*` has no meaning between text and an integer"),
        ("split(\"a\")", "`split` takes 2 to 3 arguments, found 1"),
        ("Facts[\"ho\" + \"st\"][Data.t]", "`Facts[…]` has no such key"),
        ("{a: 1}[Data.t]", "this map has no such key"),
    ] {
        assert_eq!(scope.evaluate(text).expect_err(text).message, message, "{text}");
    }
}

#[test]
fn errors_carry_their_cause() {
    let scope = JsonScope { strict: true, ..JsonScope::new(NAMES) };
    let cause = |text: &str| scope.evaluate(text).expect_err(text).cause;
    for (text, expected) in [
        ("Facts.host.inof", &["Facts", "host", "inof"][..]),
        ("Facts['host.a'].inof", &["Facts", "host.a"]),
        ("Facts.host['in.of']", &["Facts", "host", "in.of"]),
        ("Facts['in' + 'of']", &["Facts"]),
    ] {
        assert!(matches!(cause(text), Cause::MissingKey(path) if path == expected), "{text}");
    }
    assert!(matches!(cause("nobody"), Cause::UnknownName(name) if name == "nobody"));
    assert!(matches!(cause("nothing(1)"), Cause::UnknownFunction(name) if name == "nothing"));
    assert!(matches!(cause("lookup('x')"), Cause::Function { name, .. } if name == "lookup"));
    assert!(matches!(cause("1 +"), Cause::Syntax));
    assert!(matches!(cause("1 + true"), Cause::Operand));
    assert!(matches!(cause("let Data = 1; Data"), Cause::TakenName));
}

#[test]
fn strict_scopes_allow_guarded_missing_keys() {
    let scope = JsonScope { strict: true, ..JsonScope::new(NAMES) };
    for text in [
        "Facts?.nope",
        "Facts.nope ?? nil",
        "Facts.host.nope ?? Facts.nope ?? nil",
        "(Facts.nope) ?? nil",
        "get(Facts, \"nope\")",
        "\"nope\" in Facts ? 1 : nil",
        "Facts?.nope?.deep",
        "Facts?.[\"nope\"]",
        "Facts?.[Data.t]",
        "Facts[Data.t] ?? nil",
        "get(Facts, Data.t)",
        "Data.t in Facts ? 1 : nil",
    ] {
        assert_eq!(scope.value(text), ccm_expr::Value::Null, "{text}");
    }
    assert!(scope.evaluate("Facts.nope").is_err());
    assert!(scope.evaluate("(Facts.nope == 1) ?? 2").is_err());
}

#[test]
fn strict_scopes_refuse_missing_computed_keys() {
    let scope = JsonScope { strict: true, ..JsonScope::new(NAMES) };
    for (text, place, path) in [
        ("Facts[Data.t]", "Data.t", "Facts"),
        ("$env[Data.t]", "Data.t", "$env"),
        ("Facts.host.info[\"o\" + \"z\"]", "\"o\" + \"z\"", "Facts.host.info"),
        ("Facts[\"ho\" + \"st\"][Data.t]", "Data.t", "Facts"),
        ("Facts[Data.n]", "Data.n", "Facts"),
        ("let m = {a: 1}; let k = \"b\"; m[k]", "k", "m"),
        ("map([\"zz\"], Facts[#])", "#", "Facts"),
        ("{a: 1}[Data.t]", "Data.t", ""),
    ] {
        let error = scope.evaluate(text).expect_err(text);
        assert_eq!(&text[error.range.clone()], place, "{text}");
        assert!(
            matches!(&error.cause, Cause::MissingKey(found) if found.join(".") == path),
            "{text} {error:?}"
        );
    }
    let scope = JsonScope { strict: false, ..JsonScope::new(NAMES) };
    assert_eq!(scope.value("Facts[Data.t]"), ccm_expr::Value::Null);
}

#[test]
fn messages_hold_no_values() {
    let scope =
        JsonScope { strict: true, ..JsonScope::new(r#"{"Data": {"t": "hunter2", "l": ["hunter2"]}}"#) };
    for text in [
        "int(Data.t)",
        "duration(Data.t)",
        "Data.t.x",
        "Data.t + 1",
        "sum(Data.l)",
        "date(Data.t)",
        "fromJSON(Data.t)",
        "timezone(Data.t)",
        "Data.l[Data.t]",
        "Data[Data.t].x",
        "sort([1], Data.t)",
        "\"a\" matches (Data.t + \"(\")",
    ] {
        let error = scope.evaluate(text).expect_err(text);
        assert!(!format!("{error} {:?}", error.hints).contains("hunter2"), "{text}: {error}");
    }
}

#[test]
fn mentions_need_no_evaluation() {
    let known = ParseContext { names: &[], functions: FUNCTIONS };
    let mentions = |text: &str| Expression::parse_with(text, &known).expect(text).mentions();
    let names = |text: &str| -> Vec<String> {
        let found = mentions(text).names;
        found
            .iter()
            .map(|name| format!("{}{}", name.path.join("."), if name.dynamic { "…" } else { "" }))
            .collect()
    };
    let table: &[(&str, &[&str])] = &[
        ("Facts.host.info.os", &["Facts.host.info.os"]),
        ("Facts[x]", &["Facts…", "x"]),
        ("Facts[\"a\"].b[0].c", &["Facts.a.b…"]),
        ("Facts?.a?.b ?? Data.c", &["Facts.a.b", "Data.c"]),
        ("let x = Data.a; x.b + y", &["Data.a", "y"]),
        ("map(Data.l, .a + # + Facts.b)", &["Data.l", "Facts.b"]),
        ("$env.Facts.a", &["Facts.a"]),
        ("$env[\"Facts\"].a", &["Facts.a"]),
        ("[len(Data.a), upper(b)]", &["Data.a", "b"]),
        ("Data.when.Year()", &["Data.when"]),
        ("a[1:]", &["a…"]),
        ("a < b.c < d", &["a", "b.c", "d"]),
        ("1 + 2", &[]),
    ];
    for (text, wanted) in table {
        assert_eq!(names(text), *wanted, "{text}");
    }
    let found = mentions("lookup('a.b') + lookup(x) + Facts.y");
    let calls: Vec<_> =
        found.calls.iter().map(|call| (call.name.as_str(), call.argument.as_deref())).collect();
    assert_eq!(calls, [("lookup", Some("a.b")), ("lookup", None)]);
    assert_eq!(found.calls[0].range, 0..13);
    assert_eq!(found.names[1].range, 28..35);
    assert_eq!(mentions("keys($env)").environment.first(), Some(&(5..9)));
    assert!(mentions("$env.a").environment.is_empty());
}

#[test]
fn values_format_as_text() {
    let scope = JsonScope::new("{}");
    for (text, wanted) in [
        ("nil", ""),
        ("\"a b\"", "a b"),
        ("5.0", "5"),
        ("1e6", "1000000"),
        ("[1, \"a\", nil]", "[1,\"a\",null]"),
        ("{a: {b: 1.5}}", "{\"a\":{\"b\":1.5}}"),
        ("duration(\"90s\")", "1m30s"),
        ("groupBy([1], #)", "{\"1\":[1]}"),
    ] {
        assert_eq!(scope.value(text).to_string(), wanted, "{text}");
    }
}

#[test]
fn expressions_and_values_are_small_and_thread_safe() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug>() {}
    shared::<Expression>();
    shared::<ccm_expr::Value>();
    assert!(size_of::<ccm_expr::Value>() <= 24);
    assert!(size_of::<Expression>() <= 8);
}
