//! Questions of the policy about changes of a plan, which are left to the approval of the plan.

use std::cell::Cell;

use ccm_engine::Verdict as GateVerdict;

/// Questions of the policy about the current resource of a run in noop that a plan is made of.
#[derive(Debug, Default)]
pub struct PlannedQuestions(Cell<AskedAbout>);

/// Questions of the policy about one resource, in short.
#[derive(Clone, Copy, Debug, Default)]
pub struct AskedAbout {
    /// Something needs an approval.
    pub is_asked: bool,
    /// A command that reads the state needs an approval, and was not run.
    pub is_unread: bool,
}

impl PlannedQuestions {
    /// Takes what was asked about the current resource.
    pub fn take(&self) -> AskedAbout {
        self.0.take()
    }

    /// Records a question. Returns the answer to one about a change, which noop does not make.
    pub(super) fn answer(&self, is_read: bool) -> Option<GateVerdict> {
        let AskedAbout { is_unread, .. } = self.0.get();
        self.0.set(AskedAbout { is_asked: true, is_unread: is_unread || is_read });
        (!is_read).then_some(GateVerdict::Allow)
    }
}
