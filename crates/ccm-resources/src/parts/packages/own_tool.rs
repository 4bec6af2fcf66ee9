//! Package tool of the machine.

use ccm_engine::Suitability;
use ccm_host::Host;

use super::tool::Tool;
use super::{Apt, Dnf, Pacman};

/// Package tool that the type `package` would use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnTool {
    Apt,
    Dnf,
    Pacman,
}

impl OwnTool {
    /// Finds the tool of a machine; `None` if none that ccm knows is there.
    pub(crate) fn of(host: Host<'_>) -> Option<Self> {
        let tools = [
            (Self::Apt, Apt.suitability(host)),
            (Self::Dnf, Dnf.suitability(host)),
            (Self::Pacman, Pacman.suitability(host)),
        ];
        let suiting = tools.into_iter().filter_map(|(tool, suitability)| match suitability {
            Suitability::Suits(priority) => Some((tool, priority)),
            Suitability::Unsuitable(_) => None,
        });
        suiting.min_by_key(|(_, priority)| *priority).map(|(tool, _)| tool)
    }
}
