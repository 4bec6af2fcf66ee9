//! `ccm timer migrate`: a timer of the package's template becomes one of ccm.

use ccm_runtime::timer::{MigrationPlan, MigrationWarning, TimerError, TimerName, UnitScope};

use super::{shown_units, timer_error, timers};
use crate::arguments::TimerMigrateArguments;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::reactor::block_on;
use crate::session;
use ccm_runtime::{ExitCode, Session};

pub(super) fn run(arguments: &TimerMigrateArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    let timers = timers(&session, UnitScope::System)?;
    let failed = |error: TimerError| migration_error(&session, &error, &arguments.name);
    let Some(plan) = block_on(timers.plan_migration(&arguments.name, arguments.force))?.map_err(failed)?
    else {
        let name = &arguments.name;
        return console.print(&format!("ccm-apply@{name}.timer was migrated before; nothing was changed\n"));
    };
    for warning in &plan.warnings {
        let (message, hint) = warned(warning);
        console.warning(&message);
        console.hint(&hint);
    }
    if arguments.noop {
        return console.print(&session.secrets().redact(&shown_plan(&plan)));
    }
    block_on(timers.migrate(&plan))?.map_err(failed)?;
    console.print(&shown_migration(&plan))?;
    Ok(ExitCode::Success)
}

/// Returns what a warning says, and what to do about it.
fn warned(warning: &MigrationWarning) -> (String, String) {
    match warning {
        MigrationWarning::ChangedTemplate(path) => (
            format!(
                "{} is not that of the package; what was changed in it is not carried over",
                path.display()
            ),
            "compare the units, and put the difference into drop-ins with `systemctl edit`".to_owned(),
        ),
        MigrationWarning::NamesTemplate(path) => (
            format!("{} names a unit of ccm-apply@, also where it is carried over to", path.display()),
            "write the new name in the drop-in, `ccm-NAME.timer` or `ccm-NAME.service`".to_owned(),
        ),
        MigrationWarning::NoManifest(path) => (
            format!("the manifest {} does not exist", path.display()),
            "put it there, or remove the timer with `ccm timer remove`".to_owned(),
        ),
        _ => (String::new(), String::new()),
    }
}

/// Returns the calls that start the new timer and stop the old one.
fn calls(plan: &MigrationPlan) -> [String; 2] {
    let (new, old) = (&plan.timer.timer, &plan.old);
    match (plan.is_enabled, plan.is_active) {
        (true, true) => [format!("enable --now {new}"), format!("disable --now {old}")],
        (true, false) => [format!("enable {new}"), format!("disable --now {old}")],
        (false, _) => [format!("start {new}"), format!("stop {old}")],
    }
}

fn shown_plan(plan: &MigrationPlan) -> String {
    let drop_ins = plan.drop_ins.iter().map(|drop_in| {
        let path = drop_in.path.display();
        match (&drop_in.source, drop_in.is_changed) {
            (_, false) => format!("{path} is up to date\n"),
            (Some(source), true) => format!("would write {path}, from {}\n", source.display()),
            (None, true) => format!("would write {path}, with the defaults of the template\n"),
        }
    });
    let drop_ins: String = drop_ins.collect();
    let [start, stop] = calls(plan);
    format!(
        "{}{drop_ins}would run `systemctl daemon-reload`, `systemctl {start}` and `systemctl {stop}`\n",
        shown_units(&plan.timer)
    )
}

fn shown_migration(plan: &MigrationPlan) -> String {
    let drop_ins = plan.drop_ins.iter().filter(|drop_in| drop_in.is_changed).map(|drop_in| &drop_in.path);
    let units = plan.timer.units.iter().filter(|unit| unit.is_changed).map(|unit| &unit.path);
    let wrote =
        drop_ins.chain(units).fold(String::new(), |text, path| text + &format!("wrote {}\n", path.display()));
    let (new, old) = (&plan.timer.timer, &plan.old);
    let state = if plan.is_enabled { "is disabled" } else { "is stopped" };
    let mut text = format!("{wrote}{new} applies {}; {old} {state}\n", plan.manifest.display());
    for path in &plan.unused {
        text += &format!("{} is used no more; remove it once all is well\n", path.display());
    }
    text
}

fn migration_error(session: &Session, error: &TimerError, name: &TimerName) -> CommandError {
    let hint = match error {
        TimerError::NoTemplateTimer { known, .. } if known.is_empty() => {
            "`ccm timer list` shows the timers of both kinds".to_owned()
        }
        TimerError::NoTemplateTimer { known, .. } => {
            let names: Vec<&str> =
                known.iter().filter_map(|name| name.split_once('@')).map(|(_, name)| name).collect();
            format!("use one of: {}", names.join(", "))
        }
        TimerError::OtherSettings { unit, .. } => {
            format!(
                "keep the timer `{name}` with `systemctl disable --now {unit}`, or replace it with `--force`"
            )
        }
        TimerError::OtherManifest { .. } => "remove that timer, or replace it with `--force`".to_owned(),
        TimerError::OtherDropIn(_) => "compare the drop-ins; `--force` replaces it".to_owned(),
        TimerError::Foreign(_) => "move the file away".to_owned(),
        TimerError::Elsewhere(_) => {
            format!(
                "use `ccm timer install /etc/ccm/{name}.yaml --name OTHER`, and then disable ccm-apply@{name}.timer"
            )
        }
        TimerError::PatternOfVariables(_) => "name the files in the drop-in one by one".to_owned(),
        TimerError::HiddenOptions(_) => {
            "move secrets to a file for `--hiera`, or open the file to others if it has none".to_owned()
        }
        TimerError::NoSystemd => {
            return CommandError::of(error)
                .therefore("nothing was changed")
                .hint("run this on the booted machine");
        }
        error => return timer_error(session, error, UnitScope::System),
    };
    CommandError::of(error).therefore("nothing was changed").hint(hint)
}
