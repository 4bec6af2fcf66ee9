//! The hostname resource: the name of the machine, now and after a boot.

mod decide;
mod posix_hostname;

use ccm_engine::{DynProvider, TypedResource};
use ccm_model::{Claim, PathKind, Resource};
use ccm_properties::{PropertyError, TypeSpec, TypedProperties};

use crate::support::no_properties::NoProperties;
use decide::{DesiredHostname, HostnameKind};
use posix_hostname::{FILE, PosixHostname};

#[derive(Debug)]
pub(crate) struct HostnameType;

impl TypeSpec for HostnameType {
    fn name(&self) -> &'static str {
        "hostname"
    }

    fn summary(&self) -> &'static str {
        "Manages the name of the machine."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix"]
    }

    fn claims<'r>(&self, _: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::path(FILE, PathKind::Other)]
    }
}

impl TypedProperties for HostnameType {
    type Written = NoProperties;
    type Desired = DesiredHostname;

    fn build(resource: &Resource, _: NoProperties) -> Result<DesiredHostname, Vec<PropertyError>> {
        DesiredHostname::build(resource)
    }
}

impl TypedResource for HostnameType {
    type Kind = HostnameKind;

    const PROVIDERS: &'static [&'static dyn DynProvider<HostnameKind>] = &[&PosixHostname];
}
