//! Witness of decisions: sees from which state each resource is decided, before anything is changed.

use ccm_model::{Action, Failure, Reason, ResourceIndex};

use crate::bound_resource::BoundResource;
use crate::contract::{Decision, Undescribed};
use crate::step::ResourceStep;

/// Watches the decisions of a run, such as to write a plan of them, or to hold a run to a plan.
///
/// The witness is called when the state of a resource was read and decided on, before the gate is asked and before
/// anything is changed. A resource whose state can't be read is not decided.
pub trait DecisionWitness {
    /// Takes a decision. An error is the failure of the resource, which is then not changed.
    fn observe(&self, index: ResourceIndex, decided: &Decided<'_>) -> Result<(), Failure>;
}

/// Decision on a resource, with the state that it was made from. Nothing of it is redacted.
#[derive(Debug)]
pub struct Decided<'a> {
    /// The state as bytes, which differ if anything in the state differs that decides on the change.
    pub state: Undescribed,
    /// The rule that applied.
    pub reason: &'a Reason,
    /// The change; `None` if the state is kept or allows no decision.
    pub change: Option<DecidedChange<'a>>,
}

/// Change that was decided on. Nothing of it is redacted.
#[derive(Clone, Copy, Debug)]
pub struct DecidedChange<'a> {
    /// The action.
    pub action: &'a Action,
    /// Change of content as a unified diff, if the type has one.
    pub diff: Option<&'a str>,
}

impl<'a> Decided<'a> {
    /// Builds what a witness sees of a decision.
    fn of(bound: &dyn BoundResource, decision: &'a Decision) -> Self {
        let (reason, change) = match decision {
            Decision::Keep { reason } | Decision::Fail { reason, .. } => (reason, None),
            Decision::Change { reason, action, diff } => {
                (reason, Some(DecidedChange { action, diff: diff.as_deref() }))
            }
        };
        Self { state: bound.state_bytes(), reason, change }
    }
}

impl ResourceStep<'_> {
    /// Shows a decision to the witness of the run, if it has one.
    pub(crate) fn witness(&self, bound: &dyn BoundResource, decision: &Decision) -> Result<(), Failure> {
        match self.host.run().witness {
            Some(witness) => witness.observe(self.index, &Decided::of(bound, decision)),
            None => Ok(()),
        }
    }

    /// Shows the change of a resource that is made together with this one to the witness. Returns `true` if the change may be
    /// made.
    pub(crate) fn witness_with(
        &self,
        index: ResourceIndex,
        bound: &dyn BoundResource,
        reason: &Reason,
        change: DecidedChange<'_>,
    ) -> bool {
        let decided = |state| Decided { state, reason, change: Some(change) };
        let witness = self.host.run().witness;
        witness.is_none_or(|witness| witness.observe(index, &decided(bound.state_bytes())).is_ok())
    }
}
