//! The gate of sessions that only read.

use ccm_host::CommandOrigin;
use ccm_runtime::{ChangeRequest, CommandRequest, Gate, Local, Verdict};

/// Gate that starts no command of a manifest and allows no change. A caller who may only read could otherwise write a
/// manifest, and run its guards by a noop.
pub(crate) struct ReadGate;

impl Gate for ReadGate {
    fn before_command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Local<'a, Verdict> {
        // Noop asks about the commands of a change as well, and starts none of them.
        let is_only_planned = request.noop && request.change.is_some();
        let verdict = match request.command.origin {
            CommandOrigin::Ccm => Verdict::Allow,
            _ if is_only_planned => Verdict::Allow,
            CommandOrigin::Argv | CommandOrigin::Shell => Verdict::Wait {
                reason: "tools run no command of a manifest".to_owned(),
                hints: vec!["let an operator run `ccm apply --noop`".to_owned()],
                intent: None,
            },
        };
        Box::pin(std::future::ready(verdict))
    }

    fn before_change<'a>(&'a self, request: &'a ChangeRequest<'a>) -> Local<'a, Verdict> {
        let denial =
            || Verdict::Deny { reason: "tools that read change nothing".to_owned(), hints: Vec::new() };
        let verdict = if request.noop { Verdict::Allow } else { denial() };
        Box::pin(std::future::ready(verdict))
    }
}
