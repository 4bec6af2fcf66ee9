//! Status of each manifest as text.

use std::path::Path;
use std::time::SystemTime;

use ccm_runtime::StoredRun;
use ccm_runtime::model::escape_control;
use ccm_runtime::report::{Column, rounded, table};
use ccm_runtime::status::{ManifestStatus, SessionStatus};

use crate::listeners::report_screen;

/// Columns of the list of manifests. The outcome says the most important of the numbers of resources.
const COLUMNS: [Column; 7] = [
    Column::new("AGE"),
    Column::new("OUTCOME"),
    Column::new("RESOURCES").cut_to(16).optional(),
    Column::new("PENDING"),
    Column::new("RUN"),
    Column::new("BY").cut_to(8),
    Column::new("MANIFEST").cut_to(12),
];

/// Returns a line for each manifest, and what the current run does.
pub(super) fn text(status: &SessionStatus, only: Option<&Path>, now: SystemTime) -> String {
    let manifests = status.manifests(only);
    let mut text = if manifests.is_empty() {
        format!("{}\n", none(status, only))
    } else {
        let rows: Vec<_> = manifests.iter().map(|found| row(status, found, now)).collect();
        table(COLUMNS, &rows, report_screen())
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

/// Returns the reason why there is no manifest to show.
pub(super) fn none(status: &SessionStatus, only: Option<&Path>) -> String {
    match only {
        Some(only) => format!("no run of {} is recorded", escape_control(&only.to_string_lossy())),
        None if status.history.runs().is_empty() => "no run is recorded".to_owned(),
        None if status.has_no_manifest() => "no run of a manifest is recorded".to_owned(),
        None => "every recorded manifest is forgotten".to_owned(),
    }
}

fn row(status: &SessionStatus, found: &ManifestStatus<'_>, now: SystemTime) -> [String; 7] {
    let shown = found.current.or(found.last);
    let age = shown.and_then(StoredRun::began).and_then(|began| now.duration_since(began).ok());
    let outcome = if found.current.is_some() { "going on" } else { found.state.word() };
    // The outcome says that a manifest was refused, which has no counts.
    let counted = shown.filter(|run| refusal(run).is_none());
    let counts = counted.and_then(|run| run.counts_text(report_screen()));
    let by = shown.and_then(StoredRun::started_by).map(ccm_runtime::model::StartedBy::short_label);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        or_dash(age.map(rounded)),
        outcome.to_owned(),
        or_dash(counts),
        found.pending.to_string(),
        or_dash(shown.map(|run| status.history.short(&run.id).to_owned())),
        or_dash(by.map(|by| escape_control(&by).into_owned())),
        format!("{}{}", escape_control(found.manifest), if found.is_gone { " (gone)" } else { "" }),
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
