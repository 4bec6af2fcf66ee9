//! The report in version 13 of the Test Anything Protocol.

use ccm_runtime::AttributeOutcome;
use ccm_runtime::model::{escape_control, escape_json};
use serde_json::json;

use super::CheckedFile;
use super::text::Counts;

/// Returns a line for each attribute, with the reason of one that is not as expected.
pub(super) fn report(checked: &CheckedFile<'_>) -> String {
    let mut text = format!("TAP version 13\n1..{}\n", Counts::of(checked).total());
    for (number, (rule, result)) in (1..).zip(checked.report.attributes()) {
        let what = format!("{} {} {}", rule.kind.name(), rule.id, result.attribute.name());
        let what = escape_control(&what).replace('\\', "\\\\").replace('#', "\\#");
        let (word, end) = match &result.outcome {
            AttributeOutcome::Passed => ("ok", ""),
            AttributeOutcome::Skipped => ("ok", " # SKIP"),
            _ => ("not ok", ""),
        };
        text += &format!("{word} {number} - {what}{end}\n");
        if let Some(reason) = result.outcome.reason() {
            text += &format!("  ---\n  message: {}\n  ...\n", escape_json(&json!(reason).to_string()));
        }
    }
    text
}
