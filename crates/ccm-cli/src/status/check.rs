//! `ccm status --check`: one line for a monitoring system.

use std::path::Path;
use std::time::SystemTime;

use ccm_runtime::model::{CheckStatus, HealthCheckResult, escape_control};
use ccm_runtime::report::rounded;
use ccm_runtime::status::{
    CheckFinding, CheckLevel, CheckProblem, ManifestState, ManifestStatus, SessionStatus, StatusCheck,
};
use ccm_runtime::{ExitCode, RunOutcome, Screen, Session, StoredRun, error_layers, printed};
use serde_json::json;

use super::manifests;
use crate::arguments::{StatusArguments, StatusFormat};
use crate::console::Console;
use crate::error::CommandResult;
use crate::{pause, source};

/// Maximum length of the line, in characters. Monitoring systems cut longer ones.
const MAX_LINE_LENGTH: usize = 1000;

/// Prints the result of the check. A state directory that can't be read is a result as well.
pub(super) fn run(
    arguments: &StatusArguments,
    console: &Console,
    session: &Session,
    now: SystemTime,
) -> CommandResult {
    let status = match session.status() {
        Ok(status) => status,
        Err(error) => {
            let message = error_layers(&error).join(": ");
            return print(console, arguments.output.format, CheckLevel::Unknown, &message, &json!([]));
        }
    };
    let check = status.check(arguments.manifest.as_deref(), now, arguments.max_age);
    if arguments.output.format == StatusFormat::Prometheus {
        console.print(&super::prometheus::text(&status, arguments.manifest.as_deref()))?;
        return Ok(ExitCode::Check(check.level));
    }
    let manifests = check.manifests.iter().chain(&check.not_judged).map(ManifestStatus::json).collect();
    let only = arguments.manifest.as_deref();
    let mut message = message(&status, only, &check, now);
    if let Some(pause) = status.current_pause() {
        message += &format!("; {}", pause::described(pause));
    }
    let mut level = check.level;
    if only.is_none() {
        for source in source::stale(session) {
            level = level.max(CheckLevel::Warning);
            message += &format!("; {source}");
        }
    }
    print(console, arguments.output.format, level, &message, &manifests)
}

fn print(
    console: &Console,
    output: StatusFormat,
    level: CheckLevel,
    message: &str,
    manifests: &serde_json::Value,
) -> CommandResult {
    // Monitoring systems read numbers behind a bar.
    let line = escape_control(message).replace('|', "¦");
    let cut: String = line.chars().take(MAX_LINE_LENGTH).collect();
    let text = match output {
        StatusFormat::Json => {
            printed::document(&json!({ "level": level.word(), "message": cut, "manifests": manifests }))
        }
        StatusFormat::Text | StatusFormat::Prometheus => format!("{}: {cut}\n", level.word()),
    };
    console.print(&text).map_err(|error| error.with_code(ExitCode::Check(CheckLevel::Unknown)))?;
    Ok(ExitCode::Check(level))
}

fn message(status: &SessionStatus, only: Option<&Path>, check: &StatusCheck<'_>, now: SystemTime) -> String {
    if check.manifests.is_empty() {
        let names = check.not_judged.iter().map(|found| {
            let why = if found.is_gone { "is gone" } else { "was only tried by hand, and refused" };
            format!("{} {why}", found.manifest)
        });
        let names = names.collect::<Vec<_>>().join("; ");
        return if names.is_empty() { manifests::none(status, only) } else { names };
    }
    if check.findings.is_empty() {
        let ages = check.manifests.iter().map(|found| match age(found.judged, now) {
            Some(age) => format!("{} {} {age}", found.manifest, found.judged_state.word()),
            None => format!("{} {}", found.manifest, found.judged_state.word()),
        });
        return ages.collect::<Vec<_>>().join("; ");
    }
    let findings = check.findings.iter().map(|finding| described(status, finding, now));
    findings.collect::<Vec<_>>().join("; ")
}

fn described(status: &SessionStatus, finding: &CheckFinding<'_>, now: SystemTime) -> String {
    let CheckFinding { status: found, problem } = finding;
    let when = age(found.judged, now).map_or_else(String::new, |age| format!(" {age}"));
    let run =
        found.judged.map_or_else(String::new, |run| format!(" (run {})", status.history.short(&run.id)));
    let what = match problem {
        CheckProblem::NeverRun if found.current.is_some() => "the first run is going on".to_owned(),
        CheckProblem::NeverRun => "no run is recorded".to_owned(),
        CheckProblem::LastRun(ManifestState::Ended(RunOutcome::Refused)) => {
            let error = found.judged.and_then(manifests::refusal).unwrap_or_default();
            format!("refused{when}{run}: {error}")
        }
        CheckProblem::LastRun(ManifestState::Ended(outcome)) => {
            let counts = found.judged.and_then(|run| run.counts_text(Screen::default())).unwrap_or_default();
            let checks = unhealthy(found, CheckStatus::is_failure);
            format!("{}{when}{run}: {counts}{checks}", outcome.word())
        }
        CheckProblem::LastRun(state) => format!("{}{when}{run}", state.word()),
        CheckProblem::TooOld { age, .. } => format!("last run {} ago{run}", rounded(*age)),
        CheckProblem::BadLedger => "its pending refreshes can't be read or trusted".to_owned(),
        CheckProblem::HealthFailures(count) => {
            let noun = if *count == 1 { "health check" } else { "health checks" };
            let checked = age(found.checked, now).map_or_else(String::new, |age| format!(" {age}"));
            format!("{count} {noun} failed{checked}{}", unhealthy(found, CheckStatus::is_failure))
        }
        CheckProblem::HealthWarnings(1) => {
            format!(
                "1 health check has a warning{}",
                unhealthy(found, |status| status == CheckStatus::Warning)
            )
        }
        CheckProblem::HealthWarnings(count) => {
            let named = unhealthy(found, |status| status == CheckStatus::Warning);
            format!("{count} health checks have a warning{named}")
        }
        CheckProblem::PendingRefreshes(1) => "1 refresh is pending".to_owned(),
        CheckProblem::PendingRefreshes(count) => format!("{count} refreshes are pending"),
    };
    // Only a state is a word about the manifest.
    let colon = if matches!(problem, CheckProblem::LastRun(_)) { "" } else { ":" };
    format!("{}{colon} {what}", found.manifest)
}

/// Returns the first health checks of the last run with such a status, behind the text before.
fn unhealthy(found: &ManifestStatus<'_>, is_wanted: impl Fn(CheckStatus) -> bool) -> String {
    const MAX_NAMED: usize = 3;
    let checks = found.checked.and_then(|run| run.summary.as_ref()).map(|summary| &summary.health_checks);
    let wanted: Vec<_> =
        checks.into_iter().flatten().filter(|check| is_wanted(check.result.status)).collect();
    let named = wanted.iter().take(MAX_NAMED).map(|check| {
        let HealthCheckResult { name, .. } = &check.result;
        format!(", `{name}` of {} {}", check.resource, check.result.verdict())
    });
    let mut text: String = named.collect();
    if wanted.len() > MAX_NAMED {
        text += &format!(", and {} more", wanted.len() - MAX_NAMED);
    }
    text
}

fn age(run: Option<&StoredRun>, now: SystemTime) -> Option<String> {
    let age = now.duration_since(run?.began()?).ok()?;
    Some(format!("{} ago", rounded(age)))
}
