//! Matchers of any shape on any value, compared with a second reader.

use ccm_check::{AttributeOutcome, judge};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

use crate::naive;
use crate::support::{TableFacts, read, shown};

const TEXTS: &[&str] =
    &["", "a", "b", "ab", "aab", "b\na", "a\nb\n", "1", "-2", "1.5", " 2 ", "true", "1.2.3", "2.0.0", "é"];

const DOCUMENTS: &[&str] = &["{\"a\":{\"b\":2},\"c\":[\"x\",1]}", "[1,\"a\",null]", "{\"a\":\"15\"}", "{"];

const PATTERNS: &[&str] = &["a", "!a", "b", "\\!a", "", "/a.*b/", "!/^b/", "/b$/"];

const REGEXES: &[&str] = &["a.b", "^a*b", "b$", "a*", "^$", "é"];

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        any::<bool>().prop_map(Json::from),
        (-3..4_i64).prop_map(Json::from),
        select(&[0.5, 1.5, -2.25][..]).prop_map(Json::from),
        select(TEXTS).prop_map(Json::from),
        select(DOCUMENTS).prop_map(Json::from),
    ]
}

fn value() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Json::from),
            vec((select(&["a", "b", "ab"][..]), inner), 0..3).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

fn leaf() -> impl Strategy<Value = Json> {
    prop_oneof![
        scalar(),
        value().prop_map(|value| json!({"equal": value})),
        (
            select(&["have-prefix", "have-suffix", "contain-substring"][..]),
            select(&["", "a", "b\n", "1"][..])
        )
            .prop_map(|(name, text)| json!({name: text})),
        select(REGEXES).prop_map(|text| json!({"match-regexp": text})),
        vec(select(PATTERNS), 0..4).prop_map(|patterns| json!({"have-patterns": patterns})),
        (0..5).prop_map(|length| json!({"have-len": length})),
        (select(&["gt", "ge", "lt", "le"][..]), -3..4).prop_map(|(name, number)| json!({name: number})),
        select(&[">=1.2.3", ">=1.10.0"][..]).prop_map(|text| json!({"semver-constraint": text})),
    ]
}

fn matcher() -> impl Strategy<Value = Json> {
    leaf().prop_recursive(3, 12, 4, |inner| {
        let lists = &["and", "or", "contain-elements", "consist-of"][..];
        prop_oneof![
            (select(&["not", "have-key", "contain-element"][..]), inner.clone())
                .prop_map(|(name, inner)| json!({name: inner})),
            (select(lists), vec(inner.clone(), 0..5)).prop_map(|(name, list)| json!({name: list})),
            vec(inner.clone(), 0..4).prop_map(Json::from),
            vec((select(&["a", "a.b", "c.1", "1", "x"][..]), inner), 1..3).prop_map(|paths| {
                let paths: Json = paths.into_iter().map(|(path, inner)| (path.to_owned(), inner)).collect();
                json!({"gjson": paths})
            }),
        ]
    })
}

/// Judges values, each by a matcher, in one document, and compares the outcomes with those of the second reader.
fn compare(cases: &[(Json, Json)]) -> Result<(), TestCaseError> {
    let rules: Json = cases
        .iter()
        .enumerate()
        .map(|(at, (matcher, content))| (at.to_string(), json!({"content": content, "matches": matcher})))
        .collect();
    let (read, sources) = read(&json!({"matching": rules}).to_string(), &Json::Null);
    let (rules, _) = read.map_err(|found| TestCaseError::fail(shown(&found, &sources).join("\n")))?;
    for (rule, (matcher, content)) in rules.iter().zip(cases) {
        let result = judge(rule, &mut TableFacts { answers: &Json::Null, asked: Vec::new() });
        let outcome = match &result.results[0].outcome {
            AttributeOutcome::Passed => Some(true),
            AttributeOutcome::Failed { .. } => Some(false),
            AttributeOutcome::Error(_) => None,
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(outcome, naive::judge(matcher, content), "{} {}", matcher, content);
    }
    Ok(())
}

#[test]
fn every_plain_matcher_agrees_on_every_plain_value() {
    let mut values: Vec<Json> = TEXTS.iter().chain(DOCUMENTS).map(|text| json!(text)).collect();
    values.extend([json!(true), json!(false), json!(0), json!(1), json!(-2), json!(1.5), json!(42)]);
    values.extend([
        json!([]),
        json!(["1"]),
        json!(["a", "b"]),
        json!(["1.2.3", "2.0.0"]),
        json!([1, 1.5, true]),
    ]);
    values.extend([json!({}), json!({"a": 1, "b": "b"}), json!([["a"], {"a": []}])]);
    let mut matchers = values.clone();
    matchers.retain(|matcher| !matcher.is_object() && *matcher != json!([["a"], {"a": []}]));
    for value in &values {
        matchers.push(json!({"equal": value}));
    }
    for operand in ["", "a", "b", "1", "b\n", "\n"] {
        for name in ["have-prefix", "have-suffix", "contain-substring"] {
            matchers.push(json!({name: operand}));
        }
    }
    for operand in [-2.0, 0.0, 1.0, 1.5, 2.0, 42.0] {
        for name in ["gt", "ge", "lt", "le"] {
            matchers.push(json!({name: operand}));
        }
    }
    matchers.extend(REGEXES.iter().map(|regex| json!({"match-regexp": regex})));
    matchers.extend(PATTERNS.iter().map(|pattern| json!({"have-patterns": [pattern]})));
    matchers.extend((0..6).map(|length| json!({"have-len": length})));
    matchers.extend([json!({"semver-constraint": ">=1.2.3"}), json!({"semver-constraint": ">=1.10.0"})]);
    matchers.extend([json!({"and": []}), json!({"or": []}), json!({"have-key": "a"})]);
    let cases: Vec<(Json, Json)> = matchers
        .iter()
        .flat_map(|matcher| values.iter().map(move |value| (matcher.clone(), value.clone())))
        .collect();
    assert!(cases.len() > 2000);
    for part in cases.chunks(1000) {
        compare(part).expect("the same outcomes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nested_matchers_agree(cases in vec((matcher(), value()), 10)) {
        compare(&cases)?;
    }

    #[test]
    fn assignments_of_elements_agree(cases in vec((assignment(), vec(select(ELEMENTS), 1..5)), 40)) {
        let cases: Vec<_> = cases.into_iter().map(|(matcher, content)| (matcher, json!(content))).collect();
        compare(&cases)?;
    }
}

const ELEMENTS: &[&str] = &["a", "b", "ab", "ba"];

/// Matchers of lists whose elements compete for the elements of a value.
fn assignment() -> impl Strategy<Value = Json> {
    let element = prop_oneof![
        select(ELEMENTS).prop_map(Json::from),
        (select(&["have-prefix", "have-suffix"][..]), select(&["a", "b"][..]))
            .prop_map(|(name, text)| json!({name: text})),
        Just(json!({"contain-substring": "a"})),
        Just(json!({"gt": 1})),
    ];
    (select(&["", "contain-elements", "consist-of"][..]), vec(element, 1..5))
        .prop_map(|(name, list)| if name.is_empty() { json!(list) } else { json!({name: list}) })
}
