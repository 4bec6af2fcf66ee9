//! `ccm source`: the sources that this machine follows.

use ccm_runtime::model::{VersionId, escape_control};
use ccm_runtime::report::{Column, table};
use ccm_runtime::source::{FollowedSource, KeptKind};
use ccm_runtime::{Session, printed};
use serde_json::{Value, json};

use super::follow::source_error;
use super::receive;
use crate::arguments::{
    DocumentFormat, SourceCommand, SourceForgetArguments, SourceListArguments, SourceRewindArguments,
};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::listeners::report_screen;
use crate::session;

/// Number of characters of a commit in the list.
const COMMIT_LENGTH: usize = 12;

/// Columns of the list of sources.
const COLUMNS: [Column; 6] = [
    Column::new("SOURCE"),
    Column::new("CHANNEL").optional(),
    Column::new("VERSION"),
    Column::new("ACCEPTED"),
    Column::new("STATE"),
    Column::new("ADDRESS").cut_to(20),
];

/// Lists, rewinds or forgets sources.
pub(crate) fn run(command: &SourceCommand, console: &Console) -> CommandResult {
    match command {
        SourceCommand::List(arguments) => list(arguments, console),
        SourceCommand::Forget(arguments) => forget(arguments, console),
        SourceCommand::Rewind(arguments) => rewind(arguments, console),
        SourceCommand::Receive(arguments) => receive::run(arguments, console),
    }
}

/// Returns the sources that offer nothing that can be applied, each as a clause.
pub(crate) fn stale(session: &Session) -> Vec<String> {
    // Whoever has no state has no source.
    let sources = session.sources().unwrap_or_default();
    let stale = sources.iter().filter_map(|FollowedSource { name, record }| {
        let kept = record.kept.as_ref()?;
        let is_wrong = matches!(kept.kind, KeptKind::Refused | KeptKind::Unreachable);
        is_wrong.then(|| format!("{name} stays at {}: {}", record.accepted.version, kept.reason))
    });
    stale.collect()
}

fn list(arguments: &SourceListArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let sources = session.sources().map_err(|error| source_error(&error))?;
    let text = match arguments.output.format {
        DocumentFormat::Json => printed::document(&sources.iter().map(document).collect()),
        DocumentFormat::Text if sources.is_empty() => "no sources\n".to_owned(),
        DocumentFormat::Text => {
            let rows: Vec<_> = sources.iter().map(row).collect();
            let mut text = table(COLUMNS, &rows, report_screen());
            for source in &sources {
                if let Some(rewound) = &source.record.rewound {
                    let (version, reason) = (&rewound.version.version, escape_control(&rewound.reason));
                    text += &format!(
                        "{}: rewound to {version}: {reason}, since {}\n",
                        source.name, rewound.since
                    );
                }
                if let Some(kept) = &source.record.kept {
                    text +=
                        &format!("{}: {}, since {}\n", source.name, escape_control(&kept.reason), kept.since);
                }
            }
            text
        }
    };
    if arguments.output.format == DocumentFormat::Text {
        console.print_words(&text)
    } else {
        console.print(&text)
    }
}

fn row(source: &FollowedSource) -> [String; 6] {
    let accepted = &source.record.accepted;
    let current = if source.record.rewound.is_some() { "rewound" } else { "current" };
    let state = source.record.kept.as_ref().map_or(current, |kept| word(kept.kind));
    [
        source.name.clone(),
        accepted.channel.clone(),
        match &accepted.version {
            VersionId::Number(number) => number.to_string(),
            VersionId::Bundle(bundle) => bundle.short().to_owned(),
            VersionId::Commit(commit) => commit.chars().take(COMMIT_LENGTH).collect(),
        },
        accepted.at.clone(),
        state.to_owned(),
        escape_control(&source.record.source).into_owned(),
    ]
}

fn word(kind: KeptKind) -> &'static str {
    match kind {
        KeptKind::Unreachable => "unreachable",
        KeptKind::Refused => "refused",
        KeptKind::Waiting => "waiting",
        KeptKind::Held => "held",
    }
}

fn document(source: &FollowedSource) -> Value {
    let mut document = json!(source.record);
    document["name"] = json!(source.name);
    document
}

fn forget(arguments: &SourceForgetArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let name = &arguments.name;
    match session.forget_source(name) {
        Ok(true) => console
            .print_words(&format!("forgot {}; its next version is a first one\n", escape_control(name))),
        Ok(false) => Err(unknown(name)),
        Err(error) => Err(source_error(&error).therefore("nothing was changed")),
    }
}

fn rewind(arguments: &SourceRewindArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let name = &arguments.name;
    let changed = match arguments.reason.as_deref() {
        Some(reason) if !arguments.forward => session.rewind_source(name, reason),
        _ => session.forward_source(name),
    };
    let record = changed.map_err(|error| source_error(&error).therefore("nothing was changed"))?;
    let Some(record) = record else { return Err(unknown(name)) };
    let (current, accepted) = (&record.current().version, &record.accepted.version);
    let until = if arguments.forward { String::new() } else { format!(", until one comes after {accepted}") };
    console.print_words(&format!("{}: runs apply {current}{until}\n", escape_control(name)))
}

fn unknown(name: &str) -> CommandError {
    let message = format!("there is no source {}; nothing was changed", escape_control(name));
    CommandError::new(message).hint("`ccm source list` lists the sources")
}
