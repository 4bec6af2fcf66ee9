//! Names that are not those of packages, but provided by installed ones.

use ccm_model::Failure;

use super::decide::{PackagePlan, listed, plan};
use super::state::PackageState;
use crate::parts::packages::{Availability, Package, PackageEnsure, quoted_names};

/// Returns `true` for a name that is only provided by installed packages, and not that of a package of the index.
pub(super) fn is_virtual(state: &PackageState) -> bool {
    !state.providers.is_empty()
        && matches!(state.availability, Availability::Unknown | Availability::Virtual { .. })
}

/// Returns the failure of removing a virtual package: which of the packages should go is for the manifest to say.
pub(super) fn virtual_removal(package: &Package, state: &PackageState) -> Failure {
    let hint = match (&state.providers[..], state.are_providers_wanted) {
        (_, true) => "remove one of the resources: the manifest wants what provides it".to_owned(),
        ([one], false) => format!("write `{one}: {{ensure: absent}}` to remove that package"),
        (several, false) => format!("write each package to remove: {}", listed(several)),
    };
    virtual_failure(package, state).with_hint(hint)
}

pub(super) fn virtual_failure(package: &Package, state: &PackageState) -> Failure {
    let (name, by) = (&package.name, quoted_names(&state.providers));
    Failure::conflict(format!("`{name}` is a virtual package, which is provided by the installed {by}"))
}

/// Returns the warning about a package that is not installed, while another one that is installed provides its name.
pub(super) fn provided_warning(package: &Package, state: &PackageState) -> Option<String> {
    let is_told = package.ensure == PackageEnsure::Absent
        && state.installed().is_none()
        && !state.providers.is_empty()
        && !state.are_providers_wanted
        && matches!(plan(package, state), PackagePlan::Keep(_));
    let (name, by) = (&package.name, quoted_names(&state.providers));
    is_told.then(|| {
        format!(
            "`{name}` is not installed, but provided by the installed {by}: name that package to remove it"
        )
    })
}
