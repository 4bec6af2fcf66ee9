//! Export of services.

use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::{
    Context, Export, ExportedState, InstanceScope, Instances, NotExported, NotExportedKind, Related,
    Suitability,
};

use ccm_model::ResourceId;

use super::ServiceType;
use super::desired::unit_name;
use super::show::{Activity, Load, Unit};
use super::systemd::show;
use crate::parts::accounts::LocalAccounts;
use crate::parts::packages::{PathOrigin, ignores, owned_paths, package_of};
use crate::parts::systemd::suitability;
use crate::parts::systemd::systemctl::Systemctl;
use crate::parts::systemd::units::SYSTEM_UNITS;
use crate::support::export::{is_personal, no_form};
use crate::support::file_failure::names_in;

/// Kinds of units that are exported as services.
const KINDS: &str = "--type=service,socket,timer,path";

/// Ending of directories with drop-ins.
const DROP_INS: &str = ".d";

/// Units that were read together, until something is executed.
#[derive(Default)]
struct ShownUnits(RefCell<HashMap<String, Unit>>);

/// Line of `systemctl list-unit-files`.
struct UnitFile {
    unit: String,
    state: String,
    /// State that the presets of the system give; `None` if systemd is too old to say it.
    preset: Option<String>,
}

impl Export for ServiceType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let systemctl = systemctl(context)?;
        let arguments = ["list-unit-files", KINDS, "--no-legend", "--no-pager", "--plain", "--full"];
        let printed = systemctl.query(&arguments, &*context).await?;
        let own = names_in(Path::new(SYSTEM_UNITS), context.host.files)?;
        let is_listed = |file: &UnitFile| match scope {
            InstanceScope::All => true,
            InstanceScope::MadeByHand => is_made_by_hand(file, &own) && !ignores("service", &file.unit),
        };
        let files: Vec<UnitFile> = printed.lines().filter_map(unit_file).filter(is_listed).collect();
        let units: Vec<&str> = files.iter().map(|file| &*file.unit).collect();
        let shown = show(&units, &systemctl, context).await?;
        let cache = cache(context).await;
        cache.0.borrow_mut().extend(units.iter().map(|unit| (*unit).to_owned()).zip(shown));
        let names = units.into_iter().map(|unit| unit.strip_suffix(".service").unwrap_or(unit).to_owned());
        Ok(names.collect::<Vec<_>>().into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let unit = unit_name(name).map_err(|error| no_form(error.without_location().message))?;
        let systemctl = systemctl(context)?;
        let cached = cache(context).await.0.borrow().get(&unit).cloned();
        let shown = match cached {
            Some(shown) => shown,
            None => match show(&[&unit], &systemctl, context).await?.pop() {
                Some(shown) => shown,
                None => return Ok(None),
            },
        };
        state_of(&unit, &shown)
    }

    async fn related(&self, name: &str, context: &mut Context<'_>) -> Result<Vec<Related>, NotExported> {
        let unit = unit_name(name).map_err(|error| no_form(error.without_location().message))?;
        related(&unit, context).await
    }
}

/// Returns the package, the files and the user of a unit.
async fn related(unit: &str, context: &Context<'_>) -> Result<Vec<Related>, NotExported> {
    let systemctl = systemctl(context)?;
    let Some(shown) = show(&[unit], &systemctl, context).await?.pop() else { return Ok(Vec::new()) };
    let owned = owned_paths(context).await?;
    let mut found = Vec::new();
    let package = package_of(&shown.fragment_path, context).await?;
    if let Some(package) = &package {
        found.push(Related { id: ResourceId::new("package", &**package), triggers: false });
    }
    let user = systemctl.query(&["show", "--property=User", "--value", "--", unit], context).await?;
    if let Some(user) = LocalAccounts::of(context).await?.user(user.trim())
        && user.uid != 0
        && (is_personal(user.uid) || package.is_none())
    {
        found.push(Related { id: ResourceId::new("user", &*user.name), triggers: false });
    }
    let conffiles = package.iter().flat_map(|package| owned.conffiles_of(package)).map(str::to_owned);
    let is_changed = |path: &String| owned.origin(Path::new(path), context) == PathOrigin::Changed;
    let units = [shown.fragment_path].into_iter().chain(shown.drop_ins);
    let is_own = |path: &String| path.starts_with("/etc/") && !owned.has(Path::new(path));
    for path in conffiles.filter(is_changed).chain(units.filter(is_own)) {
        // Packages do not bring the directory of drop-ins.
        let above =
            Path::new(&path).parent().and_then(Path::to_str).filter(|above| above.ends_with(DROP_INS));
        if let Some(above) = above.filter(|above| !owned.has(Path::new(above))) {
            let directory = Related { id: ResourceId::new("file", above), triggers: false };
            if !found.contains(&directory) {
                found.push(directory);
            }
        }
        found.push(Related { id: ResourceId::new("file", path), triggers: true });
    }
    Ok(found)
}

