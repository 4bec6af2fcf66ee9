//! The health checks of a manifest alone.

use std::time::Duration;

use ccm_host::{Cancellation, CancellationLevel, Clock};
use ccm_model::{
    CheckCounts, CheckStatus, Event, HealthCheckResult, Outcome, ResourceId, Transaction, escape_control,
};

use crate::begin::BeginError;
use crate::exit::ExitCode;
use crate::manifest::LoadedManifest;
use crate::rule_file::JudgeOptions;
use crate::run::{RunMode, RunOptions};
use crate::sink::Emitted;

/// Maximum number of checks that a summary names.
const MAX_NAMED: usize = 3;

/// Results of the health checks of a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestCheckReport {
    /// Resources that have checks, in the order of the run. Those that are not managed are left out.
    pub resources: Vec<CheckedResource>,
    /// Number of checks with each status.
    pub counts: CheckCounts,
    /// Duration of the last judgement of all checks.
    pub duration: Duration,
    /// Exit code: that of a run with these results.
    pub code: ExitCode,
}

/// Resource with the results of its health checks.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedResource {
    /// The resource.
    pub id: ResourceId,
    /// Results of its checks.
    pub results: Vec<HealthCheckResult>,
    /// Reason why its checks could not run.
    pub error: Option<String>,
    /// Problems beside the results, such as a process that was left running.
    pub warnings: Vec<String>,
}

impl CheckedResource {
    fn of(transaction: Transaction) -> Option<Self> {
        let Transaction { id, outcome, health_checks: results, warnings, .. } = transaction;
        let error = match outcome {
            Outcome::Failed(failure) if results.is_empty() => Some(failure.one_line()),
            _ => None,
        };
        let has_content = !results.is_empty() || error.is_some();
        has_content.then_some(Self { id, results, error, warnings })
    }

    /// Returns the most severe status.
    pub fn status(&self) -> CheckStatus {
        let unknown = self.error.iter().map(|_| CheckStatus::Unknown);
        let statuses = self.results.iter().map(|result| result.status);
        statuses.chain(unknown).fold(CheckStatus::Ok, CheckStatus::worst)
    }
}

impl ManifestCheckReport {
    /// Returns the most severe status of all checks.
    pub fn status(&self) -> CheckStatus {
        self.resources.iter().map(CheckedResource::status).fold(CheckStatus::Ok, CheckStatus::worst)
    }

    /// Returns the result in a line: `1 of 3 failed: web of file#/etc/site.conf`.
    pub fn summary(&self) -> String {
        let mut named = Vec::new();
        let (mut total, mut warned) = (0, 0);
        for resource in &self.resources {
            let id = escape_control(&resource.id.to_string()).into_owned();
            total += resource.results.len() + usize::from(resource.error.is_some());
            warned += resource.results.iter().filter(|result| result.status == CheckStatus::Warning).count();
            let failed = resource.results.iter().filter(|result| result.status.is_failure());
            named.extend(failed.map(|result| format!("{} of {id}", escape_control(&result.name))));
            named.extend(resource.error.iter().map(|_| format!("the health checks of {id}")));
        }
        let more = named.len().saturating_sub(MAX_NAMED);
        let failed = named.len();
        if failed == 0 {
            return match warned {
                _ if total == 0 => "no health check was run".to_owned(),
                0 => format!("{total} ok"),
                warned => format!("{} ok, {warned} with a warning", total - warned),
            };
        }
        named.truncate(MAX_NAMED);
        named.extend((more > 0).then(|| format!("{more} more")));
        format!("{failed} of {total} failed: {}", named.join(", "))
    }
}

impl LoadedManifest<'_> {
    /// Runs the health checks of all resources and of the manifest, and changes nothing. The audit log has them as a run;
    /// there is no other record, and no lock.
    pub async fn check(&self, options: &JudgeOptions) -> Result<ManifestCheckReport, BeginError> {
        let run_options = RunOptions { canceller: options.canceller.clone(), ..RunOptions::default() };
        let mut run = self.begin(RunMode::Monitor, run_options).await?;
        let clock = self.session.clock();
        let began = clock.monotonic();
        loop {
            let mut resources = Vec::new();
            let mut sink = |emitted: Emitted<'_>| {
                if let Event::ResourceFinished(transaction) = emitted.event {
                    resources.extend(CheckedResource::of(*transaction));
                }
            };
            let summary = run.apply(&mut sink).await;
            let (counts, duration) = (summary.checks, summary.duration);
            let mut report =
                ManifestCheckReport { resources, counts, duration, code: ExitCode::of(&summary, false) };
            let is_over = match options.retry_timeout {
                Some(limit) if report.status().is_failure() => {
                    clock.monotonic().saturating_sub(began) + options.sleep >= limit
                }
                _ => true,
            };
            if is_over || !pause(clock, options.sleep, options.canceller.cancellation()).await {
                report.code = run.end(&summary, report.code).await.code;
                return Ok(report);
            }
        }
    }
}

/// Waits. Returns `false` if the wait was cancelled.
async fn pause(clock: &dyn Clock, duration: Duration, cancellation: &Cancellation) -> bool {
    tokio::select! {
        biased;
        () = cancellation.reached(CancellationLevel::Stop) => false,
        () = clock.wait(duration) => true,
    }
}
