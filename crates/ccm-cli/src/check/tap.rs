//! The report in version 13 of the Test Anything Protocol.

use ccm_runtime::model::{escape_control, escape_json};
use serde_json::json;

use super::outline::{Outline, TestOutcome};

/// Returns a line for each test, with the reason of one that is not as expected.
pub(super) fn report(outline: &Outline) -> String {
    let mut text = format!("TAP version 13\n1..{}\n", outline.total());
    for (number, (subject, test)) in (1..).zip(outline.tests()) {
        let what = format!("{} {}", subject.full_name, test.name);
        let what = escape_control(&what).replace('\\', "\\\\").replace('#', "\\#");
        let (word, end) = match test.outcome {
            TestOutcome::Passed | TestOutcome::Warned => ("ok", ""),
            TestOutcome::Skipped => ("ok", " # SKIP"),
            TestOutcome::Failed | TestOutcome::Error => ("not ok", ""),
        };
        text += &format!("{word} {number} - {what}{end}\n");
        if let Some(reason) = &test.text {
            text += &format!("  ---\n  message: {}\n  ...\n", escape_json(&json!(reason).to_string()));
        }
    }
    text
}
