//! The service resource: a unit that runs or does not, now and after the next boot.

mod decide;
mod near;
mod properties;
mod rules;
mod show;
mod state;
mod steps;
mod systemctl;
mod systemd;
mod values;
mod wanted;

use ccm_engine::{Managed, Provider, ResourceType, bind};
use ccm_host::Host;
use ccm_model::{
    Checked, Claim, ClaimKind, Diagnostic, Failure, MissingKind, Node, Resource, TypeSpec, decode,
};
use schemars::{Schema, SchemaGenerator};

use crate::mistakes::{COMMON, Mistake, as_failure};
use decide::ServiceKind;
use properties::ServiceProperties;
use systemd::Systemd;
use wanted::{Service, unit_name};

/// The type `service`.
#[derive(Debug)]
pub(crate) struct ServiceType;

static PROVIDERS: [&'static dyn Provider<ServiceKind>; 1] = [&Systemd];

impl TypeSpec for ServiceType {
    fn name(&self) -> &'static str {
        "service"
    }

    fn summary(&self) -> &'static str {
        "Manages a service: whether it runs, and whether it is started at boot."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["running", "stopped"]
    }

    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "started" | "start" | "present" | "active" => Some("did you mean `running`?"),
            "stop" | "absent" | "dead" | "inactive" => Some("did you mean `stopped`?"),
            "restarted" | "reloaded" => Some("a service is restarted when something in `subscribe` changed"),
            "enabled" | "disabled" => Some("use `enable: true` or `enable: false`"),
            "masked" => Some("use `masked: true` with `ensure: stopped`"),
            _ => None,
        }
    }

    fn providers(&self) -> &'static [&'static str] {
        &["systemd"]
    }

    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "sysv" | "sysvinit" | "init" | "openrc" | "upstart" | "runit" | "service" | "launchd" | "bsd" => {
                Some(
                    "services are managed with systemd alone; where there is none, an `exec` can start one: `command: service NAME start`, `unless: service NAME status`",
                )
            }
            _ => None,
        }
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        // A unit of the user is another one, and what is not known yet may be either.
        let is_of_system = resource.properties.get("user").is_none_or(Node::is_null);
        let unit = unit_name(&resource.id.name).ok().filter(|_| is_of_system);
        unit.map(|unit| Claim::exclusive(ClaimKind::Unit, unit)).into_iter().collect()
    }

    fn may_provide(&self, _: &Resource, missing: MissingKind) -> bool {
        // What it makes while it starts is nobody's to say; programs, users and units are not among it.
        missing == MissingKind::Path
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let mut diagnostics = match decode::<ServiceProperties>(&checked.resource.properties, COMMON) {
            Ok(properties) => {
                let mistakes = build(checked.resource, &properties).err().unwrap_or_default();
                mistakes.into_iter().map(|mistake| mistake.at(checked)).collect()
            }
            Err(diagnostics) => diagnostics,
        };
        diagnostics.sort_by_key(Diagnostic::span);
        diagnostics
    }

    fn schema(&self) -> Schema {
        SchemaGenerator::default().into_root_schema_for::<ServiceProperties>()
    }
}

impl ResourceType for ServiceType {
    fn bind(&self, resource: &Resource, host: Host<'_>) -> Result<Box<dyn Managed>, Failure> {
        let properties = decode::<ServiceProperties>(&resource.properties, COMMON).map_err(as_failure)?;
        let service = build(resource, &properties)
            .map_err(|mistakes| as_failure(mistakes.into_iter().map(Mistake::without_place).collect()))?;
        let bound =
            bind(service, resource.provider.as_ref().map(|provider| &*provider.value), &PROVIDERS, host);
        bound.map_err(|failure| failure.with_hint("`control` says on which machines a service is managed"))
    }
}

fn build(resource: &Resource, properties: &ServiceProperties) -> Result<Service, Vec<Mistake>> {
    let ensure = resource.ensure.as_ref().map(|ensure| &*ensure.value);
    Service::build(&resource.id.name, ensure, properties)
}
