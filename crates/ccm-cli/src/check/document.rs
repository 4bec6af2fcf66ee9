//! The report for programs.

use ccm_runtime::{AttributeOutcome, AttributeResult, RuleResult, printed};
use serde_json::{Value, json};

use super::CheckedFile;
use super::text::{Counts, word};

/// Returns the report as a document.
pub(super) fn report(checked: &CheckedFile<'_>) -> String {
    let Counts { passed, failed, skipped, unknown } = Counts::of(checked);
    let rules: Vec<Value> =
        checked.report.rules.iter().enumerate().map(|(at, result)| rule(checked, at, result)).collect();
    printed::document(&json!({
        "protocol": "io.choria.ccm.v1.check",
        "file": checked.name,
        "status": checked.report.status().as_str(),
        "summary": checked.report.summary(),
        "counts": { "passed": passed, "failed": failed, "skipped": skipped, "unknown": unknown },
        "duration": checked.duration.as_secs_f64(),
        "rules": rules,
    }))
}

fn rule(checked: &CheckedFile<'_>, position: usize, result: &RuleResult) -> Value {
    let mut rule = json!({ "kind": result.kind.name(), "id": result.id, "status": result.status().as_str() });
    let written = checked.rule(position);
    if let Some(title) = written.and_then(|written| written.title.as_deref()) {
        rule["title"] = json!(title);
    }
    if let Some(meta) = written.and_then(|written| written.meta.as_ref()) {
        rule["meta"] = meta.clone();
    }
    rule["results"] = result.results.iter().map(attribute).collect();
    if !result.warnings.is_empty() {
        rule["warnings"] = json!(result.warnings);
    }
    rule
}

fn attribute(result: &AttributeResult) -> Value {
    let mut value = json!({ "attribute": result.attribute.name(), "outcome": word(&result.outcome) });
    match &result.outcome {
        AttributeOutcome::Failed { expected, found } => {
            value["expected"] = json!(expected);
            value["found"] = json!(found);
        }
        AttributeOutcome::Error(reason) | AttributeOutcome::Unknown(reason) => {
            value["reason"] = json!(reason);
        }
        AttributeOutcome::Passed | AttributeOutcome::Skipped => {}
    }
    value
}
