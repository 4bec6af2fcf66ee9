//! The package resource: a system package, in a certain version, in any or absent.

mod change;
mod decide;
mod desired;
mod export;
mod index_age;
mod properties;
mod provider;
mod rules;
mod state;
mod virtual_name;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Resource};
use ccm_properties::{MayProvide, Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::parts::packages::{Apt, Dnf, Package, Pacman, Tool, spellings};
use decide::PackageKind;
use desired::ENSURES;
use properties::PackageProperties;
use provider::Packages;

/// Advice for packages of another tool: an `exec` that installs a package, with its guard.
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

/// Directories with the definitions of repositories.
const REPOSITORY_DIRECTORIES: [&str; 2] = ["/etc/apt/sources.list.d", "/etc/yum.repos.d"];

#[derive(Debug)]
pub(crate) struct PackageType;

impl TypedResource for PackageType {
    type Written = PackageProperties;
    type Desired = Package;
    type Provider = dyn DynProvider<PackageKind>;

    const NAME: &'static str = "package";
    const SUMMARY: &'static str = "Installs, upgrades or removes a system package.";
    const ENSURES: &'static [&'static str] = &ENSURES;
    const PROVIDERS: Providers<Self::Provider> =
        &[(Apt::NAME, &Packages(Apt)), (Dnf::NAME, &Packages(Dnf)), (Pacman::NAME, &Packages(Pacman))];
    const NO_PROVIDER_ADVICE: Option<&'static str> =
        Some("limit the package to some machines with `control`, or call another tool with an `exec`");

    fn build(resource: &Resource, written: PackageProperties) -> Result<Package, Vec<PropertyError>> {
        let ensure = resource.ensure.as_ref().map(|ensure| &*ensure.value);
        let provider = resource.provider.as_ref().map(|provider| &*provider.value);
        Package::build(&resource.id.name, ensure, provider, &written)
    }
}

impl TypeSpec for PackageType {
    fn ensure_pattern(&self) -> Option<&'static str> {
        Some("^[0-9A-Za-z][0-9A-Za-z._+:~^-]*$")
    }

    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "yum" | "microdnf" | "rpm" => Some("did you mean `dnf`?"),
            "apt-get" | "aptitude" | "dpkg" | "deb" => Some("did you mean `apt`?"),
            "zypper" => Some(exec_instead!("zypper --non-interactive install NAME", "rpm -q NAME")),
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

    /// A package comes after the definitions of repositories, because one of them may have it.
    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let installs = installs(resource);
        let directories = REPOSITORY_DIRECTORIES.iter().filter(|_| installs);
        directories.map(|directory| (ClaimKind::Path, (*directory).into())).collect()
    }

    /// A package changes after its hold is released, and is installed without the repositories that are to be absent.
    fn needs_absent<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let holds = spellings(&resource.id.name).into_iter();
        holds.map(|name| (ClaimKind::PackageHold, name.into())).chain(self.needs(resource)).collect()
    }

    fn may_write_files(&self) -> bool {
        true
    }

    fn may_provide(&self, resource: &Resource) -> MayProvide {
        if installs(resource) { MayProvide::Anything } else { MayProvide::Nothing }
    }
}

/// Returns `true` if a package may be installed.
fn installs(resource: &Resource) -> bool {
    resource.ensure.as_ref().is_none_or(|ensure| ensure.value != "absent")
}
