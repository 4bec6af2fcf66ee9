//! The gate of sessions that only read.

use ccm_host::CommandOrigin;
use ccm_runtime::{ChangeRequest, CommandRequest, Gate, Verdict};

/// Gate that starts no command of a manifest and allows no change. A caller who may only read could otherwise write a
/// manifest, and run its guards by a noop.
pub(crate) struct ReadGate;

impl Gate for ReadGate {
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
        // Noop asks about the commands of a change as well, and starts none of them.
        let is_only_planned = request.noop && request.change.is_some();
        match request.command.origin {
            CommandOrigin::Ccm => Verdict::Allow,
            _ if is_only_planned => Verdict::Allow,
            CommandOrigin::Argv | CommandOrigin::Shell => Verdict::Wait {
                reason: "tools run no command of a manifest".to_owned(),
                hints: vec!["let an operator run `ccm apply --noop`".to_owned()],
                intent: None,
            },
        }
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        if request.noop {
            return Verdict::Allow;
        }
        Verdict::Deny { reason: "tools that read change nothing".to_owned(), hints: Vec::new() }
    }
}
