//! Status as metrics in the text format of Prometheus.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ccm_runtime::model::Counts;
use ccm_runtime::report::RecordedCheck;
use ccm_runtime::status::{ManifestStatus, SessionStatus};

/// States of a manifest. Each has a sample, so that a query need not know which ones occurred.
const STATES: [&str; 8] =
    ["never_run", "unchanged", "changed", "failed", "stopped", "refused", "killed", "unreadable"];

/// Returns the metrics, each with its help and its type.
pub(super) fn text(status: &SessionStatus, only: Option<&Path>) -> String {
    let manifests = status.manifests(only);
    let mut metrics = Metrics::default();
    metrics.family("ccm_run_going_on", "1 while a run is going on.");
    metrics.sample("ccm_run_going_on", &[], f64::from(u8::from(status.is_going_on())));
    let pause = status.current_pause();
    metrics.family("ccm_paused", "1 while unattended runs are paused.");
    metrics.sample("ccm_paused", &[], f64::from(u8::from(pause.is_some())));
    metrics.family("ccm_paused_until_timestamp_seconds", "End of the pause of unattended runs.");
    if let Some(until) = pause.and_then(|pause| seconds(pause.until)) {
        metrics.sample("ccm_paused_until_timestamp_seconds", &[], until);
    }
    metrics.of_each(
        &manifests,
        "ccm_last_run_timestamp_seconds",
        "Time at which the last run of the manifest began.",
        |found| found.began().and_then(seconds),
    );
    metrics.of_each(
        &manifests,
        "ccm_last_success_timestamp_seconds",
        "End of the last run of the manifest in which nothing failed.",
        |found| found.succeeded.and_then(seconds),
    );
    metrics.of_each(
        &manifests,
        "ccm_last_run_duration_seconds",
        "Duration of the last run of the manifest.",
        |found| Some(found.last?.summary.as_ref()?.duration.as_secs_f64()),
    );
    metrics.of_each(
        &manifests,
        "ccm_last_run_exit_code",
        "Exit code of the last run of the manifest.",
        |found| Some(f64::from(found.last?.summary.as_ref()?.exit_code)),
    );
    metrics.family("ccm_last_run_state", "1 for the state of the manifest after its last run, 0 for others.");
    for found in &manifests {
        let state = found.state.name();
        for name in STATES {
            let labels = [("manifest", found.manifest), ("state", name)];
            metrics.sample("ccm_last_run_state", &labels, f64::from(u8::from(name == state)));
        }
    }
    metrics.family("ccm_last_run_resources", "Resources of the last run of the manifest, by outcome.");
    for found in &manifests {
        let Some(summary) = found.last.and_then(|run| run.summary.as_ref()) else { continue };
        for (outcome, count) in by_outcome(summary.counts) {
            let labels = [("manifest", found.manifest), ("outcome", outcome)];
            metrics.sample("ccm_last_run_resources", &labels, number(count));
        }
    }
    metrics.checks(&manifests);
    metrics.of_each(&manifests, "ccm_pending_refreshes", "Pending refreshes of the manifest.", |found| {
        Some(number(found.pending))
    });
    metrics.0
}

fn by_outcome(counts: Counts) -> [(&'static str, usize); 6] {
    [
        ("unchanged", counts.unchanged),
        ("changed", counts.changed),
        ("refreshed", counts.refreshed),
        ("failed", counts.failed),
        ("dependency_failed", counts.unmet),
        ("skipped", counts.skipped),
    ]
}

#[derive(Default)]
struct Metrics(String);

impl Metrics {
    fn family(&mut self, name: &str, help: &str) {
        self.0 += &format!("# HELP {name} {help}\n# TYPE {name} gauge\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{}\"", label_value(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.0 += &format!("{name}{labels} {value}\n");
    }

    /// Adds the health checks of the last run of each manifest.
    fn checks(&mut self, manifests: &[ManifestStatus<'_>]) {
        let checks = manifests.iter().flat_map(|found| {
            let checks =
                found.checked.and_then(|run| run.summary.as_ref()).map(|summary| &summary.health_checks);
            checks.into_iter().flatten().map(|check| (found.manifest, check))
        });
        let checks: Vec<(&str, &RecordedCheck)> = checks.collect();
        self.family("ccm_check_status", "Status of a health check: 0 ok, 1 warning, 2 critical, 3 unknown.");
        for (manifest, RecordedCheck { resource, result }) in &checks {
            let labels = [("manifest", *manifest), ("resource", resource), ("check", &result.name)];
            self.sample("ccm_check_status", &labels, f64::from(result.status.code()));
        }
        self.family("ccm_check_value", "Value that a health check measured, in its unit.");
        for (manifest, RecordedCheck { resource, result }) in &checks {
            for measured in &result.values {
                let Some(value) = measured.value else { continue };
                let labels = [
                    ("manifest", *manifest),
                    ("resource", resource),
                    ("check", &result.name),
                    ("label", &measured.label),
                    ("unit", &measured.unit),
                ];
                self.sample("ccm_check_value", &labels, value);
            }
        }
    }

    fn of_each(
        &mut self,
        manifests: &[ManifestStatus<'_>],
        name: &str,
        help: &str,
        value: impl Fn(&ManifestStatus<'_>) -> Option<f64>,
    ) {
        self.family(name, help);
        for found in manifests {
            if let Some(value) = value(found) {
                self.sample(name, &[("manifest", found.manifest)], value);
            }
        }
    }
}

/// Escapes the value of a label: a backslash, a quote and a line end.
fn label_value(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn seconds(at: SystemTime) -> Option<f64> {
    Some(at.duration_since(UNIX_EPOCH).ok()?.as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "no run has as many resources")]
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_escaped_labels() {
        let mut metrics = Metrics::default();
        metrics.family("ccm_a", "Help.");
        metrics.sample("ccm_a", &[("manifest", "/a \"b\"\\c\nd"), ("state", "changed")], 1.0);
        metrics.sample("ccm_a", &[], 1_700_000_000.25);
        let expected = "\
# HELP ccm_a Help.
# TYPE ccm_a gauge
ccm_a{manifest=\"/a \\\"b\\\"\\\\c\\nd\",state=\"changed\"} 1
ccm_a 1700000000.25
";
        assert_eq!(metrics.0, expected);
    }
}
