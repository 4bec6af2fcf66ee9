//! Expressions with the value or the stage of the error of the reference engine. Intended differences are
//! listed in `differences.md` beside the cases; a case with one has `ours`, the stage of our error.

use ccm_expr::{Stage, Value};
use serde_json::Value as Json;

use crate::scope::JsonScope;

fn read() -> (JsonScope, Vec<Json>) {
    let mut lines = include_str!("cases.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).expect("a line of JSON"));
    let first = lines.next().expect("the environment");
    let scope = JsonScope { names: first["env"].clone().into(), strict: false, open: true };
    (scope, lines.collect())
}

/// Converts to JSON in which whole numbers are equal whatever their kind.
fn plain(value: &Json) -> Json {
    match value {
        Json::Number(number) => number.as_f64().map_or(Json::Null, Json::from),
        Json::Array(list) => Json::Array(list.iter().map(plain).collect()),
        Json::Object(map) => {
            Json::Object(map.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

#[test]
fn every_case_matches_the_reference() {
    let (scope, cases) = read();
    let mut wrong = Vec::new();
    for case in &cases {
        let text = case["expr"].as_str().expect("an expression");
        let found = scope.evaluate(text);
        // An intended difference: the stage of our error, where the reference has a value.
        let stage = case.get("ours").or(case.get("when"));
        let fine = match (&found, stage.and_then(Json::as_str)) {
            (Ok(value), None) => match case.get("value_text").and_then(Json::as_str) {
                Some(written) => scope
                    .evaluate(&format!("string({text})"))
                    .is_ok_and(|shown| shown == Value::text(written)),
                None => plain(&value.to_json()) == plain(&case["value"]),
            },
            (Err(error), Some("compile")) => error.stage == Stage::Compile,
            (Err(error), Some("run")) => error.stage == Stage::Run,
            _ => false,
        };
        if !fine {
            wrong.push(format!("{text}\n    wanted {case}\n    found  {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
