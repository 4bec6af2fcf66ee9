//! The sysctl resource: a parameter of the kernel, now and after a boot.

mod decide;
mod key;
mod parameter_file;
mod procfs;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Node, Resource};
use ccm_properties::{Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::support::object_plan::Object;
use crate::support::values::canonical_path::is_canonical;
use decide::{DEFAULT_FILE, DesiredParameter};
use key::ParameterKey;
use procfs::Procfs;
use properties::SysctlProperties;

#[derive(Debug)]
pub(crate) struct SysctlType;

impl TypedResource for SysctlType {
    type Written = SysctlProperties;
    type Desired = DesiredParameter;
    type Provider = dyn DynProvider<Object<DesiredParameter>>;

    const NAME: &'static str = "sysctl";
    const SUMMARY: &'static str = "Manages a parameter of the kernel, now and after a boot.";
    const PROVIDERS: Providers<Self::Provider> = &[("procfs", &Procfs)];

    fn build(resource: &Resource, written: SysctlProperties) -> Result<DesiredParameter, Vec<PropertyError>> {
        DesiredParameter::build(resource, written)
    }
}

impl TypeSpec for SysctlType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let key = ParameterKey::parse(&resource.id.name);
        let key = key.map(|key| Claim::exclusive(ClaimKind::KernelParameter, key.to_string()));
        let file = resource.properties.get("file").and_then(Node::as_text).unwrap_or(DEFAULT_FILE);
        let file = Some(file).filter(|file| is_canonical(file)).map(Claim::part_of_file);
        key.into_iter().chain(file).collect()
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let module = ParameterKey::parse(&resource.id.name).and_then(|key| key.module());
        module.map(|module| (ClaimKind::KernelModule, module.into())).into_iter().collect()
    }
}
