//! The `package_hold` resource: a package that keeps its version.

mod decide;
mod export;
mod hold_provider;
mod properties;

use std::time::Duration;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Resource};
use ccm_properties::{Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::parts::packages::{Apt, Dnf, Tool, name_error, spellings};
use crate::support::object_plan::Object;
use decide::DesiredHold;
use hold_provider::PackageHolds;
use properties::HoldProperties;

/// Time to wait while another program changes packages, unless the manifest has another.
const LOCK_TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(crate) struct PackageHoldType;

impl TypedResource for PackageHoldType {
    type Written = HoldProperties;
    type Desired = DesiredHold;
    type Provider = dyn DynProvider<Object<DesiredHold>>;

    const NAME: &'static str = "package_hold";
    const SUMMARY: &'static str = "Keeps an installed package at its version.";
    const PROVIDERS: Providers<Self::Provider> =
        &[(Apt::NAME, &PackageHolds(Apt)), (Dnf::NAME, &PackageHolds(Dnf))];
    const NO_PROVIDER_ADVICE: Option<&'static str> = Some("limit the hold to some machines with `control`");

    fn build(resource: &Resource, written: HoldProperties) -> Result<DesiredHold, Vec<PropertyError>> {
        match name_error(&resource.id.name) {
            Some((message, hint)) => {
                let error = PropertyError::of_name(message);
                Err(vec![hint.into_iter().fold(error, PropertyError::with_hint)])
            }
            None => Ok(DesiredHold {
                name: resource.id.name.to_string(),
                is_absent: resource.is_absent(),
                lock_timeout: written.lock_timeout.unwrap_or(LOCK_TIMEOUT),
            }),
        }
    }
}

impl TypeSpec for PackageHoldType {
    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "held" | "hold" => Some("write `ensure: present`"),
            "unheld" | "unhold" => Some("write `ensure: absent`"),
            _ => None,
        }
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::exclusive(ClaimKind::PackageHold, &*resource.id.name)]
    }

    /// A hold that is to be absent comes before every change of its package.
    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let plugins = ["python3-dnf-plugin-versionlock", "dnf-plugin-versionlock"];
        let held = if resource.is_absent() { Vec::new() } else { spellings(&resource.id.name) };
        let plugins = plugins.map(str::to_owned);
        held.into_iter().chain(plugins).map(|name| (ClaimKind::Package, name.into())).collect()
    }
}
