//! Export of timers that ccm has written. Timers of others are services and files.

use std::path::Path;

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};
use ccm_model::quote_words;

use super::TimerType;
use super::desired::name_error;
use super::units::COMMENT;
use crate::parts::systemd::unit_words::words_of_systemd;
use crate::parts::systemd::units::{SYSTEM_UNITS, UnitContent, read_unit, timer_units};
use crate::support::export::no_form;
use crate::support::file_failure::{file_failure, names_in};

impl Export for TimerType {
    async fn instances(&self, _: InstanceScope, context: &mut Context<'_>) -> Result<Instances, NotExported> {
        let mut names = Vec::new();
        for unit in names_in(Path::new(SYSTEM_UNITS), context.host.files)? {
            let Some(name) = unit.strip_suffix(".timer") else { continue };
            if own_unit(&unit, context)?.is_some() {
                names.push(name.to_owned());
            }
        }
        Ok(names.into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        if let Some((message, hint)) = name_error(name) {
            return Err(no_form(message).with_hint(hint));
        }
        let [service, timer] = timer_units(name);
        match (own_unit(&service, context)?, own_unit(&timer, context)?) {
            (Some(service), Some(timer)) => state(&service, &timer).map(Some),
            (None, None) if !exists(&timer, context)? => Ok(None),
            (None, None) => Err(no_form(format!("`{timer}` was not written by ccm"))
                .with_hint(format!("export the unit: `ccm resource service {timer}`"))),
            _ => Err(no_form(format!("one of the units `{service}` and `{timer}` was not written by ccm"))),
        }
    }
}

fn exists(unit: &str, context: &Context<'_>) -> Result<bool, NotExported> {
    let found = read_unit(&Path::new(SYSTEM_UNITS).join(unit), context.host.files);
    Ok(found.map_err(|error| file_failure(&error))? != UnitContent::Missing)
}

/// Reads a unit that ccm wrote; `None` for any other.
fn own_unit(unit: &str, context: &Context<'_>) -> Result<Option<String>, NotExported> {
    let found = read_unit(&Path::new(SYSTEM_UNITS).join(unit), context.host.files);
    let text = match found.map_err(|error| file_failure(&error))? {
        UnitContent::File(bytes) => String::from_utf8(bytes).ok(),
        UnitContent::Missing | UnitContent::Foreign => None,
    };
    Ok(text.filter(|text| text.starts_with(COMMENT)))
}

/// Reads what the texts of the two units were made of.
fn state(service: &str, timer: &str) -> Result<ExportedState, NotExported> {
    let value = |text: &str, name: &str| -> Option<String> {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .map(|value| value.replace("%%", "%"))
    };
    let without_form = |what: &str| no_form(format!("the {what} of the timer has no form in a manifest"));
    if service.lines().any(|line| line.starts_with("ExecStopPost=")) {
        return Err(without_form("command after a failure"));
    }
    let command = service.lines().find_map(|line| line.strip_prefix("ExecStart="));
    let words = command.and_then(words_of_systemd).ok_or_else(|| without_form("command"))?;
    let calendar: Vec<String> = timer
        .lines()
        .filter_map(|line| line.strip_prefix("OnCalendar="))
        .map(|time| time.replace("%%", "%"))
        .collect();
    let on_failure: Vec<String> = service
        .lines()
        .filter_map(|line| line.strip_prefix("OnFailure="))
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect();
    Ok(ExportedState::default()
        .with("command", quote_words(words.iter().map(String::as_str)))
        .with("on_calendar", calendar)
        .with_some("jitter", value(timer, "RandomizedDelaySec"))
        .with_some("user", value(service, "User"))
        .with_some("persistent", (value(timer, "Persistent").as_deref() == Some("false")).then_some(false))
        .with_some("on_failure", Some(on_failure).filter(|units| !units.is_empty())))
}
