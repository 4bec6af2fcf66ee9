//! Verdicts of Goss for rules and facts, and where ours differ. Nearly all rows were seen in runs of Goss 489ebb1.

use std::collections::{BTreeMap, HashSet};

use ccm_check::{AttributeOutcome, CheckStatus, judge_all};
use ccm_model::Severity;
use serde_json::Value as Json;

use crate::support::{TableFacts, read, shown};

/// Compares one row; returns the difference.
fn difference(row: &Json) -> Option<String> {
    let rule = row["rule"].as_str().expect("a rule");
    let (read, sources) = read(rule, &row["files"]);
    let (rules, mut warnings) = match (read, row["verdict"] == "error") {
        (Err(found), true) => {
            let is_located =
                found.iter().all(|found| found.severity != Severity::Error || found.span().is_some());
            return (!is_located)
                .then(|| format!("an error without a location: {:?}", shown(&found, &sources)));
        }
        (Ok(_), true) => return Some("no error at load".to_owned()),
        (Err(found), false) => return Some(format!("{:?}", shown(&found, &sources))),
        (Ok((rules, found)), false) => (rules, shown(&found, &sources)),
    };
    let mut facts = TableFacts { answers: &row["facts"], asked: Vec::new() };
    let report = judge_all(&rules, &mut facts);
    let verdict = match report.status() {
        CheckStatus::Ok if report.rules.iter().all(ccm_check::RuleResult::is_skipped) => "skip",
        CheckStatus::Ok => "pass",
        CheckStatus::Critical => "fail",
        CheckStatus::Warning | CheckStatus::Unknown => "unknown",
    };
    let results: BTreeMap<&str, &str> = report
        .attributes()
        .map(|(_, result)| {
            let outcome = match &result.outcome {
                AttributeOutcome::Passed => "pass",
                AttributeOutcome::Failed { .. } => "fail",
                AttributeOutcome::Error(_) => "fail (error)",
                AttributeOutcome::Skipped => "skip",
                AttributeOutcome::Unknown(_) => "unknown",
            };
            (result.attribute.goss_property(), outcome)
        })
        .collect();
    if row["verdict"] != verdict || row["results"] != serde_json::json!(results) {
        return Some(format!("{verdict} {results:?}"));
    }
    // Whatever is skipped is not asked for, and nothing is asked for twice.
    let asked: HashSet<_> = facts.asked.iter().collect();
    let skipped = report.attributes().filter(|(_, result)| result.outcome == AttributeOutcome::Skipped);
    if asked.len() != facts.asked.len()
        || skipped.into_iter().any(|(_, result)| asked.contains(&result.attribute))
    {
        return Some(format!("asked for {:?}", facts.asked));
    }
    if let Some(given) = row["facts"].as_object().filter(|given| given.len() != asked.len()) {
        return Some(format!("asked for {:?} of {given:?}", facts.asked));
    }
    warnings.extend(report.rules.into_iter().flat_map(|rule| rule.warnings));
    (warnings.is_empty() == row["warns"].as_bool().unwrap_or_default()).then(|| format!("{warnings:?}"))
}

#[test]
fn rules_have_the_verdicts_of_goss() {
    let rows: Vec<Json> =
        include_str!("goss.jsonl").lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    assert_eq!(rows.len(), 218);
    let different: Vec<String> =
        rows.iter().filter_map(|row| Some(format!("{}: {}", row["id"], difference(row)?))).collect();
    assert!(different.is_empty(), "{} rows:\n{}", different.len(), different.join("\n"));
}
