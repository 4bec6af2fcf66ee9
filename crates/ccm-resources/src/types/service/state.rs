//! State of a service.

use std::path::PathBuf;
use std::time::Duration;

use ccm_engine::Described;
use ccm_model::StreamTail;

use super::enablement::Enablement;
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
    /// Enablement beyond systemd's word.
    pub enablement: Enablement,
    /// The unit does not exist, and that counts as stopped.
    pub is_rightly_missing: bool,
    /// Active units that start the unit again, if the desired state is stopped.
    pub starters: Vec<String>,
    /// Path of the link that masks the unit.
    pub mask: Option<PathBuf>,
    /// Number of times that systemd restarted the unit while it was watched after its start.
    pub restarts_after_start: u32,
    /// Time since the unit became active.
    pub active_for: Option<Duration>,
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

pub(crate) fn describe(state: &ServiceState) -> Described {
    let unit = &state.unit;
    let ensure = match unit.activity {
        Activity::Running | Activity::Reloading => "running",
        _ => "stopped",
    };
    Described::new(ensure)
        .with("enabled", unit.is_enabled())
        .with("masked", unit.is_masked())
        .with("unit", unit.id.as_str())
        .with("active_state", unit.words.0.as_str())
        .with("sub_state", unit.words.1.as_str())
        .with("unit_file_state", unit.file_state.as_str())
}
