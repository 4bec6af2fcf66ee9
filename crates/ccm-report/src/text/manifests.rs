//! End of the text report of several manifests.

use std::fmt;

use super::layout::{FAILURE, PLAIN, Page, WARNING, few};
use crate::manifests::{ManifestResult, counted, with_outcome};
use crate::store::RunOutcome;

/// Writes the names of the manifests that did not succeed, and the number of manifests with each outcome.
pub(super) fn write(page: &mut Page<'_>, results: &[ManifestResult], noop: bool) -> fmt::Result {
    for (outcome, label, style) in [
        (Some(RunOutcome::Failed), "failed", FAILURE),
        (Some(RunOutcome::Stopped), "stopped", WARNING),
        (None, "not run", PLAIN),
    ] {
        let names = with_outcome(results, outcome);
        if !names.is_empty() {
            page.text(style, 2, &format!("{label}: {}", few(&names)))?;
        }
    }
    let counts: Vec<String> =
        counted(results, noop).iter().map(|(word, count)| format!("{count} {word}")).collect();
    let has_failed = results.iter().any(|result| result.outcome == Some(RunOutcome::Failed));
    let style = if has_failed { FAILURE } else { PLAIN };
    page.text(style, 0, &format!("{} manifests: {}", results.len(), counts.join(", ")))
}
