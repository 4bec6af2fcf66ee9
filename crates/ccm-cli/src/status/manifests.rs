//! Status of each manifest as text.

use std::path::Path;
use std::time::SystemTime;

use ccm_runtime::StoredRun;
use ccm_runtime::model::escape_control;
use ccm_runtime::report::{columns, rounded};
use ccm_runtime::status::{ManifestStatus, SessionStatus};

/// Returns a line for each manifest, and what the current run does.
pub(super) fn text(status: &SessionStatus, only: Option<&Path>, now: SystemTime) -> String {
    let manifests = status.manifests(only);
    let mut text = if manifests.is_empty() {
        "no run is recorded\n".to_owned()
    } else {
        let heads = ["AGE", "OUTCOME", "RESOURCES", "PENDING", "RUN", "BY", "MANIFEST"].map(str::to_owned);
        columns(heads, manifests.iter().map(|found| row(status, found, now)).collect())
    };
    for found in &manifests {
        text += &first_error(found);
    }
    if let Some(run) = status.current_run() {
        let resource = status.current_resource.as_deref();
        let doing =
            resource.map_or_else(String::new, |resource| format!(", at {}", escape_control(resource)));
        text += &format!("a run of {} is going on{doing}\n", escape_control(run.manifest()));
    }
    text
}

fn row(status: &SessionStatus, found: &ManifestStatus<'_>, now: SystemTime) -> [String; 7] {
    let shown = found.current.or(found.last);
    let age = shown.and_then(StoredRun::began).and_then(|began| now.duration_since(began).ok());
    let outcome = if found.current.is_some() { "going on" } else { found.state.word() };
    let counts = shown.and_then(StoredRun::counts_text);
    let by = shown.and_then(StoredRun::started_by).map(ccm_runtime::model::StartedBy::label);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        or_dash(age.map(rounded)),
        outcome.to_owned(),
        or_dash(counts),
        found.pending.to_string(),
        or_dash(shown.map(|run| status.history.short(&run.id).to_owned())),
        or_dash(by.map(|by| escape_control(&by).into_owned())),
        escape_control(found.manifest).into_owned(),
    ]
}

/// Returns the first error of a refused manifest, and where to find the others.
fn first_error(found: &ManifestStatus<'_>) -> String {
    let Some(error) = found.last.and_then(refusal) else { return String::new() };
    format!("{} was refused: {}\n", escape_control(found.manifest), escape_control(error))
}

/// Returns the first line of the errors of a refused manifest.
pub(super) fn refusal(run: &StoredRun) -> Option<&str> {
    let line = run.summary.as_ref()?.errors.lines().next()?;
    Some(line.strip_prefix("error: ").unwrap_or(line))
}
