//! Head of the page of a run: how it ended, and what a reader asks about it.

use ccm_model::{StartedBy, display_duration};
use ccm_report::{RunOutcome, StoredRun};
use serde::Serialize;

use super::Run;
use crate::outcome::Mark;

/// Number of digits of a digest that are shown.
const DIGEST: usize = 12;

#[derive(Serialize)]
pub(super) struct Head {
    /// The outcome, in a word.
    pub(super) outcome: &'static str,
    mark: Mark,
    /// The counted outcomes.
    sentence: String,
    pub(super) manifest: String,
    machine: String,
    began: String,
    duration: String,
    rows: Vec<(&'static str, String)>,
}

impl Head {
    pub(super) fn of(run: &Run<'_>) -> Self {
        let view = run.view;
        let recorded = view.run;
        let (outcome, mark) = outcome(recorded);
        let start = recorded.start.as_ref();
        let counts = recorded.counts_text(ccm_report::Screen::default());
        let began = recorded.began().map_or_else(|| "?".to_owned(), |began| run.zone.display(began));
        let summary = recorded.summary.as_ref();
        let duration = summary.map_or_else(String::new, |summary| display_duration(summary.duration));
        let mut rows = vec![("Run", recorded.id.clone())];
        if let Some(manifest) = view.graph.manifests.first().filter(|manifest| !manifest.digest.is_empty()) {
            let digest: String = manifest.digest.chars().take(DIGEST).collect();
            rows.push(("Digest", format!("sha256 {digest}…")));
        }
        if let Some(source) = recorded.source() {
            rows.push(("Source", format!("{}, {}, {}", source.name, source.version, source.digest)));
        }
        rows.extend(recorded.started_by().map(started_by));
        if let Some(summary) = summary {
            rows.push(("Exit code", exit_code(summary.exit_code)));
            rows.extend(summary.stopped.as_ref().map(|stopped| ("Ended early", stopped.message.clone())));
            let mode = match (summary.noop, summary.monitor_only) {
                (true, _) => "noop: nothing was changed",
                (false, true) => "health checks alone",
                (false, false) => "a real run",
            };
            rows.push(("Mode", mode.to_owned()));
            rows.push(("Version", format!("ccm {}", summary.version)));
        }
        Self {
            outcome,
            mark,
            sentence: sentence(counts.as_deref()),
            manifest: recorded.manifest().to_owned(),
            machine: start.map_or_else(String::new, |start| start.host.to_string()),
            began,
            duration,
            rows,
        }
    }
}

/// Returns the counted outcomes, such as `41 resources: 40 unchanged, 1 failed`.
fn sentence(counts: Option<&str>) -> String {
    let Some(counts) = counts else { return "the end of the run is not recorded".to_owned() };
    match counts.split_once(": ") {
        Some((total, rest)) if total.bytes().all(|byte| byte.is_ascii_digit()) => {
            let resources = if total == "1" { "resource" } else { "resources" };
            format!("{total} {resources}: {rest}")
        }
        _ => counts.to_owned(),
    }
}

fn outcome(run: &StoredRun) -> (&'static str, Mark) {
    match run.summary.as_ref().map(ccm_report::StoredSummary::outcome) {
        Some(RunOutcome::Unchanged) => ("Nothing to do", Mark::Same),
        Some(RunOutcome::Changed) => ("Changed", Mark::Changed),
        Some(RunOutcome::Failed) => ("Failed", Mark::Failed),
        Some(RunOutcome::Stopped) => ("Stopped", Mark::Unmet),
        Some(RunOutcome::Refused) => ("Refused", Mark::Failed),
        None => ("Unfinished", Mark::Open),
    }
}

fn started_by(started: &StartedBy) -> (&'static str, String) {
    let StartedBy { uid, user, sudo_user, unit, terminal, .. } = started;
    let mut text = user.as_ref().map_or_else(|| format!("uid {uid}"), |user| format!("{user} (uid {uid})"));
    for (label, value) in [("sudo by", sudo_user), ("unit", unit), ("terminal", terminal)] {
        if let Some(value) = value {
            text += &format!(", {label} {value}");
        }
    }
    ("Started by", text)
}

/// Returns an exit code in words.
fn exit_code(code: u8) -> String {
    let words = match code {
        0 => "success",
        1 => "nothing was run",
        2 => "success, with changes",
        4 => "at least one resource failed, or the run was not completed",
        6 => "changes and failures",
        129 | 130 | 131 | 143 => "a signal ended the run",
        _ => return code.to_string(),
    };
    format!("{code}: {words}")
}
