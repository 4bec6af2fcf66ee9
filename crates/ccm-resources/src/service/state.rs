//! What is known of a service.

use std::path::PathBuf;
use std::time::Duration;

use ccm_engine::Described;
use ccm_model::{Fields, StreamTail};
use serde_json::Value;

use super::desired::Service;
use super::show::{Activity, Unit};

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServiceState {
    pub unit: Unit,
    /// A resource that it subscribes to has changed.
    pub triggered: bool,
    /// systemd knows no such unit, yet there is a file of it: it has to read its files again.
    pub has_new_file: bool,
    /// Names of units that may have been meant, if there is none of this name.
    pub suggestions: Vec<String>,
    /// What keeps it from being masked, if it is to be.
    pub mask_obstacle: Option<MaskObstacle>,
    /// How long it was waited for it to end what it was doing, in vain.
    pub waited: Option<Duration>,
    /// What the journal says of it since it was changed, if it did not become what it should.
    pub journal: Option<StreamTail>,
}

/// What is where the link would be made that masks a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MaskObstacle {
    pub path: PathBuf,
    /// It is a link itself, which goes when the unit is disabled.
    pub is_link: bool,
}

/// Shapes the state for events.
pub(crate) fn describe(service: &Service, state: &ServiceState) -> Described {
    let unit = &state.unit;
    let ensure = match unit.activity {
        Activity::Running | Activity::Reloading => "running",
        _ => "stopped",
    };
    Described {
        ensure: ensure.to_owned(),
        state: Fields::from([
            ("protocol", Value::from("io.choria.ccm.v1.resource.service.state")),
            ("resource_type", Value::from("service")),
            ("name", Value::from(service.name.as_str())),
            ("ensure", Value::from(ensure)),
            ("enabled", Value::from(unit.is_enabled())),
            ("masked", Value::from(unit.is_masked())),
            ("unit", Value::from(unit.id.as_str())),
            ("active_state", Value::from(unit.words.0.as_str())),
            ("sub_state", Value::from(unit.words.1.as_str())),
            ("unit_file_state", Value::from(unit.file_state.as_str())),
        ]),
    }
}
