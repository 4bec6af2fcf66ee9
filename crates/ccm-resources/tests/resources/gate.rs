//! A gate that refuses commands of one role, and runs behind it.

use std::cell::RefCell;

use ccm_engine::{ChangeRequest, CommandRequest, DynGate, Gate, Verdict};
use ccm_host::{CommandOrigin, Host, Role};
use ccm_model::{Resource, Transaction};
use ccm_resources::types;

use crate::run::{Manner, run_gated};

/// Refuses commands of one role, and remembers what it was asked.
pub(crate) struct RoleGate {
    pub role: Role,
    pub verdict: Verdict,
    pub asked: RefCell<Vec<String>>,
}

impl RoleGate {
    pub(crate) fn new(role: Role, verdict: Verdict) -> Self {
        Self { role, verdict, asked: RefCell::default() }
    }

    pub(crate) fn denying(role: Role) -> Self {
        Self::new(role, Verdict::Deny { reason: "rule 1".to_owned(), hints: Vec::new() })
    }

    /// Applies resources.
    pub(crate) fn run(&self, resources: Vec<Resource>, noop: bool, host: Host<'_>) -> Vec<Transaction> {
        run_behind(self, resources, noop, host)
    }

    /// The questions, each once in a row.
    pub(crate) fn questions(&self) -> Vec<String> {
        let mut questions = self.asked.borrow().clone();
        questions.dedup();
        questions
    }
}

/// Applies resources behind any gate.
pub(crate) fn run_behind(
    gate: &dyn DynGate,
    resources: Vec<Resource>,
    noop: bool,
    host: Host<'_>,
) -> Vec<Transaction> {
    let manner = Manner { noop, ..Manner::default() };
    run_gated(&types(), resources, host, &manner, gate)
}

impl Gate for RoleGate {
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
        let command = request.command;
        let text = match command.origin {
            CommandOrigin::Argv => format!("argv {}", command.program.display()),
            CommandOrigin::Shell => format!("shell `{}`", command.shell_text().unwrap_or_default()),
            CommandOrigin::Ccm => format!("ccm {}", command.program.display()),
        };
        self.asked.borrow_mut().push(format!("{:?}: {text}", command.role));
        if command.role == self.role { self.verdict.clone() } else { Verdict::Allow }
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        self.asked.borrow_mut().push(format!("change: {}", request.change.reason));
        Verdict::Allow
    }
}
