//! Results of several manifests that are applied together.

use ccm_model::RunSummary;

use crate::store::RunOutcome;

/// Result of one of several manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestResult {
    /// Name of the manifest in records.
    pub manifest: String,
    /// Outcome of its run. `None` if the manifest was not run.
    pub outcome: Option<RunOutcome>,
}

impl ManifestResult {
    /// Builds the result of a run.
    pub fn of_run(manifest: &str, summary: &RunSummary, exit_code: u8) -> Self {
        let outcome = RunOutcome::of(&summary.counts, summary.stopped.as_ref(), exit_code);
        Self { manifest: manifest.to_owned(), outcome: Some(outcome) }
    }

    /// Builds the result of a manifest that was not run.
    pub fn not_run(manifest: &str) -> Self {
        Self { manifest: manifest.to_owned(), outcome: None }
    }

    /// Returns `true` if the manifest was run and everything succeeded.
    pub(crate) fn is_success(&self) -> bool {
        matches!(self.outcome, Some(RunOutcome::Unchanged | RunOutcome::Changed))
    }
}

/// Numbers of manifests with each outcome, in the order of the report; none is 0.
pub(crate) fn counted(results: &[ManifestResult], noop: bool) -> Vec<(&'static str, usize)> {
    let changed = if noop { "would change" } else { "changed" };
    let kinds = [
        (Some(RunOutcome::Unchanged), "unchanged"),
        (Some(RunOutcome::Changed), changed),
        (Some(RunOutcome::Failed), "failed"),
        (Some(RunOutcome::Stopped), "stopped"),
        (None, "not run"),
    ];
    let count = |outcome| results.iter().filter(|result| result.outcome == outcome).count();
    kinds.into_iter().map(|(outcome, word)| (word, count(outcome))).filter(|(_, count)| *count > 0).collect()
}

/// Names of the manifests with an outcome.
pub(crate) fn with_outcome(results: &[ManifestResult], outcome: Option<RunOutcome>) -> Vec<String> {
    let with = results.iter().filter(|result| result.outcome == outcome);
    with.map(|result| ccm_model::escape_control(&result.manifest).into_owned()).collect()
}
