//! Large and hostile documents.

use ccm_check::{Attribute, Fact, FactError, Facts, Rule};
use ccm_check::{MAX_RULES, judge_all};
use ccm_model::DiagnosticKind;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};

use crate::support::{TableFacts, read, rule};

fn kinds(text: &str) -> Vec<DiagnosticKind> {
    let (read, _) = read(text, &Json::Null);
    read.err().unwrap_or_default().iter().map(|found| found.kind).collect()
}

#[test]
fn ten_thousand_rules_are_read_and_judged() {
    let body = |count: usize| -> String {
        (0..count)
            .map(|at| format!("  /f/{at}: {{exists: true, contents: [\"/^a.*b$/\", \"!x{at}\"]}}\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    let text = format!("file:\n{}", body(MAX_RULES));
    let (rules, _) = read(&text, &Json::Null).0.expect("rules");
    assert_eq!(rules.len(), MAX_RULES);
    let answers = json!({"exists": true, "contents": "a b\nab\n"});
    let report = judge_all(&rules, &mut TableFacts { answers: &answers, asked: Vec::new() });
    assert_eq!(report.summary(), "20000 passed");
    assert_eq!(kinds(&format!("file:\n{}", body(MAX_RULES + 1))), [DiagnosticKind::LimitExceeded]);
}

#[test]
fn errors_end_after_a_thousand() {
    let rules: Vec<String> = (0..MAX_RULES).map(|at| format!("  /f/{at}: {{exsts: true}}\n")).collect();
    assert_eq!(kinds(&format!("file:\n{}", rules.concat())).len(), 1000);
}

#[test]
fn expressions_and_matchers_have_limits() {
    let matching = |matcher: &str| format!("matching: {{m: {{content: a, matches: {matcher}}}}}");
    let nested = |count: usize| matching(&format!("{}a{}", "{not: ".repeat(count), "}".repeat(count)));
    let listed = |count: usize| matching(&format!("{{or: [{}]}}", "a, ".repeat(count)));
    let patterns = |count: usize| {
        let patterns: Vec<String> = (0..count).map(|at| format!("'/x{at}/', ")).collect();
        matching(&format!("{{have-patterns: [{}]}}", patterns.concat()))
    };
    let large = |count: usize| {
        let patterns: Vec<String> = (0..count).map(|at| format!("'/{at}.{{1,255}}/', ")).collect();
        matching(&format!("{{have-patterns: [{}]}}", patterns.concat()))
    };
    let long = |count: usize| matching(&format!("{{match-regexp: '{}'}}", "a".repeat(count)));
    for (text, is_allowed) in [
        (nested(32), true),
        (nested(33), false),
        (listed(256), true),
        (listed(257), false),
        (
            matching(
                "{have-patterns: ['/^.{1,255}$/', '/\\\\w{1,64}@\\\\S{1,255}/', '/(?i)straße|\\\\pL+/']}",
            ),
            true,
        ),
        (patterns(1000), true),
        (patterns(1001), false),
        (large(64), true),
        (large(65), false),
        (long(5000), true),
        (long(20_000), false),
        (matching("{match-regexp: '(a{1000}){1000}'}"), false),
        (matching(&format!("{{match-regexp: '{}a{}'}}", "(".repeat(200), ")".repeat(200))), false),
    ] {
        assert_eq!(kinds(&text).is_empty(), is_allowed, "{}", &text[..text.len().min(80)]);
    }
}

#[test]
fn an_assignment_of_many_elements_ends() {
    let matchers: Vec<Json> = (0..256).map(|_| json!({"match-regexp": "a|b"})).collect();
    let mut content = vec!["a"; 255];
    content.extend(vec!["c"; 9000]);
    let text = json!({"matching": {"m": {"content": content, "matches": {"contain-elements": matchers}}}});
    let rule = rule(&text.to_string());
    let report = judge_all(&[rule], &mut TableFacts { answers: &Json::Null, asked: Vec::new() });
    let summary = report.summary();
    assert!(summary.starts_with("1 of 1 failed: matching m matches (expected a list with ["), "{summary}");
    assert!(summary.len() < 200, "{summary}");
}

/// Facts that are the same text for every question.
struct OneText;

impl Facts for OneText {
    fn fact(&mut self, _: &Rule, _: Attribute) -> Result<Fact, FactError> {
        Ok("{\"a\": [1, \"x\"]}\n".into())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_rules_are_read_or_refused(
        row in any::<Index>(),
        damages in proptest::collection::vec((any::<Index>(), 0..6_usize, select(WORDS)), 1..5),
    ) {
        let rows: Vec<&str> = include_str!("goss.jsonl").lines().collect();
        let row: Json = serde_json::from_str(rows[row.index(rows.len())]).expect("a row");
        let mut text: Vec<char> = row["rule"].as_str().expect("a rule").chars().collect();
        for (at, removed, word) in damages {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, word.chars());
        }
        let text: String = text.into_iter().collect();
        match read(&text, &row["files"]).0 {
            Ok((rules, _)) => {
                let report = judge_all(&rules, &mut OneText);
                prop_assert_eq!(report.rules.len(), rules.len());
                prop_assert!(!report.summary().contains('\n'));
            }
            Err(found) => prop_assert!(found.iter().any(|found| found.span().is_some()), "{}", text),
        }
    }
}

const WORDS: &[&str] = &[
    "",
    "{",
    "}",
    "[",
    "]",
    ": ",
    ", ",
    "\"",
    "\n",
    "  ",
    "null",
    "true",
    "5",
    "-",
    "&a ",
    "*a",
    "{{",
    "!",
    "/",
    "\\",
    "{not: ",
    "{or: [",
    "{gjson: {\"a.#(\": 1}}",
    "{match-regexp: \"(\"}",
    "file",
    "exists",
    "gossfile",
    "\u{1b}",
    "é",
];
