//! The report for programs.

use ccm_runtime::{
    AttributeOutcome, AttributeResult, CheckedResource, CheckedRules, ManifestCheckReport, Rule, RuleResult,
    RulesReport, printed,
};
use serde_json::{Value, json};

use super::outline::{Outline, word};

/// Returns the report about a Goss file as a document.
pub(super) fn of_rules(rules: &CheckedRules<'_>, report: &RulesReport, outline: &Outline) -> String {
    // There is one result for each rule, in the same order.
    let written = rules.rules().iter().map(Some).chain(std::iter::repeat(None));
    let results: Vec<Value> = report.rules.iter().zip(written).map(rule).collect();
    printed::document(&json!({
        "protocol": "io.choria.ccm.v1.check",
        "file": outline.name,
        "status": report.status().as_str(),
        "summary": outline.summary,
        "counts": counts(outline),
        "duration": outline.duration.as_secs_f64(),
        "rules": results,
    }))
}

/// Returns the report about the health checks of a manifest as a document.
pub(super) fn of_manifest(report: &ManifestCheckReport, outline: &Outline) -> String {
    printed::document(&json!({
        "protocol": "io.choria.ccm.v1.manifest_check",
        "manifest": outline.name,
        "status": report.status().as_str(),
        "summary": outline.summary,
        "counts": counts(outline),
        "duration": outline.duration.as_secs_f64(),
        "resources": report.resources.iter().map(resource).collect::<Vec<Value>>(),
    }))
}

fn counts(outline: &Outline) -> Value {
    outline.counts.iter().map(|(word, count)| (word.replace(' ', "_"), json!(count))).collect()
}

fn resource(resource: &CheckedResource) -> Value {
    let mut value = json!({
        "type": &*resource.id.type_name,
        "name": &*resource.id.name,
        "status": resource.status().as_str(),
        "health_check": resource.results,
    });
    if let Some(error) = &resource.error {
        value["error"] = json!(error);
    }
    if !resource.warnings.is_empty() {
        value["warnings"] = json!(resource.warnings);
    }
    value
}

fn rule((result, written): (&RuleResult, Option<&Rule>)) -> Value {
    let mut rule = json!({ "kind": result.kind.name(), "id": result.id, "status": result.status().as_str() });
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
