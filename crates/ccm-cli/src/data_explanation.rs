//! Levels of the data: which entries of the hierarchy applied, and where each value comes from.

use ccm_runtime::model::escape_control;
use ccm_runtime::{EntryOutcome, EvaluatedData, Value, ValueSource, printed};

/// Returns the explanation of the data of a manifest that has a hierarchy; `None` for other data, whose only level is
/// the manifest.
pub(crate) fn of_manifest(name: &str, data: &EvaluatedData) -> Option<String> {
    let has_hierarchy = !data.entries().is_empty();
    has_hierarchy.then(|| format!("data of {}:\n{}", escape_control(name), explanation(data, false)))
}

/// Returns the entries of the hierarchy, each with its outcome, and the sources of each value.
pub(crate) fn explanation(data: &EvaluatedData, shows_secrets: bool) -> String {
    let mut rows = Vec::new();
    for (entry, outcome) in data.entries() {
        rows.push((escape_control(entry).into_owned(), outcome_in_words(outcome)));
    }
    let mut text = String::from("hierarchy:\n");
    text += &if rows.is_empty() { "  none\n".to_owned() } else { columns(&rows) };
    rows.clear();
    for origin in data.origins() {
        let source = |(source, value): &(ValueSource, Value)| {
            let value = if shows_secrets { value.clone() } else { data.redact(value) };
            format!("{}: {}", source_in_words(source), shortened(&printed::word(&value)))
        };
        let mut sources = origin.sources.iter().map(source).collect::<Vec<_>>().join(" + ");
        if let Some(merge) = data.merge_of(&origin.path) {
            sources += &format!(" (@merge {merge})");
        }
        rows.push((escape_control(&origin.path.join(".")).into_owned(), sources));
    }
    text += "values:\n";
    text + &if rows.is_empty() { "  none\n".to_owned() } else { columns(&rows) }
}

fn outcome_in_words(outcome: &EntryOutcome) -> String {
    let named = |name: &str, what: &str| format!("`{}`: {what}", escape_control(name));
    match outcome {
        EntryOutcome::Empty => "skipped: all of its expressions are empty".to_owned(),
        EntryOutcome::NotFound { name, file: None } => named(name, "no override of that name"),
        EntryOutcome::NotFound { name, file: Some(file) } => {
            named(name, &format!("no override of that name, and no {}", escape_control(file)))
        }
        EntryOutcome::Applied { name, sources, only_merged_keys } => {
            let applied = if *only_merged_keys { "applied to keys with `@merge`" } else { "applied" };
            match &sources[..] {
                [ValueSource::Override(_)] => named(name, applied),
                sources => {
                    let sources: Vec<String> = sources.iter().map(source_in_words).collect();
                    named(name, &format!("{applied}: {}", sources.join(" + ")))
                }
            }
        }
        EntryOutcome::Invalid(name) => named(name, "its file has errors"),
        EntryOutcome::Repeated(name) => named(name, "already applied"),
        EntryOutcome::NotReached(Some(name)) => named(name, "not tried, because an earlier entry matched"),
        EntryOutcome::NotReached(None) => "not tried, because an earlier entry matched".to_owned(),
    }
}

fn source_in_words(source: &ValueSource) -> String {
    match source {
        ValueSource::Data => "data".to_owned(),
        ValueSource::Parent => "the manifest that applies this one".to_owned(),
        ValueSource::Override(name) => format!("override `{}`", escape_control(name)),
        ValueSource::File(name) => escape_control(name).into_owned(),
        // The value is not shown, because it may be a secret.
        ValueSource::CommandLine(_) => "--data".to_owned(),
    }
}

/// Returns a value on one line, cut if it is long.
fn shortened(text: &str) -> String {
    const MAX_LENGTH: usize = 60;
    let text = if text.is_empty() { "\"\"".into() } else { escape_control(text) };
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(MAX_LENGTH).collect();
    if characters.next().is_some() { start + "…" } else { start }
}

/// Returns rows of two columns.
fn columns(rows: &[(String, String)]) -> String {
    const MAX_WIDTH: usize = 50;
    let width = rows.iter().map(|(first, _)| first.chars().count()).max().unwrap_or(0).min(MAX_WIDTH);
    rows.iter().fold(String::new(), |text, (first, second)| text + &format!("  {first:width$}  {second}\n"))
}
