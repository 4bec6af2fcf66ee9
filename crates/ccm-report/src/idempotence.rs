//! Changes of a second run of the same manifest.

use ccm_model::{Event, Outcome, Reason, ResourceId};

/// A resource that a second run changed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedAgain {
    /// Name of the resource.
    pub id: ResourceId,
    /// Rule that led to the change.
    pub reason: Option<Reason>,
    /// Resources whose change triggered this one.
    pub triggered_by: Vec<ResourceId>,
    /// Warnings of the second run.
    pub warnings: Vec<String>,
}

/// Listener that collects the changes of a second run.
#[derive(Debug, Default)]
pub struct Idempotence {
    again: Vec<ChangedAgain>,
}

impl Idempotence {
    /// Handles an event.
    pub fn accept(&mut self, event: &Event) {
        if let Event::ResourceFinished(transaction) = event
            && changed_again(&transaction.outcome)
        {
            self.again.push(ChangedAgain {
                id: transaction.id.clone(),
                reason: transaction.reason.clone(),
                triggered_by: transaction.triggered_by.clone(),
                warnings: transaction.warnings.clone(),
            });
        }
    }

    /// Returns the resources that were changed again, in the order of the run.
    pub fn changed_again(&self) -> &[ChangedAgain] {
        &self.again
    }
}

/// Returns `true` if a resource was changed or refreshed. A resource in noop never was.
pub(crate) fn changed_again(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Changed | Outcome::Refreshed)
}
