//! What can be said of a turn before it comes.

use ccm_model::{Control, Resource, ResourceIndex};

use super::Walk;
use crate::ahead::{Later, Standing};

impl Walk<'_> {
    /// What comes at that distance behind a resource whose turn it is.
    pub(super) fn later_at(&self, current: &Resource, distance: usize) -> Option<Later<'_>> {
        let index = *self.order.get(self.begun + distance)?;
        let resource = self.run.catalog.resource(index);
        Some(Later { index, resource, standing: self.standing(current, index, resource) })
    }

    fn standing(&self, current: &Resource, index: ResourceIndex, resource: &Resource) -> Standing {
        let is_selected = self.selected.as_ref().is_none_or(|selected| selected[index.get()]);
        if !is_selected || matches!(resource.control, Control::NotManaged { .. }) {
            return Standing::Passed;
        }
        if self.graph.dependencies(index).any(|on| self.done[on.get()].culprits.is_some()) {
            return Standing::Passed;
        }
        let is_open = resource.group != current.group
            || resource.node_of.is_some()
            || resource.control == Control::Late
            || self.run.late.is_late(index)
            || self.together.holds(index)
            || !self.triggers(index).by.is_empty();
        if is_open {
            return Standing::Open;
        }
        let is_ready = self.graph.dependencies(index).all(|on| self.done[on.get()].finished);
        if is_ready { Standing::Ready } else { Standing::Waiting }
    }
}
