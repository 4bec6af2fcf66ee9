//! The report in the XML of `JUnit`, as build servers read it.

use ccm_runtime::{AttributeOutcome, AttributeResult, RuleResult};

use super::CheckedFile;
use super::text::Counts;

/// Returns one suite with a test for each attribute. What could not be judged is an error.
pub(super) fn report(checked: &CheckedFile<'_>) -> String {
    let counts = Counts::of(checked);
    let errors = checked
        .report
        .count(|outcome| matches!(outcome, AttributeOutcome::Error(_) | AttributeOutcome::Unknown(_)));
    let failures = checked.report.count(|outcome| matches!(outcome, AttributeOutcome::Failed { .. }));
    let sums = format!(
        "name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{}\" time=\"{:.3}\"",
        escaped(checked.name),
        counts.total(),
        counts.skipped,
        checked.duration.as_secs_f64(),
    );
    let mut text =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {sums}>\n  <testsuite {sums}>\n");
    for (rule, result) in checked.report.attributes() {
        text += &test_case(rule, result);
    }
    text + "  </testsuite>\n</testsuites>\n"
}

fn test_case(rule: &RuleResult, result: &AttributeResult) -> String {
    let name = escaped(&format!("{} {}", rule.id, result.attribute.name()));
    let head = format!("    <testcase classname=\"{}\" name=\"{name}\" time=\"0\"", rule.kind.name());
    let reason = escaped(&result.outcome.reason().unwrap_or_default());
    let content = match &result.outcome {
        AttributeOutcome::Passed => return format!("{head}/>\n"),
        AttributeOutcome::Skipped => "<skipped/>".to_owned(),
        AttributeOutcome::Failed { .. } => format!("<failure message=\"{reason}\"/>"),
        AttributeOutcome::Error(_) | AttributeOutcome::Unknown(_) => format!("<error message=\"{reason}\"/>"),
    };
    format!("{head}>\n      {content}\n    </testcase>\n")
}

/// Returns a text for an attribute of XML. Characters that XML can't hold are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            '\t' => escaped += "&#9;",
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
