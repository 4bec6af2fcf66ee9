//! Expressions: parsed, analysed and evaluated within limits.

use std::sync::LazyLock;

use ccm_expr::{Expression, Function, FunctionError, NameKind, ParseContext, Scope, Timestamp, Value};
use ccm_model::DiagnosticKind;
use serde_json::json;

pub(super) const WORDS: &[&str] = &[
    "Facts",
    "Facts.list",
    "Data.map",
    "Data.text",
    "lookup('facts.a')",
    "file('x')",
    "let a = 1; a",
    "map(#)",
    "filter(# > 1)",
    "reduce(#acc + #)",
    "1..1000000",
    "?.",
    "??",
    "?:",
    " in ",
    " not in ",
    " contains ",
    " matches ",
    " startsWith ",
    "|",
    "**",
    "==",
    "&&",
    "||",
    "!",
    "not ",
    "and",
    "or",
    "nil",
    "true",
    "#",
    "#index",
    "$env",
    "date('2026-01-01')",
    "duration('1h')",
    "now()",
    "fromJSON(toJSON(",
    "repeat('a', 9999999)",
    "split(",
    "sortBy(",
    "groupBy(",
    "flatten(",
    "[0]",
    "[1:2]",
    "{a: 1}",
    "'",
    "\"",
    "`",
    "0x",
    "1e9",
    "/* */",
    "// x\n",
    "if true { 1 } else { 2 }",
    "all(",
    "toBase64(",
    "trim(",
    "get(",
    "concat(",
    "bitshl(1, 63)",
    "int('9')",
];

const MAX_VALUE: usize = 256 << 20;

struct SampleScope;

static VALUES: LazyLock<Value> = LazyLock::new(|| {
    Value::from(json!({
        "Facts": {"a": 1, "list": [3, 1, 2], "text": "héllo", "float": 2.5, "nothing": null, "flag": true},
        "Data": {"map": {"b": {"c": [1, "x", null]}, "ä": 1}, "text": "a,b,c", "empty": "", "big": i64::MAX},
        "Environ": {"HOME": "/root"},
    }))
});

impl Scope for SampleScope {
    fn name(&self, name: &str) -> Option<Value> {
        VALUES.get(name).cloned()
    }

    fn names(&self) -> Vec<String> {
        ["Facts", "Data", "Environ"].map(str::to_owned).to_vec()
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, FunctionError> {
        match arguments {
            [first, ..] => Ok(first.clone()),
            [] => {
                Err(FunctionError::new(DiagnosticKind::InvalidOperand, format!("{function} has no argument")))
            }
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn strict(&self) -> bool {
        true
    }
}

pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    let known = ParseContext {
        names: &[("Facts", NameKind::Map), ("Data", NameKind::Map), ("Environ", NameKind::Map)],
        functions: &[
            Function { name: "lookup", min_arguments: 1, max_arguments: 2 },
            Function { name: "file", min_arguments: 1, max_arguments: 1 },
        ],
    };
    let expression = match Expression::parse_with(&text, &known) {
        Ok(expression) => expression,
        Err(error) => return check(&error, &text),
    };
    assert_eq!(expression.text(), text);
    let mentions = expression.mentions();
    for name in &mentions.names {
        assert!(text.get(name.range.clone()).is_some(), "{name:?}");
    }
    match expression.evaluate(&SampleScope) {
        Ok(value) => {
            assert!(value.footprint() < MAX_VALUE, "{} bytes", value.footprint());
            assert_eq!(
                expression.evaluate(&SampleScope).map(|value| value.to_json()).ok(),
                Some(value.to_json()),
                "another value"
            );
        }
        Err(error) => check(&error, &text),
    }
}

fn check(error: &ccm_expr::Error, text: &str) {
    assert!(text.get(error.range.clone()).is_some(), "{error:?}");
    assert!(!error.message.is_empty(), "{error:?}");
    assert!(error.message.len() < 4 << 10, "{} bytes", error.message.len());
}
