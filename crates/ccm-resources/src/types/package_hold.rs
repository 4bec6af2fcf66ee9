//! The `package_hold` resource: a package that keeps its version.

mod decide;
mod hold_provider;
mod properties;

use std::time::Duration;

use ccm_engine::{DynProvider, TypedResource};
use ccm_model::{ClaimKind, Resource};
use ccm_properties::{Need, PropertyError, TypeSpec, TypedProperties};

use crate::parts::packages::{Apt, Dnf, name_error};
use crate::support::object_plan::is_absent;
use decide::{DesiredHold, HoldKind};
use hold_provider::PackageHolds;
use properties::HoldProperties;

/// Time to wait while another program changes packages, unless the manifest has another.
const LOCK_TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(crate) struct PackageHoldType;

static APT: PackageHolds<Apt> = PackageHolds(Apt);
static DNF: PackageHolds<Dnf> = PackageHolds(Dnf);

impl TypeSpec for PackageHoldType {
    fn name(&self) -> &'static str {
        "package_hold"
    }

    fn summary(&self) -> &'static str {
        "Keeps an installed package at its version."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "held" | "hold" => Some("did you mean `present`?"),
            "unheld" | "unhold" => Some("did you mean `absent`?"),
            _ => None,
        }
    }

    fn providers(&self) -> &'static [&'static str] {
        &["apt", "dnf"]
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let plugins = ["python3-dnf-plugin-versionlock", "dnf-plugin-versionlock"];
        let names = [&*resource.id.name].into_iter().chain(plugins);
        names.map(|name| (ClaimKind::Package, name.into())).collect()
    }
}

impl TypedProperties for PackageHoldType {
    type Written = HoldProperties;
    type Desired = DesiredHold;

    fn build(resource: &Resource, written: HoldProperties) -> Result<DesiredHold, Vec<PropertyError>> {
        match name_error(&resource.id.name) {
            Some((message, hint)) => {
                let error = PropertyError::of_name(message);
                Err(vec![hint.into_iter().fold(error, PropertyError::with_hint)])
            }
            None => Ok(DesiredHold {
                name: resource.id.name.to_string(),
                is_absent: is_absent(resource),
                lock_timeout: written.lock_timeout.unwrap_or(LOCK_TIMEOUT),
            }),
        }
    }
}

impl TypedResource for PackageHoldType {
    type Kind = HoldKind;

    const PROVIDERS: &'static [&'static dyn DynProvider<HoldKind>] = &[&APT, &DNF];
    const NO_PROVIDER_ADVICE: Option<&'static str> = Some("limit the hold to some machines with `control`");
}
