//! The package resource: a package of the system, in some version or none.

mod apt;
mod call;
mod change;
mod decide;
mod digits;
mod dnf;
mod properties;
mod provider;
mod rules;
mod state;
mod tool;
mod values;
mod wanted;

use ccm_engine::{Managed, Provider, ResourceType, bind};
use ccm_host::Host;
use ccm_model::{Checked, Claim, ClaimKind, Diagnostic, Failure, MissingKind, Resource, TypeSpec, decode};
use schemars::{Schema, SchemaGenerator};

use crate::mistakes::{COMMON, as_failure};
use apt::APT_PACKAGES;
use decide::PackageKind;
use dnf::DNF_PACKAGES;
use properties::PackageProperties;
use wanted::{ENSURES, Mistake, Package};

/// Says what to do with packages of another tool: the command that installs one, and the guard that knows whether it is
/// there.
macro_rules! exec_instead {
    ($command:literal, $guard:literal) => {
        concat!(
            "packages of other tools can't be managed; an `exec` can install one: `command: ",
            $command,
            "`, `unless: ",
            $guard,
            "`"
        )
    };
}

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

    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "yum" | "microdnf" | "rpm" => Some("did you mean `dnf`?"),
            "apt-get" | "aptitude" | "dpkg" | "deb" => Some("did you mean `apt`?"),
            "zypper" => Some(exec_instead!("zypper --non-interactive install NAME", "rpm -q NAME")),
            "pacman" => Some(exec_instead!("pacman -S --noconfirm NAME", "pacman -Q NAME")),
            "apk" => Some(exec_instead!("apk add NAME", "apk info -e NAME")),
            "portage" | "emerge" => Some(exec_instead!("emerge NAME", "qlist -I NAME")),
            "brew" | "homebrew" => Some(exec_instead!("brew install NAME", "brew list NAME")),
            "snap" => Some(exec_instead!("snap install NAME", "snap list NAME")),
            "flatpak" => Some(exec_instead!("flatpak install -y NAME", "flatpak info NAME")),
            "pip" | "pip3" => Some(exec_instead!("pip3 install NAME", "pip3 show NAME")),
            "npm" => Some(exec_instead!("npm install --global NAME", "npm list --global NAME")),
            "gem" => Some(exec_instead!("gem install NAME", "gem list --installed NAME")),
            _ => None,
        }
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::exclusive(ClaimKind::Package, &*resource.id.name)]
    }

    fn may_provide(&self, resource: &Resource, missing: MissingKind) -> bool {
        let is_absent = resource.ensure.as_ref().is_some_and(|ensure| ensure.value == "absent");
        !is_absent || missing.may_be_by_removal()
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
        let bound =
            bind(package, resource.provider.as_ref().map(|provider| &*provider.value), &PROVIDERS, host);
        bound.map_err(|failure| {
            failure.with_hint(
                "`control` says on which machines a package is managed; an `exec` can call other tools",
            )
        })
    }
}

fn build(resource: &Resource, properties: &PackageProperties) -> Result<Package, Vec<Mistake>> {
    let ensure = resource.ensure.as_ref().map(|ensure| &*ensure.value);
    let provider = resource.provider.as_ref().map(|provider| &*provider.value);
    Package::build(&resource.id.name, ensure, provider, properties)
}
