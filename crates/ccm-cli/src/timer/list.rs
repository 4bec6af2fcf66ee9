//! `ccm timer list`: the timers that apply manifests.

use std::path::Path;

use ccm_runtime::model::{escape_control, quote_words};
use ccm_runtime::report::{Column, table};
use ccm_runtime::timer::{InstalledTimer, LastRun, TimerKind, UnitScope};
use ccm_runtime::{ExitCode, printed};

use super::{scope, systemctl, timer_error, timers};
use crate::arguments::{DocumentFormat, TimerListArguments};
use crate::console::Console;
use crate::error::CommandResult;
use crate::listeners::report_screen;
use crate::reactor::block_on;
use crate::{pause, session};

/// Columns of the list of timers.
const COLUMNS: [Column; 6] = [
    Column::new("NAME").cut_to(12),
    Column::new("EVERY"),
    Column::new("STATE").cut_to(8),
    Column::new("NEXT RUN").cut_to(12),
    Column::new("LAST RUN").cut_to(12),
    Column::new("MANIFEST").cut_to(12),
];

pub(super) fn run(arguments: &TimerListArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    let scope = scope(arguments.user);
    let timers = timers(&session, scope)?;
    let installed = block_on(timers.list())?.map_err(|error| timer_error(&session, &error, scope))?;
    let text = match arguments.output.format {
        DocumentFormat::Json => printed::document(&serde_json::json!(installed)),
        DocumentFormat::Text if installed.is_empty() => "no timers\n".to_owned(),
        DocumentFormat::Text => {
            table(COLUMNS, &installed.iter().map(row).collect::<Vec<_>>(), report_screen())
        }
    };
    console.print(&text)?;
    for timer in &installed {
        warn(timer, &installed, scope, console);
    }
    // The runs of somebody else may be paused in another state directory.
    let are_own = arguments.user || session.is_root();
    if are_own
        && !installed.is_empty()
        && let Ok(Some(pause)) = session.pause()
    {
        console.note(&format!("{}; until then, runs of timers do nothing", pause::described(&pause)));
        console.hint("`ccm pause --end` ends the pause");
    }
    Ok(ExitCode::Success)
}

/// Shows what is wrong with a timer.
fn warn(timer: &InstalledTimer, all: &[InstalledTimer], scope: UnitScope, console: &Console) {
    if let Some(unit) = &timer.missing_unit {
        warn_of_missing_unit(timer, unit, scope, console);
    }
    if timer.kind == TimerKind::Template {
        warn_of_template(&timer.name, console);
        let same =
            all.iter().find(|other| other.kind == TimerKind::Installed && other.manifest == timer.manifest);
        if let Some(other) = same {
            console.warning(&format!("{} and {} apply the same manifest", timer.unit, other.unit));
        }
    }
    if timer.is_stalled {
        console.warning(&format!("{} is enabled, but has no next run", timer.unit));
        console.hint(&format!("`{} restart {}` lets it run again", systemctl(scope), timer.unit));
    }
}

/// Warns of a timer of the package's template, `ccm-apply@NAME`.
pub(crate) fn warn_of_template(name: &str, console: &Console) {
    console.warning(&format!("{name}.timer goes with the next release of ccm"));
    let instance = name.split_once('@').map_or(name, |(_, instance)| instance);
    console.hint(&format!(
        "`ccm timer migrate {}` turns it into a timer of `ccm timer`",
        quote_words([instance])
    ));
}

fn warn_of_missing_unit(timer: &InstalledTimer, unit: &Path, scope: UnitScope, console: &Console) {
    let InstalledTimer { name, manifest, .. } = timer;
    console.warning(&format!("the timer `{name}` is incomplete: {} is missing", unit.display()));
    let manifest = manifest.as_ref().map_or_else(|| "MANIFEST".into(), |path| path.display().to_string());
    let option = if scope == UnitScope::User { " --user" } else { "" };
    let [name, manifest] = [&**name, &*manifest].map(|word| quote_words([word]));
    console.hint(&format!(
        "`ccm timer install {manifest} --name {name}{option}` writes both units anew, with the options that you give; \
         `ccm timer remove {name}{option}` removes the other unit"
    ));
}

fn row(timer: &InstalledTimer) -> [String; 6] {
    let unknown = |words: &str| if timer.is_known { words } else { "unknown" }.to_owned();
    let mut manifest = timer.manifest.as_ref().map_or("?".to_owned(), |path| path.display().to_string());
    if timer.is_manifest_missing {
        manifest += " (missing)";
    }
    let mark = if timer.missing_unit.is_some() {
        " (incomplete)"
    } else if timer.is_edited {
        " (edited)"
    } else {
        ""
    };
    [
        format!("{}{mark}", timer.name),
        if timer.has_other_times { "drop-in".to_owned() } else { timer.every.clone() },
        state(timer).to_owned(),
        timer.next.clone().unwrap_or_else(|| unknown("none")),
        timer.last.as_ref().map_or_else(|| unknown("none"), last_run),
        escape_control(&manifest).into_owned(),
    ]
}

/// Returns whether a timer is enabled, and whether it runs if that differs.
fn state(timer: &InstalledTimer) -> &'static str {
    match (timer.is_enabled, timer.is_active) {
        (true, Some(false)) => "enabled, stopped",
        (true, _) => "enabled",
        (false, Some(true)) => "disabled, running",
        (false, _) => "disabled",
    }
}

fn last_run(LastRun { result, code, at, .. }: &LastRun) -> String {
    let result = match (&**result, code) {
        ("exit-code", Some(code)) => format!("exit code {code}"),
        (result, _) => result.to_owned(),
    };
    at.as_ref().map_or(result.clone(), |at| format!("{result}, {at}"))
}
