//! The `kernel_module` resource: a module of the kernel, now and after a boot.

mod decide;
mod export;
mod kmod;
mod module_files;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, PathKind, Resource};
use ccm_properties::{MayProvide, Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::support::object_plan::Object;
use decide::{DesiredModule, kernel_name};
use kmod::Kmod;
use module_files::{boot_file, modprobe_file};
use properties::KernelModuleProperties;

#[derive(Debug)]
pub(crate) struct KernelModuleType;

impl TypedResource for KernelModuleType {
    type Written = KernelModuleProperties;
    type Desired = DesiredModule;
    type Provider = dyn DynProvider<Object<DesiredModule>>;

    const NAME: &'static str = "kernel_module";
    const SUMMARY: &'static str = "Loads or unloads a module of the kernel, now and at boot.";
    const PROVIDERS: Providers<Self::Provider> = &[("kmod", &Kmod)];

    fn build(
        resource: &Resource,
        written: KernelModuleProperties,
    ) -> Result<DesiredModule, Vec<PropertyError>> {
        DesiredModule::build(resource, written)
    }
}

impl TypeSpec for KernelModuleType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = kernel_name(&resource.id.name);
        let files = [boot_file(&name), modprobe_file(&name)];
        let files = files.map(|file| Claim::path(file.display().to_string(), PathKind::Other));
        [Claim::exclusive(ClaimKind::KernelModule, name)].into_iter().chain(files).collect()
    }

    fn needs<'r>(&self, _: &'r Resource) -> Vec<Need<'r>> {
        vec![(ClaimKind::Package, "kmod".into())]
    }

    fn may_provide(&self, _: &Resource) -> MayProvide {
        // A module brings parameters and devices.
        MayProvide::Files
    }
}
