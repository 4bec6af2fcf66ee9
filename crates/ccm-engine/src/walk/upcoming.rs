//! Resources that come later in the walk.

use ccm_model::{Control, Resource, ResourceIndex};

use super::Walk;
use crate::prefetch::{Readiness, Upcoming};

impl Walk<'_> {
    /// Returns the resource at a distance behind the current one.
    pub(super) fn upcoming_at(&self, current: &Resource, distance: usize) -> Option<Upcoming<'_>> {
        let index = *self.order.get(self.begun + distance)?;
        let resource = self.run.catalog.resource(index);
        let readiness = self.readiness(current, index, resource);
        // Only what has its turn next may be triggered already.
        let is_undecided = matches!(readiness, Readiness::Blocked | Readiness::Ready);
        let trigger = if is_undecided { self.triggers(index).trigger() } else { None };
        Some(Upcoming { index, resource, readiness, trigger })
    }

    fn readiness(&self, current: &Resource, index: ResourceIndex, resource: &Resource) -> Readiness {
        let is_left_out = self.selection.cause(index).is_some();
        if is_left_out || matches!(resource.control, Control::NotManaged { .. }) {
            return Readiness::WontRun;
        }
        if self.graph.dependencies(index).any(|on| self.records[on.get()].culprits.is_some()) {
            return Readiness::WontRun;
        }
        let is_undecided = resource.group != current.group
            || resource.node_of.is_some()
            || resource.control == Control::Late
            || self.run.late.is_late(index)
            || self.batch.holds(index);
        if is_undecided {
            return Readiness::Undecided;
        }
        let is_ready = self.graph.dependencies(index).all(|on| self.records[on.get()].is_finished);
        if is_ready { Readiness::Ready } else { Readiness::Blocked }
    }
}
