//! The report for people.

use ccm_runtime::AttributeOutcome;
use ccm_runtime::model::{display_duration, escape_control};

use super::CheckedFile;

/// Returns each rule with its attributes, and a line with the sums.
pub(super) fn report(checked: &CheckedFile<'_>) -> String {
    let mut text = String::new();
    for (position, rule) in checked.report.rules.iter().enumerate() {
        let title = checked.rule(position).and_then(|rule| rule.title.as_deref());
        let title = title.map(|title| format!(" ({title})")).unwrap_or_default();
        text += &escape_control(&format!("{} {}{title}", rule.kind.name(), rule.id));
        text.push('\n');
        for result in &rule.results {
            let (word, name) = (word(&result.outcome), result.attribute.name());
            let reason = result.outcome.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
            text += &format!("  {word:<7} {name}{}\n", escape_control(&reason));
        }
        for warning in &rule.warnings {
            text += &format!("  warning {}\n", escape_control(warning));
        }
    }
    let counts = Counts::of(checked);
    let Counts { passed, failed, skipped, unknown } = counts;
    let took = display_duration(checked.duration);
    text + &format!("\n{passed} passed, {failed} failed, {skipped} skipped, {unknown} unknown in {took}\n")
}

/// Returns the word for an outcome.
pub(super) fn word(outcome: &AttributeOutcome) -> &'static str {
    match outcome {
        AttributeOutcome::Passed => "passed",
        AttributeOutcome::Failed { .. } => "failed",
        AttributeOutcome::Error(_) => "error",
        AttributeOutcome::Skipped => "skipped",
        AttributeOutcome::Unknown(_) => "unknown",
    }
}

/// Numbers of attributes by outcome. An error is a failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
    pub(super) unknown: usize,
}

impl Counts {
    pub(super) fn of(checked: &CheckedFile<'_>) -> Self {
        let report = checked.report;
        Self {
            passed: report.count(|outcome| *outcome == AttributeOutcome::Passed),
            failed: report.count(AttributeOutcome::is_failure),
            skipped: report.count(|outcome| *outcome == AttributeOutcome::Skipped),
            unknown: report.count(|outcome| matches!(outcome, AttributeOutcome::Unknown(_))),
        }
    }

    pub(super) fn total(self) -> usize {
        self.passed + self.failed + self.skipped + self.unknown
    }
}
