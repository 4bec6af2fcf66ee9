//! The report for monitoring systems: a line with performance data, and a line for each attribute that is not as expected.

use ccm_runtime::model::escape_control;
use ccm_runtime::status::CheckLevel;

use super::CheckedFile;
use super::text::{Counts, word};
use crate::error::CommandError;

/// Maximum number of lines below the first. Monitoring systems cut longer texts.
const MAX_LINES: usize = 50;

/// Returns the report.
pub(super) fn report(checked: &CheckedFile<'_>) -> String {
    let counts = Counts::of(checked);
    let mut text = format!(
        "{}: {}|total={};;;0 failed={};;;0 skipped={};;;0 unknown={};;;0 duration={:.3}s;;;0\n",
        checked.level().word(),
        plain(&checked.report.summary()),
        counts.total(),
        counts.failed,
        counts.skipped,
        counts.unknown,
        checked.duration.as_secs_f64(),
    );
    let results = checked.report.attributes().filter_map(|(rule, result)| {
        let reason = result.outcome.reason()?;
        let (kind, attribute) = (rule.kind.name(), result.attribute.name());
        Some(format!("{}: {kind} {} {attribute}: {reason}", word(&result.outcome), rule.id))
    });
    let warnings = checked.report.rules.iter().flat_map(|rule| {
        rule.warnings.iter().map(|warning| format!("warning: {} {}: {warning}", rule.kind.name(), rule.id))
    });
    for line in results.chain(warnings).take(MAX_LINES) {
        text += &format!("{}\n", plain(&line));
    }
    text
}

/// Returns the report of a file that was not judged.
pub(super) fn unknown(error: &CommandError) -> String {
    let text = anstream::adapter::strip_str(&error.text()).to_string();
    let line =
        text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("error: nothing was judged");
    format!("{}: {}\n", CheckLevel::Unknown.word(), plain(line))
}

/// Returns a line without the character that begins performance data.
fn plain(line: &str) -> String {
    escape_control(line).replace('|', "¦")
}
