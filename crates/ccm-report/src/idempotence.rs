//! What a second run of the same manifest changed again.

use ccm_model::{Event, Outcome, Reason, ResourceId};

/// A resource that a second run changed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedAgain {
    /// Which one.
    pub id: ResourceId,
    /// The rule that led to that.
    pub reason: Option<Reason>,
    /// The resources whose change triggered it.
    pub triggered_by: Vec<ResourceId>,
    /// What the second run had to say of it.
    pub warnings: Vec<String>,
}

/// Listens to a second run and remembers what it changed.
#[derive(Debug, Default)]
pub struct Idempotence {
    again: Vec<ChangedAgain>,
}

impl Idempotence {
    /// Takes note of an event.
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

    /// What was changed again, in the order of the run.
    pub fn changed_again(&self) -> &[ChangedAgain] {
        &self.again
    }
}

/// Tells whether an outcome is a change. What is in noop by itself would change again each time, and was not changed.
pub(crate) fn changed_again(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Changed | Outcome::Refreshed)
}