fn systemctl(context: &Context<'_>) -> Result<Systemctl, NotExported> {
    if let Suitability::Unsuitable(reason) = suitability(context.host) {
        return Err(NotExported::new(
            NotExportedKind::Unreadable,
            format!("systemd can't be asked: {reason}"),
        ));
    }
    Ok(Systemctl::of(false, context.host)?)
}

async fn cache(context: &Context<'_>) -> Rc<ShownUnits> {
    let cache = context.state_cache(async || Ok::<_, Infallible>(ShownUnits::default())).await;
    cache.unwrap_or_else(|never| match never {})
}

/// Reads a line of `systemctl list-unit-files`. A template is no unit.
fn unit_file(line: &str) -> Option<UnitFile> {
    let mut words = line.split_whitespace();
    let (unit, state) = (words.next()?.to_owned(), words.next()?.to_owned());
    let preset = words.next().filter(|word| matches!(*word, "enabled" | "disabled")).map(str::to_owned);
    let is_template = unit.contains("@.");
    // An alias has the state of its unit.
    (!is_template && state != "alias").then_some(UnitFile { unit, state, preset })
}

/// Returns `true` for a unit that somebody enabled, disabled or masked against the presets, or whose file is one of the
/// administrator's.
fn is_made_by_hand(file: &UnitFile, own: &[String]) -> bool {
    let is_own = own.binary_search(&file.unit).is_ok();
    match &*file.state {
        "masked" => is_own,
        "enabled" | "disabled" => is_own || file.preset.as_deref().is_some_and(|preset| preset != file.state),
        _ => false,
    }
}

fn state_of(unit: &str, shown: &Unit) -> Result<Option<ExportedState>, NotExported> {
    match &shown.load {
        Load::NotFound => return Ok(None),
        Load::Bad(why) => return Err(no_form(format!("systemd can't load `{unit}`: {why}"))),
        Load::Loaded | Load::Masked => {}
    }
    let is_running = match shown.activity {
        Activity::Running | Activity::Reloading => true,
        Activity::Stopped | Activity::Failed => false,
        Activity::Restarting | Activity::Activating | Activity::Deactivating => {
            let reason = format!("`{unit}` is changing its state ({}, {})", shown.words.0, shown.words.1);
            return Err(no_form(reason).with_hint("export it once it is running or stopped"));
        }
    };
    let state = ExportedState::default();
    let state = if is_running { state } else { state.ensure("stopped") };
    let enable = match &*shown.file_state {
        "enabled" => Some(true),
        "disabled" => Some(false),
        _ => None,
    };
    let is_masked = shown.is_masked();
    let state = state.with_some("enable", enable.filter(|_| !is_masked));
    let state = state.with_some("masked", (is_masked && !is_running).then_some(true));
    let state = match &*shown.file_state {
        "" | "enabled" | "disabled" | "masked" => state,
        other => state.read_only("unit file", other),
    };
    let state =
        if shown.activity == Activity::Failed { state.read_only("result", &*shown.result) } else { state };
    Ok(Some(state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_against_their_preset_are_made_by_hand() {
        let own = ["app.service".to_owned(), "gone.service".to_owned()];
        for (line, expected) in [
            ("nginx.service enabled enabled", Some(false)),
            ("nginx.service disabled enabled", Some(true)),
            ("nginx.service enabled disabled", Some(true)),
            ("nginx.service enabled", Some(false)),
            ("nginx.service masked enabled", Some(false)),
            ("gone.service masked enabled", Some(true)),
            ("app.service enabled enabled", Some(true)),
            ("dbus.service static -", Some(false)),
            ("getty@.service enabled enabled", None),
            ("sshd.service alias -", None),
            ("", None),
        ] {
            let found = unit_file(line).map(|file| is_made_by_hand(&file, &own));
            assert_eq!(found, expected, "{line}");
        }
    }
}
