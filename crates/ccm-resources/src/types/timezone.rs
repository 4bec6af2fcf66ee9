//! The timezone resource: the time zone of the machine.

mod decide;
mod posix_timezone;

use ccm_engine::{DynProvider, TypedResource};
use ccm_model::{Claim, ClaimKind, PathKind, Resource};
use ccm_properties::{Need, PropertyError, TypeSpec, TypedProperties};

use crate::support::no_properties::NoProperties;
use decide::{DesiredTimezone, TimezoneKind};
use posix_timezone::{FILE, LOCAL_TIME, PosixTimezone};

#[derive(Debug)]
pub(crate) struct TimezoneType;

impl TypeSpec for TimezoneType {
    fn name(&self) -> &'static str {
        "timezone"
    }

    fn summary(&self) -> &'static str {
        "Manages the time zone of the machine."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix"]
    }

    fn claims<'r>(&self, _: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::path(LOCAL_TIME, PathKind::Other), Claim::path(FILE, PathKind::Other)]
    }

    fn needs<'r>(&self, _: &'r Resource) -> Vec<Need<'r>> {
        vec![(ClaimKind::Package, "tzdata".into())]
    }
}

impl TypedProperties for TimezoneType {
    type Written = NoProperties;
    type Desired = DesiredTimezone;

    fn build(resource: &Resource, _: NoProperties) -> Result<DesiredTimezone, Vec<PropertyError>> {
        DesiredTimezone::build(resource)
    }
}

impl TypedResource for TimezoneType {
    type Kind = TimezoneKind;

    const PROVIDERS: &'static [&'static dyn DynProvider<TimezoneKind>] = &[&PosixTimezone];
}
