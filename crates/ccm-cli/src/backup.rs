//! `ccm backup`: backups of files that runs replaced or removed.

use std::path::Path;

use ccm_runtime::backups::{Backup, BackupError, PruneOptions};
use ccm_runtime::model::{display_timestamp, escape_control};
use ccm_runtime::process::{Clock as _, SystemClock};
use ccm_runtime::report::{Column, History, table};
use ccm_runtime::{LocalZone, Session, StoredRun, printed};
use serde_json::{Value, json};

use crate::arguments::{
    BackupCommand, BackupListArguments, BackupPruneArguments, BackupRestoreArguments, DocumentFormat,
};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::listeners::report_screen;
use crate::reactor::block_on;
use crate::session;

/// Columns of the list of backups. Each cell but the path is needed to name a backup.
const COLUMNS: [Column; 5] = [
    Column::new("TIME"),
    Column::new("VERSION"),
    Column::new("BYTES").optional(),
    Column::new("RUN").optional(),
    Column::new("PATH").cut_to(16),
];

/// Lists, restores or removes backups.
pub(crate) fn run(command: &BackupCommand, console: &Console) -> CommandResult {
    match command {
        BackupCommand::List(arguments) => list(arguments, console),
        BackupCommand::Restore(arguments) => restore(arguments, console),
        BackupCommand::Prune(arguments) => prune(arguments, console),
    }
}

fn list(arguments: &BackupListArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let backups =
        session.backups_of(arguments.path.as_deref()).map_err(|error| backup_error(&session, &error))?;
    // The run of a backup is useful, and not necessary.
    let history = session.history().ok();
    let run = |backup: &Backup| history.as_ref().and_then(|history| run_of(history, backup));
    let text = match arguments.output.format {
        DocumentFormat::Json => {
            printed::document(&backups.iter().map(|found| document(found, run(found))).collect())
        }
        DocumentFormat::Text if backups.is_empty() => "no backups\n".to_owned(),
        DocumentFormat::Text => {
            let zone = LocalZone::of_this_process();
            let row = |backup: &Backup| {
                let short = match (&history, run(backup)) {
                    (Some(history), Some(run)) => history.short(&run.id).to_owned(),
                    _ => "-".to_owned(),
                };
                let size = backup.size.to_string();
                [zone.display(backup.at), backup.version.clone(), size, short, shown_path(backup)]
            };
            table(COLUMNS, &backups.iter().map(row).collect::<Vec<_>>(), report_screen())
        }
    };
    console.print(&text)
}

/// Returns the original path of a backup, or its name if the path is not recorded.
fn shown_path(backup: &Backup) -> String {
    let path =
        backup.path.as_ref().map_or_else(|| format!("({})", backup.name), |path| path.display().to_string());
    escape_control(&path).into_owned()
}

fn document(backup: &Backup, run: Option<&StoredRun>) -> Value {
    json!({
        "path": backup.path,
        "name": backup.name,
        "version": backup.version,
        "time": display_timestamp(backup.at, 0),
        "size": backup.size,
        "run_id": run.map(|run| &run.id),
    })
}

/// Returns the run during which a backup was made. The time of a backup has no fraction of a second.
fn run_of<'h>(history: &'h History, backup: &Backup) -> Option<&'h StoredRun> {
    let second = std::time::Duration::from_secs(1);
    let mut runs = history.runs().iter().filter(|run| {
        let has_begun = run.began().is_some_and(|began| began < backup.at + second);
        has_begun && run.ended_at().is_none_or(|ended| ended >= backup.at)
    });
    let run = runs.next()?;
    // Two runs in one second can't be told apart.
    runs.next().is_none().then_some(run)
}

fn restore(arguments: &BackupRestoreArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let restored = block_on(session.restore_backup(&arguments.path, arguments.version.as_deref()))?;
    let restored = restored.map_err(|error| backup_error(&session, &error))?;
    let (path, version) = (restored.path.display().to_string(), &restored.backup.version);
    let time = LocalZone::of_this_process().display(restored.backup.at);
    let kept = restored.kept.map_or_else(String::new, |kept| {
        format!("; the content before is kept in {}", escape_control(&kept.display().to_string()))
    });
    console
        .print_words(&format!("restored {} from {time} (version {version}){kept}\n", escape_control(&path)))
}

fn prune(arguments: &BackupPruneArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let before = arguments.older_than.and_then(|age| SystemClock::new().now().checked_sub(age));
    let removed = block_on(session.prune_backups(PruneOptions { keep: arguments.keep, before }))?;
    let removed = removed.map_err(|error| backup_error(&session, &error))?;
    let bytes: u64 = removed.iter().map(|backup| backup.size).sum();
    let backups = if removed.len() == 1 { "backup" } else { "backups" };
    console.print_words(&format!("removed {} {backups}, {bytes} bytes\n", removed.len()))
}

fn backup_error(session: &Session, error: &BackupError) -> CommandError {
    CommandError::of(error).therefore("nothing was changed").hints(match error {
        BackupError::State(error) => Some(error.hint()),
        BackupError::Lock(_) => Some("wait until the run ends".to_owned()),
        BackupError::Use { path, source } => Some(session.state_advice(path, source).to_string()),
        BackupError::Missing { .. } => Some("`ccm backup list` lists the backups".to_owned()),
        BackupError::NoVersion { known, .. } => Some(format!("use one of: {}", known.join(", "))),
        BackupError::NotAFile { path } => Some(hint_for_other(path)),
        _ => None,
    })
}

fn hint_for_other(path: &Path) -> String {
    format!("move {} away, or restore the file that the link leads to", path.display())
}
