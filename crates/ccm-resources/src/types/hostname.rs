//! The hostname resource: the name of the machine, now and after a boot.

mod decide;
mod export;
mod posix_hostname;

use ccm_engine::DynProvider;
use ccm_model::{Claim, PathKind, Resource};
use ccm_properties::{PropertyError, Providers, TypeSpec, TypedResource};

use crate::support::no_properties::NoProperties;
use crate::support::object_plan::Object;
use decide::DesiredHostname;
use posix_hostname::{FILE, PosixHostname};

#[derive(Debug)]
pub(crate) struct HostnameType;

impl TypedResource for HostnameType {
    type Written = NoProperties;
    type Desired = DesiredHostname;
    type Provider = dyn DynProvider<Object<DesiredHostname>>;

    const NAME: &'static str = "hostname";
    const SUMMARY: &'static str = "Manages the name of the machine.";
    const ENSURES: &'static [&'static str] = &["present"];
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PosixHostname)];

    fn build(resource: &Resource, _: NoProperties) -> Result<DesiredHostname, Vec<PropertyError>> {
        DesiredHostname::build(resource)
    }
}

impl TypeSpec for HostnameType {
    fn claims<'r>(&self, _: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::path(FILE, PathKind::Other)]
    }
}
