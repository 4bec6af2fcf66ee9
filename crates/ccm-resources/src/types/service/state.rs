//! State of a service.

use std::path::PathBuf;
use std::time::Duration;

use ccm_engine::Described;
use ccm_model::{Fields, StreamTail};
use serde_json::Value;

use super::desired::Service;
use super::show::{Activity, Unit};

/// State of a unit, with the reasons for a failed change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServiceState {
    pub unit: Unit,
    /// True if a subscribed resource changed.
    pub triggered: bool,
    /// True if a file of the unit exists that systemd has not read yet.
    pub has_new_file: bool,
    pub suggestions: Vec<String>,
    /// Obstacle to masking, if the desired state is masked.
    pub mask_obstacle: Option<MaskObstacle>,
    /// Time spent waiting for a transition that did not end.
    pub waited: Option<Duration>,
    /// Journal lines since the change, if it did not lead to the desired state.
    pub journal: Option<StreamTail>,
}

/// File or link at the path of the link that masks a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MaskObstacle {
    pub path: PathBuf,
    /// True for a link, which is removed when the unit is disabled.
    pub is_link: bool,
}

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
