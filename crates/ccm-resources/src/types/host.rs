//! The host resource: a host of `/etc/hosts`.

mod decide;
mod export;
mod hosts_file;
mod posix_hosts;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Resource};
use ccm_properties::{PropertyError, Providers, TypeSpec, TypedResource};

use crate::support::object_plan::Object;
use decide::DesiredHost;
use hosts_file::HOSTS;
use posix_hosts::PosixHosts;
use properties::HostProperties;

#[derive(Debug)]
pub(crate) struct HostType;

impl TypedResource for HostType {
    type Written = HostProperties;
    type Desired = DesiredHost;
    type Provider = dyn DynProvider<Object<DesiredHost>>;

    const NAME: &'static str = "host";
    const SUMMARY: &'static str = "Manages the address and the aliases of a host in `/etc/hosts`.";
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PosixHosts)];

    fn build(resource: &Resource, written: HostProperties) -> Result<DesiredHost, Vec<PropertyError>> {
        DesiredHost::build(resource, written)
    }
}

impl TypeSpec for HostType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = resource.id.name.to_ascii_lowercase();
        vec![Claim::exclusive(ClaimKind::Host, name), Claim::part_of_file(HOSTS)]
    }
}
