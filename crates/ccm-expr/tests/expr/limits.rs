//! Time, memory and stack stay bounded for every expression.

use std::thread;

use ccm_expr::{Cause, Error, Expression, Value};
use proptest::prelude::*;

use crate::scope::JsonScope;

/// Runs on a stack of the size of a worker thread's.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread starts").join().expect("no panic")
}

fn evaluate(text: String) -> Result<Value, Error> {
    on_a_small_stack(move || JsonScope::new(r#"{"x": 1}"#).evaluate(&text))
}

/// Builds a small value of shared parts that is immense to walk through.
fn doubled(times: usize) -> String {
    let lets: String = "let a = [1]; ".to_owned()
        + &(1..times).map(|_| "let A = [B, B]; ").enumerate().fold(String::new(), |text, (at, one)| {
            let (name, last) = (name(at + 1), name(at));
            text + &one.replace('A', &name).replace('B', &last)
        });
    format!("({lets}{})", name(times - 1))
}

fn name(at: usize) -> String {
    if at == 0 { "a".to_owned() } else { format!("a{at}") }
}

#[test]
fn exponential_expressions_end_in_an_error() {
    let long = "1".repeat(1000);
    let bombs = [
        "1..1000000000".to_owned(),
        "-9223372036854775807..9223372036854775807".to_owned(),
        "repeat(\"x\", 1000000000000)".to_owned(),
        "repeat(repeat(\"x\", 10000), 10000)".to_owned(),
        "map(1..1000, map(1..1000, map(1..1000, #)))".to_owned(),
        "reduce(1..100, #acc + #acc, \"xxxxxxxx\")".to_owned(),
        "reduce(1..100000, [#acc], 1)".to_owned(),
        "reduce(1..64, [#acc, #acc], 1)".to_owned(),
        "string(reduce(1..40, [#acc, #acc], 1))".to_owned(),
        "reduce(1..40, {a: #acc, b: #acc}, 1)".to_owned(),
        "join(map(1..100000, repeat(\"x\", 1000)), \"\")".to_owned(),
        "replace(repeat(\"a\", 100000), \"a\", repeat(\"b\", 100000))".to_owned(),
        "let t = repeat(\"x\", 1000000); map(1..100000, t)".to_owned(),
        "toJSON(map(1..100, repeat(\"x\", 1000000)))".to_owned(),
        "uniq(map(1..100000, [#])) | len() > 0 and all(1..100000, all(1..100000, true))".to_owned(),
        "\"a\" matches \"((a{1000}){1000}){1000}\"".to_owned(),
        "\"a\" matches (\"(\" + \"a{1000}){1000}\")".to_owned(),
        "count(1..999999, any(1..999999, false)) == 0".to_owned(),
        format!("string({})", doubled(100)),
        format!("toJSON({})", doubled(100)),
        format!("max({})", doubled(100)),
        format!("uniq([{0}, {0}])", doubled(100)),
        format!("{0} == {0}", doubled(100)),
        doubled(100),
        "split(repeat(\"a\", 10000000), \"\")".to_owned(),
        "fromJSON(\"[\" + repeat(\"0,\", 5000000) + \"0]\")".to_owned(),
        "(".repeat(1 << 20),
        "[".repeat(1 << 20),
        "-".repeat(1 << 20),
        "not ".repeat(1 << 18),
        "{a:".repeat(1 << 18),
        "x?.".repeat(1 << 18),
        "map(".repeat(1 << 18),
        "if x {".repeat(1 << 18),
        "x ? ".repeat(1 << 18),
        "let a = ".repeat(1 << 18),
        "2 ** ".repeat(1 << 18),
        format!("x{}", ".a".repeat(1 << 18)),
        format!("x{}", "[0]".repeat(1 << 18)),
        format!("x{}", " | string()".repeat(1 << 16)),
        format!("fromJSON(repeat(\"[\", {long}))", long = 100_000),
        "let v = 1; ".repeat(100_000),
        "let v = 1; { ".repeat(100_000),
        "map([1], {let v = ".repeat(100_000),
        format!("0x{long}"),
    ];
    for bomb in bombs {
        let shown: String = bomb.chars().take(60).collect();
        assert!(evaluate(bomb).is_err(), "{shown}");
    }
}

#[test]
fn limits_are_the_cause() {
    for text in ["1..1000000000", "repeat(\"x\", 1000000000000)", "all(1..2000, all(1..2000, true))"] {
        let error = evaluate(text.to_owned()).expect_err(text);
        assert!(matches!(error.cause, Cause::Limit), "{text}: {error:?}");
    }
}

#[test]
fn long_texts_cost_steps() {
    for work in [
        "indexOf(t, \"b\") < 0",
        "lastIndexOf(t, \"b\") < 0",
        "hasPrefix(t, u)",
        "len(t) > 0",
        "len(trim(\"b\", u[:100000])) == 1",
        "not (t contains \"b\")",
        "t startsWith u",
        "t == u",
        "[t] == [u]",
        "t in [u]",
        "t not in {a: 1}",
        "t <= u",
        "len(sort([t, u])) == 2",
        "len(sortBy([t, u], #)) == 2",
        "len(uniq([t, u])) == 1",
        "len(groupBy([t], #)) == 1",
        "string(first([t])) == u",
    ] {
        let setting = "let t = repeat(\"a\", 8000000); let u = repeat(\"a\", 8000000);";
        let once = evaluate(format!("{setting} {work}"));
        assert!(once.is_ok(), "{work}: {once:?}");
        let often = format!("{setting} all(1..20000, {work})");
        let error = evaluate(often).expect_err(work);
        assert!(matches!(error.cause, Cause::Limit), "{work}: {error:?}");
    }
    let quick = "let t = repeat(\"a\", 8000000); none(1..100000, t == \"a\")";
    assert_eq!(evaluate(quick.to_owned()).expect("unequal at once"), Value::Bool(true));
}

#[test]
fn long_chains_of_operators_are_fine() {
    let sum = vec!["x"; 20_000].join(" + ");
    assert_eq!(evaluate(sum).expect("a sum"), Value::Int(20_000));
    let either = vec!["x == 2"; 20_000].join(" || ");
    assert_eq!(evaluate(either).expect("a choice"), Value::Bool(false));
    let defaults = vec!["nil"; 20_000].join(" ?? ");
    assert_eq!(evaluate(defaults).expect("nothing"), Value::Null);
    let nested = format!("{}x{}", "(".repeat(150), ")".repeat(150));
    assert_eq!(evaluate(nested).expect("nested"), Value::Int(1));
    let lists = format!("{}{}", "[".repeat(150), "]".repeat(150));
    let written = format!("{lists} == {lists} and string({lists}) != \"\" and toJSON({lists}) != \"\"");
    assert_eq!(evaluate(written).expect("lists in lists"), Value::Bool(true));
}

const WORDS: &[&str] = &[
    "1",
    "2.5",
    "\"a\"",
    "x",
    "nil",
    "true",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "..",
    "==",
    "<",
    "and",
    "or",
    "not",
    "in",
    "matches",
    "contains",
    "??",
    "?",
    ":",
    "?.",
    ".",
    ",",
    ";",
    "|",
    "#",
    "#acc",
    "map(",
    "filter(",
    "reduce(",
    "len(",
    "split(",
    "sort(",
    "let a =",
    "a",
    "if",
    "else",
    "=",
    "$env",
    "now()",
    "duration(\"1s\")",
    "b'x'",
    "`r`",
    "1..3",
    "date(\"2023-08-14\")",
    ".Year()",
    "groupBy(",
    "uniq(",
    "toJSON(",
    "é",
    "'",
    "\\",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_read_or_refused(text in "\\PC{0,60}") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!(text.get(error.range.clone()).is_some(), "{:?} in {text:?}", error.range);
        }
    }

    #[test]
    fn words_in_any_order_terminate(words in prop::collection::vec(prop::sample::select(WORDS), 0..14)) {
        let text = words.join(" ");
        match JsonScope::new(r#"{"x": [1, 2]}"#).evaluate(&text) {
            Ok(value) => { let _ = (value.to_string(), value.to_json()); }
            Err(error) => prop_assert!(text.get(error.range.clone()).is_some(), "{:?} in {text:?}", error.range),
        }
    }

    #[test]
    fn mutated_cases_terminate(case in 1_usize..154, at in 0_usize..60, with in "\\PC") {
        let line = include_str!("cases.jsonl").lines().nth(case).unwrap_or("{}");
        let json: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let mut letters: Vec<char> = json["expr"].as_str().unwrap_or_default().chars().collect();
        if !letters.is_empty() {
            let at = at % letters.len();
            letters.splice(at..=at, with.chars());
        }
        let text: String = letters.into_iter().collect();
        let scope = JsonScope { open: true, ..JsonScope::new("{}") };
        if let Err(error) = scope.evaluate(&text) {
            prop_assert!(text.get(error.range.clone()).is_some(), "{:?} in {text:?}", error.range);
        }
    }
}
