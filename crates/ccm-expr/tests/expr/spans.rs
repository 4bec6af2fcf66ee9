//! Spans and messages of errors, and mentions.

use ccm_expr::{Cause, Expression, ParseContext};

use crate::scope::{FUNCTIONS, JsonScope};

const NAMES: &str = r#"{"Facts": {"host": {"info": {"os": "linux"}}}, "Data": {"n": null, "t": "secret"}}"#;

#[test]
fn errors_carry_span_message_and_hint() {
    let scope = JsonScope { strict: true, ..JsonScope::new(NAMES) };
    let table = [
        (
            "1 + \"a\"",
            "+",
            "`+` has no meaning between an integer and text",
            "turn the number into text with string(…), or the text into a number with int(…)",
        ),
        ("Fcats.host", "Fcats", "there is no `Fcats`", "did you mean `Facts`?"),
        ("Facts.host.inof", "inof", "there is no `Facts.host.inof`", "did you mean `info`?"),
        ("Facts[\"hots\"].x", "\"hots\"", "there is no `Facts.hots`", "did you mean `host`?"),
        ("1 + lookpu('a')", "lookpu", "there is no function `lookpu`", "did you mean `lookup`?"),
        ("{a: 1}.b", "b", "this map has no key `b`", ""),
        ("{a: {bat: 1}}.a.bta", "bta", "this map has no key `bta`", "did you mean `bat`?"),
        ("{a: nil}.a.b", "b", "nil has no key `b`", "write `?.` instead of `.` to get nil"),
        ("nothing(1)", "nothing", "there is no function `nothing`", ""),
        ("Data.n.x", "x", "`Data.n.x`: nil has no key `x`", "write `?.` instead of `.` to get nil"),
        (
            "Data.t + 1",
            "Data.t + 1",
            "`+` has no meaning between text and an integer",
            "turn the number into text with string(…), or the text into a number with int(…)",
        ),
        (
            "Data.t * 2",
            "Data.t * 2",
            "`*` has no meaning between text and an integer",
            "turn the text into a number with int(…) or float(…)",
        ),
        (
            "Data.t + Facts.host",
            "Data.t + Facts.host",
            "`+` has no meaning between text and a map",
            "turn the other side into text with string(…)",
        ),
        ("upr('x')", "upr", "there is no function `upr`", "did you mean `upper`?"),
        ("nil ?? 1 == 1", "==", "`??` and `==` can't be mixed", "put parentheses around one of them"),
        (
            "1 = 1",
            "=",
            "expected an operator or the end, found `=`",
            "compare values with `==`; `=` belongs to `let`",
        ),
        ("lookup('nope.x')", "lookup('nope.x')", "there is nothing at this path", ""),
        ("len", "len", "there is no `len`", "`len` is a function: `len(…)`"),
        ("split(\"a\")", "split", "`split` takes 2 to 3 arguments, found 1", ""),
        ("upper(5)", "5", "`upper` takes text here, found an integer", ""),
        (
            "join([Data.n])",
            "[Data.n]",
            "`join`: expected a list of texts, found nothing in it",
            "turn the elements into text: map(list, string(#))",
        ),
    ];
    for (text, place, message, hint) in table {
        let error = scope.evaluate(text).expect_err(text);
        assert_eq!(&text[error.range.clone()], place, "{text}: {error:?}");
        assert_eq!(error.message, message, "{text}");
        assert_eq!(error.hints.first().map_or("", String::as_str), hint, "{text}");
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
    for (text, place, message) in [
        ("Facts[Data.t]", "Data.t", "`Facts` has no such key"),
        ("$env[Data.t]", "Data.t", "`$env` has no such key"),
        ("Facts.host.info[\"o\" + \"z\"]", "\"o\" + \"z\"", "`Facts.host.info` has no such key"),
        ("Facts[\"ho\" + \"st\"][Data.t]", "Data.t", "`Facts[…]` has no such key"),
        ("Facts[Data.n]", "Data.n", "`Facts` has no such key"),
        ("let m = {a: 1}; let k = \"b\"; m[k]", "k", "`m` has no such key"),
        ("map([\"zz\"], Facts[#])", "#", "`Facts` has no such key"),
        ("{a: 1}[Data.t]", "Data.t", "this map has no such key"),
    ] {
        let error = scope.evaluate(text).expect_err(text);
        assert_eq!((&text[error.range.clone()], &*error.message), (place, message), "{text}");
        assert!(matches!(error.cause, Cause::MissingKey(_)), "{text}");
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
