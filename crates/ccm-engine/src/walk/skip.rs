//! Causes for skipping a resource.

use std::rc::Rc;

use ccm_model::{Control, ResourceIndex, SkipCause, StopCause};

use super::Walk;
use crate::groups::EndedGroup;

impl Walk<'_> {
    /// Returns the cause for skipping a resource. `None` if it is processed.
    pub(super) fn skip_cause(&mut self, index: ResourceIndex) -> Option<SkipCause> {
        // The batch of an earlier resource has changed it, even if the run was stopped since.
        if self.batch.holds(index) {
            return None;
        }
        if let Some(cause) = self.selection.cause(index) {
            return Some(cause);
        }
        let resource = self.run.catalog.resource(index);
        if let (Control::NotManaged { reason }, false) = (&resource.control, resource.is_monitored) {
            return Some(SkipCause::NotManaged { reason: reason.clone() });
        }
        if !self.run.earlier.failed.is_empty() && !self.run.is_monitored(resource) {
            return Some(SkipCause::DependencyFailed { culprits: self.run.earlier.failed.to_vec() });
        }
        // A health check looks at its resource, whatever the state of others.
        let culprits = if self.run.is_monitored(resource) { None } else { self.culprits_before(index) };
        if let Some(culprits) = culprits {
            let cause = self.because_of(&culprits);
            self.records[index.get()].culprits = Some(culprits);
            // The node of a group fails with its members. The members were skipped if a requirement of the
            // node failed.
            let fails = resource.node_of.is_some_and(|group| self.progress.has_failed(group));
            return (!fails).then_some(cause);
        }
        self.notice_stop();
        let id = |culprit: ResourceIndex| self.run.catalog.resource(culprit).id.clone();
        let ended = self.progress.ended(index);
        if let (None, Some(EndedGroup::Run { culprit })) = (&self.stopped, ended) {
            self.stopped = Some(StopCause::Failed { culprit: id(culprit) });
        }
        if let Some(by) = self.stopped.clone() {
            return Some(SkipCause::Stopped { by });
        }
        if let Some(EndedGroup::Run { culprit } | EndedGroup::Group { culprit }) = ended {
            // The rest of the run continues, except for the dependants of this resource.
            self.records[index.get()].culprits = Some(Rc::from([culprit]));
            return Some(SkipCause::ManifestEnded { culprit: id(culprit) });
        }
        None
    }

    /// Returns the skip cause for culprits: failures if there are any, else resources in noop.
    fn because_of(&self, culprits: &[ResourceIndex]) -> SkipCause {
        let id = |culprit: &ResourceIndex| self.run.catalog.resource(*culprit).id.clone();
        // A resource that failed does not count as changed.
        let (noop, failed): (Vec<_>, Vec<_>) =
            culprits.iter().partition(|culprit| self.records[culprit.get()].has_changed);
        if failed.is_empty() {
            SkipCause::DependsOnNoop { noop: noop.into_iter().map(id).collect() }
        } else {
            SkipCause::DependencyFailed { culprits: failed.into_iter().map(id).collect() }
        }
    }

    /// Returns the culprits behind the dependencies of a resource. The list of a single dependency is shared
    /// and not copied, so that a long chain behind one failure costs nothing.
    fn culprits_before(&self, index: ResourceIndex) -> Option<Rc<[ResourceIndex]>> {
        let mut lists =
            self.graph.dependencies(index).filter_map(|on| self.records[on.get()].culprits.as_ref());
        let first = lists.next()?;
        let mut all: Vec<ResourceIndex> = Vec::new();
        for list in lists.filter(|list| !Rc::ptr_eq(list, first)) {
            all.extend(list.iter());
        }
        if all.is_empty() {
            return Some(Rc::clone(first));
        }
        all.extend(first.iter());
        all.sort_unstable();
        all.dedup();
        Some(all.into())
    }
}
