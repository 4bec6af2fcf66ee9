//! The node of a group, whose step comes after those of all members.

use ccm_model::{Action, Control, Event, Failure, GroupIndex, Outcome, ResourceIndex, SkipCause, Verb};
use ccm_properties::HEALTH_CHECKS;

use super::{Walk, output_of};
use crate::contract::reason;
use crate::harness::handle_node;
use crate::late::Resolved;
use crate::step::{NodeBinder, ResourceStep, StepHost as _, StepResult};

impl Walk<'_> {
    /// Returns the outcome of the node of a group with a late `control`. `None` if the resource is managed.
    fn late_control(&self, index: ResourceIndex) -> Option<Outcome> {
        let resource = self.run.catalog.resource(index);
        if resource.control != Control::Late {
            return None;
        }
        match self.run.late.resolve(index, resource, self) {
            Ok(Resolved::NotManaged { reason }) => {
                Some(Outcome::Skipped { cause: SkipCause::NotManaged { reason } })
            }
            Ok(_) => None,
            Err(failure) if self.is_not_known(index, &failure) => None,
            Err(failure) => Some(Outcome::Failed(Box::new(failure))),
        }
    }

    /// Returns `true` if, in noop, an earlier change might prevent the failure in a run.
    fn is_not_known(&self, index: ResourceIndex, failure: &Failure) -> bool {
        let missing = failure.missing.as_deref().filter(|_| self.groups.policy(index).noop);
        missing.is_some_and(|missing| self.would_change_before(index, missing).is_some())
    }

    /// Returns the outcome of the node of a group after the steps of all members.
    pub(super) fn end_of_group(&self, index: ResourceIndex, group: GroupIndex) -> (Outcome, StepResult) {
        if !self.progress.has_failed(group)
            && let Some(outcome) = self.late_control(index)
        {
            return (outcome, StepResult::default());
        }
        let (mut outcome, rule) = self.progress.outcome(group);
        if let Outcome::Failed(failure) = &mut outcome {
            let span = self.run.catalog.resource(index).span;
            failure.location = self.run.late.location(span).map(Box::new);
        }
        let action = outcome.is_change().then(|| Action::new(Verb::Apply));
        (outcome, StepResult { reason: rule.as_ref().map(reason), action, ..StepResult::default() })
    }

    /// Runs the health checks of the node of a group.
    pub(super) async fn check_node(
        &self,
        index: ResourceIndex,
        outcome: Outcome,
        result: StepResult,
        on_event: &mut dyn FnMut(Event),
    ) -> (Outcome, StepResult) {
        let resource = self.run.catalog.resource(index);
        if resource.properties.get(HEALTH_CHECKS).is_none() {
            return (outcome, result);
        }
        let step = ResourceStep::new(self, index, &NodeBinder, self.groups.policy(index), None);
        handle_node(&step, (outcome, result), &mut output_of(&resource.id, on_event)).await
    }
}
