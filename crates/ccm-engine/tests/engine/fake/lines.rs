//! Outcomes as lines.

use ccm_model::{Event, Outcome, ResourceId, SkipCause, StopCause};

fn joined(ids: &[ResourceId]) -> String {
    ids.iter().map(|id| id.name.to_string()).collect::<Vec<_>>().join(",")
}

/// Returns the line of a finished resource.
pub(super) fn line(event: &Event) -> Option<String> {
    let Event::ResourceFinished(transaction) = event else { return None };
    let detail = match &transaction.outcome {
        Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => {
            let is_shown = message.starts_with("not known") || message == "may fail";
            if is_shown { format!(": {message}") } else { String::new() }
        }
        Outcome::Skipped { cause: SkipCause::DependencyFailed { culprits } } => {
            format!(" because of {}", joined(culprits))
        }
        Outcome::Skipped { cause: SkipCause::DependsOnNoop { noop } } => {
            format!(" because {} is in noop", joined(noop))
        }
        Outcome::Skipped { cause: SkipCause::NotManaged { reason } } => format!(": {reason}"),
        Outcome::Skipped { cause: SkipCause::NotSelected } => ": not selected".to_owned(),
        Outcome::Skipped { cause: SkipCause::Excluded } => ": excluded".to_owned(),
        Outcome::Skipped { cause: SkipCause::ManifestEnded { culprit } } => {
            format!(": ended by {}", culprit.name)
        }
        Outcome::Skipped { cause: SkipCause::Stopped { by } } => match by {
            StopCause::Failed { culprit } => format!(": stopped by {}", culprit.name),
            StopCause::Signal { name, .. } => format!(": stopped by {name}"),
            StopCause::Timeout { .. } => ": stopped by timeout".to_owned(),
        },
        Outcome::Failed(failure) => {
            format!(": {}{}", failure.chain.join(" < "), if failure.changed { " (changed)" } else { "" })
        }
        _ => String::new(),
    };
    let by = match &transaction.triggered_by[..] {
        [] => String::new(),
        triggers => format!(" by {}", joined(triggers)),
    };
    let owed: Vec<String> = transaction
        .pending_refreshes
        .iter()
        .map(|owed| format!("{} since {}", owed.source.name, owed.run_id))
        .collect();
    let by = if owed.is_empty() { by } else { format!("{by} (owed: {})", owed.join(",")) };
    Some(format!("{} {}{by}{detail}", transaction.id.name, transaction.outcome.word()))
}
