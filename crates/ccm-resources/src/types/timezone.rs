//! The timezone resource: the time zone of the machine.

mod decide;
mod export;
mod posix_timezone;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, PathKind, Resource, closest};
use ccm_properties::{CheckInput, Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::support::no_properties::NoProperties;
use crate::support::object_plan::Object;
use decide::DesiredTimezone;
use posix_timezone::{FILE, LOCAL_TIME, PosixTimezone};

#[derive(Debug)]
pub(crate) struct TimezoneType;

impl TypedResource for TimezoneType {
    type Written = NoProperties;
    type Desired = DesiredTimezone;
    type Provider = dyn DynProvider<Object<DesiredTimezone>>;

    const NAME: &'static str = "timezone";
    const SUMMARY: &'static str = "Manages the time zone of the machine.";
    const ENSURES: &'static [&'static str] = &["present"];
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PosixTimezone)];

    fn build(resource: &Resource, _: NoProperties) -> Result<DesiredTimezone, Vec<PropertyError>> {
        DesiredTimezone::build(resource)
    }

    fn warnings(zone: &DesiredTimezone, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        unknown_area(&zone.0, checked.resource).into_iter().collect()
    }
}

/// Areas of the time zone database, which are the directories of its zones.
const AREAS: [&str; 19] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Brazil",
    "Canada",
    "Chile",
    "Etc",
    "Europe",
    "Indian",
    "Mexico",
    "Pacific",
    "SystemV",
    "US",
    "posix",
    "right",
];

/// Returns the warning about a zone in an area that no time zone database has. Only the machine knows its zones.
fn unknown_area(zone: &str, resource: &Resource) -> Option<Diagnostic> {
    let (area, place) = zone.split_once('/').filter(|(area, _)| !AREAS.contains(area))?;
    let message = format!("time zones have no area `{area}`");
    let warning = Diagnostic::warning(DiagnosticKind::UnknownReference, resource.span, message);
    Some(match closest(area, AREAS) {
        Some(nearest) => warning.with_suggestion(Some(&format!("{nearest}/{place}"))),
        None => warning
            .with_hint("write a name like `Europe/Berlin`: `timedatectl list-timezones` shows all names"),
    })
}

impl TypeSpec for TimezoneType {
    fn claims<'r>(&self, _: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::path(LOCAL_TIME, PathKind::Other), Claim::path(FILE, PathKind::Other)]
    }

    fn needs<'r>(&self, _: &'r Resource) -> Vec<Need<'r>> {
        vec![(ClaimKind::Package, "tzdata".into())]
    }
}
