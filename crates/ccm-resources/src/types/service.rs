//! The service resource: a systemd unit that runs or not, and starts at boot or not.

mod absence;
mod decide;
mod desired;
mod enablement;
mod export;
mod properties;
mod rules;
mod show;
mod state;
mod steps;
mod suggestions;
mod systemd;
mod values;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, Node, Resource, closest, escape_control};
use ccm_properties::{CheckInput, Need, PropertyError, Providers, Release, TypeSpec, TypedResource};

use crate::parts::systemd::units::UNIT_DIRECTORIES;
use decide::ServiceKind;
use desired::{SUFFIXES, Service, unit_name};
use properties::ServiceProperties;
use systemd::Systemd;

#[derive(Debug)]
pub(crate) struct ServiceType;

impl TypedResource for ServiceType {
    type Written = ServiceProperties;
    type Desired = Service;
    type Provider = dyn DynProvider<ServiceKind>;

    const NAME: &'static str = "service";
    const SUMMARY: &'static str = "Starts or stops a service, and enables or disables it at boot.";
    const ENSURES: &'static [&'static str] = &["running", "stopped"];
    const PROVIDERS: Providers<Self::Provider> = &[("systemd", &Systemd)];
    const NO_PROVIDER_ADVICE: Option<&'static str> =
        Some("limit the service to some machines with `control`");

    fn build(resource: &Resource, written: ServiceProperties) -> Result<Service, Vec<PropertyError>> {
        let ensure = resource.ensure.as_ref().map(|ensure| &*ensure.value);
        Service::build(&resource.id.name, ensure, &written)
    }

    fn warnings(service: &Service, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        misspelt_suffix(service, checked.resource).into_iter().collect()
    }
}

/// Endings of files that belong to services.
const FILE_ENDINGS: [&str; 9] = ["cfg", "conf", "d", "ini", "pid", "py", "sh", "sock", "yaml"];

/// Returns the warning about a name whose ending is nearly that of a kind of unit.
fn misspelt_suffix(service: &Service, resource: &Resource) -> Option<Diagnostic> {
    let Service { name, unit, .. } = service;
    let (stem, written) = name.rsplit_once('.').filter(|(_, written)| !SUFFIXES.contains(written))?;
    let Some(meant) = closest(written, SUFFIXES) else {
        // A file of a service in its place.
        let is_file = FILE_ENDINGS.contains(&written);
        return is_file.then(|| {
            let message = format!("`.{written}` is not the ending of a unit, so that the unit is `{unit}`");
            Diagnostic::warning(DiagnosticKind::UnknownReference, resource.span, message)
                .with_hint(format!("write `{}`, the name of the service", escape_control(stem)))
        });
    };
    let message = format!("`.{written}` is not the ending of a unit, so that the unit is `{unit}`");
    let warning = Diagnostic::warning(DiagnosticKind::UnknownReference, resource.span, message);
    Some(warning.with_suggestion(Some(&format!("{stem}.{meant}"))))
}

impl TypeSpec for ServiceType {
    fn refreshes(&self) -> bool {
        true
    }

    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "started" | "start" | "present" | "active" => Some("write `ensure: running`"),
            "stop" | "absent" | "dead" | "inactive" => Some("write `ensure: stopped`"),
            "restarted" | "reloaded" => {
                Some("list resources in `subscribe` to restart the service when they change")
            }
            "enabled" | "disabled" => Some("use `enable: true` or `enable: false`"),
            "masked" => Some("use `masked: true` with `ensure: stopped`"),
            _ => None,
        }
    }

    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "sysv" | "sysvinit" | "init" | "openrc" | "upstart" | "runit" | "service" | "launchd" | "bsd" => {
                Some(
                    "only systemd is supported; start the service with an `exec`: `command: service NAME start`, `unless: service NAME status`",
                )
            }
            _ => None,
        }
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        // A unit of a user is not the system unit of that name; a `user` not known yet may select either.
        let is_system_unit = resource.properties.get("user").is_none_or(Node::is_null);
        let unit = unit_name(&resource.id.name).ok().filter(|_| is_system_unit);
        unit.map(|unit| Claim::exclusive(ClaimKind::Unit, unit)).into_iter().collect()
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let is_system_unit = resource.properties.get("user").is_none_or(Node::is_null);
        let Some(unit) = unit_name(&resource.id.name).ok().filter(|_| is_system_unit) else {
            return Vec::new();
        };
        let stem = unit.rsplit_once('.').map_or(&*unit, |(stem, _)| stem);
        let package = (ClaimKind::Package, stem.to_owned().into());
        // The unit of an instance is a file without the name of the instance.
        let template = stem.split_once('@').map(|(before, _)| format!("{before}@{}", &unit[stem.len()..]));
        let files = UNIT_DIRECTORIES.iter().flat_map(|directory| {
            let names = [Some(unit.clone()), Some(format!("{unit}.d")), template.clone()];
            names
                .into_iter()
                .flatten()
                .map(move |name| (ClaimKind::Path, format!("{directory}/{name}").into()))
        });
        files.chain([package]).collect()
    }

    fn ends(&self, resource: &Resource) -> bool {
        resource.ensure.as_ref().is_some_and(|ensure| ensure.value == "stopped")
    }

    /// The unit tells which user a service runs as, and not the manifest. Most often it has the same name.
    fn releases<'r>(&self, resource: &'r Resource) -> Vec<Release<'r>> {
        if !self.ends(resource) {
            return Vec::new();
        }
        let needs = self.needs(resource);
        let user = resource.id.name.strip_suffix(".service").unwrap_or(&resource.id.name);
        let user = (ClaimKind::User, user.split('@').next().unwrap_or(user).into());
        needs.into_iter().chain([user]).map(Release::Object).collect()
    }

    /// A service runs with the unit that is left once its own unit file or a drop-in file is removed.
    fn needs_absent<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let needs = if self.ends(resource) { Vec::new() } else { self.needs(resource) };
        needs.into_iter().filter(|(kind, _)| *kind == ClaimKind::Path).collect()
    }

    fn may_write_files(&self) -> bool {
        true
    }
}
