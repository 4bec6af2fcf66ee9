//! The package resource: a package of the system, in some version or none.

mod apt;
mod call;
mod change;
mod decide;
mod digits;
mod dnf;
mod properties;
mod provider;
mod state;
mod tool;
mod values;
mod wanted;

use ccm_engine::{Managed, Provider, ResourceType, bind};
use ccm_host::Host;
use ccm_model::{Checked, Diagnostic, Failure, Resource, TypeSpec, decode};
use schemars::{Schema, SchemaGenerator};

use crate::mistakes::{COMMON, as_failure};
use apt::APT_PACKAGES;
use decide::PackageKind;
use dnf::DNF_PACKAGES;
use properties::PackageProperties;
use wanted::{ENSURES, Mistake, Package};

/// The type `package`.
#[derive(Debug)]
pub(crate) struct PackageType;

static PROVIDERS: [&'static dyn Provider<PackageKind>; 2] = [&APT_PACKAGES, &DNF_PACKAGES];

impl TypeSpec for PackageType {
    fn name(&self) -> &'static str {
        "package"
    }

    fn summary(&self) -> &'static str {
        "Manages a package of the system: that it is installed, in which version, or not."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &ENSURES
    }

    fn ensure_pattern(&self) -> Option<&'static str> {
        Some("^[0-9A-Za-z][0-9A-Za-z._+:~^-]*$")
    }

    fn providers(&self) -> &'static [&'static str] {
        &["apt", "dnf"]
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let mut diagnostics = match decode::<PackageProperties>(&resource.properties, COMMON) {
            Ok(properties) => {
                let mistakes = build(resource, &properties).err().unwrap_or_default();
                mistakes.into_iter().map(|mistake| mistake.at(checked)).collect()
            }
            Err(diagnostics) => diagnostics,
        };
        diagnostics.sort_by_key(Diagnostic::span);
        diagnostics
    }

    fn schema(&self) -> Schema {
        SchemaGenerator::default().into_root_schema_for::<PackageProperties>()
    }
}

impl ResourceType for PackageType {
    fn bind(&self, resource: &Resource, host: Host<'_>) -> Result<Box<dyn Managed>, Failure> {
        let properties = decode::<PackageProperties>(&resource.properties, COMMON).map_err(as_failure)?;
        let package = build(resource, &properties)
            .map_err(|mistakes| as_failure(mistakes.into_iter().map(Mistake::without_place).collect()))?;
        bind(package, resource.provider.as_ref().map(|provider| &*provider.value), &PROVIDERS, host)
    }
}

fn build(resource: &Resource, properties: &PackageProperties) -> Result<Package, Vec<Mistake>> {
    let ensure = resource.ensure.as_ref().map(|ensure| &*ensure.value);
    let provider = resource.provider.as_ref().map(|provider| &*provider.value);
    Package::build(&resource.id.name, ensure, provider, properties)
}
