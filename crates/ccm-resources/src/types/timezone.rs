//! The timezone resource: the time zone of the machine.

mod decide;
mod posix_timezone;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, PathKind, Resource};
use ccm_properties::{Need, PropertyError, Providers, TypeSpec, TypedResource};

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
}

impl TypeSpec for TimezoneType {
    fn claims<'r>(&self, _: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::path(LOCAL_TIME, PathKind::Other), Claim::path(FILE, PathKind::Other)]
    }

    fn needs<'r>(&self, _: &'r Resource) -> Vec<Need<'r>> {
        vec![(ClaimKind::Package, "tzdata".into())]
    }
}
