//! The host resource: a host of `/etc/hosts`.

mod decide;
mod hosts_file;
mod posix_hosts;
mod properties;

use ccm_engine::{DynProvider, TypedResource};
use ccm_model::{Claim, ClaimKind, Resource};
use ccm_properties::{PropertyError, TypeSpec, TypedProperties};

use decide::{DesiredHost, HostKind};
use hosts_file::HOSTS;
use posix_hosts::PosixHosts;
use properties::HostProperties;

#[derive(Debug)]
pub(crate) struct HostType;

impl TypeSpec for HostType {
    fn name(&self) -> &'static str {
        "host"
    }

    fn summary(&self) -> &'static str {
        "Manages the address and the aliases of a host in `/etc/hosts`."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix"]
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = resource.id.name.to_ascii_lowercase();
        vec![Claim::exclusive(ClaimKind::Host, name), Claim::part_of_file(HOSTS)]
    }
}

impl TypedProperties for HostType {
    type Written = HostProperties;
    type Desired = DesiredHost;

    fn build(resource: &Resource, written: HostProperties) -> Result<DesiredHost, Vec<PropertyError>> {
        DesiredHost::build(resource, written)
    }
}

impl TypedResource for HostType {
    type Kind = HostKind;

    const PROVIDERS: &'static [&'static dyn DynProvider<HostKind>] = &[&PosixHosts];
}
